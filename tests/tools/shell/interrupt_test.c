/*
 * interrupt_test.c -- Ctrl-C, and the line that says how far something has come.
 *
 * Nothing depends on time: what prints is caught at work since it prints more than anybody has
 * read, what reads since it waits for more to come. Where neither is so, the signal is there when
 * the command begins, in this process.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tests/tools/shell/process.h"
#include "tools/shell/commands.h"
#include "tools/shell/ruby/ruby.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/text/progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 40000 };

static char *directory;

/* ---- A shell at work
 * ------------------------------------------------------------------------------- */

static void
start_terminal(struct shell_process *shell)
{
    char *arguments[] = {"kv-shell", "--no-took", "db", NULL};

    shell_process_start(shell, 80, arguments);
    shell_process_expect(shell, "petal:001:0>");
}

static void
start_pipe(struct shell_process *shell, char *commands)
{
    char *arguments[] = {"kv-shell", "--no-took", "db", "-e", commands, NULL};

    shell_process_pipe(shell, arguments);
}

static void
end_terminal(struct shell_process *shell)
{
    shell_process_type(shell, "exit\r");
    assert_int_equal(shell_process_wait(shell), 0);
    shell_process_free(shell);
}

/* What the commands print, to be freed. */
static char *
run(char *commands)
{
    struct shell_process shell;

    start_pipe(&shell, commands);
    assert_int_equal(shell_process_wait(&shell), 0);
    return shell.text;
}

/* A directory with a database, whose table t has so many rows that a scan or count of it prints far
 * more than a terminal holds. */
static int
make_table(void **state)
{
    FILE *file;

    (void)state;
    directory = test_directory_new();
    if (chdir(directory) != 0 || setenv("TERM", "dumb", 1) != 0 || unsetenv("HOME") != 0 ||
        unsetenv("XDG_STATE_HOME") != 0 || (file = fopen("rows.csv", "w")) == NULL)
        return -1;
    (void)fputs("row,f:a\n", file);
    for (int i = 0; i < ROWS; i++)
        (void)fprintf(file, "r%05d,v\n", i);
    if (fclose(file) != 0 || mkfifo("pipe", 0600) != 0)
        return -1;
    free(run("create 't', 'f'; import 't', 'rows.csv', FORMAT => 'csv'; flush 't'; put 't', 's', "
             "'f:a', 'v'; flush 't'"));
    return 0;
}

static int
remove_table(void **state)
{
    (void)state;
    if (chdir("/") != 0)
        return -1;
    test_directory_free(directory);
    return 0;
}

TEST(test_a_scan_stops_and_the_shell_goes_on)
{
    struct shell_process shell;
    int rows = 0, last = 0, again = 0;
    char *said, shown[32];

    start_terminal(&shell);
    shell_process_type(&shell, "scan 't'; list\r");
    shell_process_expect(&shell, " r00001 "); /* of one row the words are others */
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "Interrupted: ");
    /* What was left of the line is not run. */
    shell_process_expect(&shell, "petal:002:0>");
    assert_null(strstr(shell.text, " row(s)"));
    said = strstr(shell.text, "Interrupted: ");
    assert_int_equal(sscanf(said,
                            "Interrupted: %d rows were shown, the last one is 'r%d'; STARTROW => "
                            "'r%d' goes on with it",
                            &rows, &last, &again),
                     3);
    assert_true(rows >= 2 && last == rows - 1 && again == last);
    (void)snprintf(shown, sizeof(shown), " r%05d ", last);
    assert_non_null(strstr(shell.text, shown));
    (void)snprintf(shown, sizeof(shown), " r%05d ", last + 1);
    assert_null(strstr(shell.text, shown));
    assert_null(strstr(shell.text, "TABLE"));
    shell_process_type(&shell, "get 't', 'r00007'\r");
    shell_process_expect(&shell, "1 row(s)");
    end_terminal(&shell);
}

TEST(test_a_transaction_that_stops_writes_nothing)
{
    struct shell_process shell;

    start_terminal(&shell);
    shell_process_type(&shell, "transaction { put 't', 'new', 'f:a', 'v'; scan 't' }; list\r");
    shell_process_expect(&shell, " new ");
    shell_process_expect(&shell, " r00001 ");
    shell_process_interrupt(&shell);
    shell_process_expect(&shell,
                         "Interrupted: "); /* Ctrl-C drops what nobody has read: line ends */
    shell_process_expect(&shell, "nothing of it is stored");
    shell_process_expect(&shell, "petal:002:0>");
    assert_null(strstr(shell.text, "TABLE"));
    assert_null(strstr(shell.text, "ERROR"));
    shell_process_type(&shell, "get 't', 'new'\r");
    shell_process_expect(&shell, "0 row(s)");
    end_terminal(&shell);
}

/* What a pipe is told while nobody reads it is less than it prints, so a count in it is at work. */
TEST(test_a_count_stops_and_says_how_far_it_came)
{
    struct shell_process shell;
    int rows = 0, last = 0, status;
    char *said;

    start_pipe(&shell, "count 't', INTERVAL => 1; list");
    shell_process_expect(&shell, "Current count: 9, row: r00008");
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "\nInterrupted: ");
    status = shell_process_wait(&shell);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    said = strstr(shell.text, "Interrupted: ");
    assert_int_equal(
        sscanf(said, "Interrupted: %d rows were counted, the last one is 'r%d'", &rows, &last), 2);
    assert_in_range(rows, 9, ROWS);
    assert_int_equal(last, rows - 1);
    assert_non_null(strstr(said, "\\x00\" goes on behind it\n"));
    assert_null(strstr(shell.text, "ERROR"));
    assert_null(strstr(shell.text, "TABLE"));
    shell_process_free(&shell);
}

/* The rows that were counted, and those after the place that is named, are all. */
TEST(test_a_count_goes_on_where_it_stopped)
{
    const char *const places[] = {"'t', STARTROW => \"r00123\\x00\"",
                                  "'t', STOPROW => \"r00123\\x00\""};
    char command[64], *counted;
    int rows[2];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(command, sizeof(command), "count %s, INTERVAL => 1000000", places[i]);
        counted = run(command);
        assert_int_equal(sscanf(counted, "%d row(s)", &rows[i]), 1);
        free(counted);
    }
    assert_int_equal(rows[1], 124);
    assert_int_equal(rows[0] + rows[1], ROWS + 1);
}

/* At a terminal one line changes, where a pipe is told of each interval; a count that takes no time
 * has none. */
TEST(test_a_count_is_one_line_at_a_terminal)
{
    struct shell_process shell;

    start_terminal(&shell);
    shell_process_type(&shell, "count 't', INTERVAL => 10\r");
    shell_process_expect(&shell, "40001 row(s)");
    assert_null(strstr(shell.text, "Current count"));
    end_terminal(&shell);
}

/* Nobody is told of rows on the way, so threads share the regions. */
TEST(test_regions_are_counted_side_by_side)
{
    struct shell_process shell;

    free(run("create 'split', 'f', SPLITS => ['r10000', 'r20000', 'r20001', 'r3']; import 'split', "
             "'rows.csv', FORMAT => 'csv'"));
    start_terminal(&shell);
    shell_process_type(&shell, "count 'split'\r");
    shell_process_expect(&shell, "40000 row(s)");
    shell_process_type(&shell, "count 'split', STARTROW => 'r00100', STOPROW => 'r25'\r");
    shell_process_expect(&shell, "24900 row(s)");
    shell_process_type(&shell, "count 'split', FILTER => \"PageFilter(15000)\"\r");
    shell_process_expect(&shell, "15000 row(s)");
    assert_null(strstr(shell.text, "Current count"));
    end_terminal(&shell);
}

/* No command is in the loops: what prints, sleeps or takes memory looks for a signal. */
TEST(test_a_loop_stops)
{
    static const char *const loops[] = {
        "puts 'be' + 'gun'; loop { (1..3).each { |i| puts i } }; list\r",
        "puts 'be' + 'gun'; while true do sleep 0.001 end; list\r",
        "puts 'be' + 'gun'; loop { 'x' * 1000000 }; list\r",
    };
    struct shell_process shell;

    start_terminal(&shell);
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        char prompt[32];

        (void)snprintf(prompt, sizeof(prompt), "petal:%03zu:0>", i + 2);
        shell_process_type(&shell, loops[i]);
        shell_process_expect(&shell, "begun");
        shell_process_interrupt(&shell);
        shell_process_expect(&shell, "Interrupted");
        shell_process_expect(&shell, prompt);
        assert_null(strstr(shell.text, "TABLE"));
    }
    end_terminal(&shell);
}

/* Nothing in the loop looks for a signal: the second one ends the shell. */
TEST(test_a_second_signal_ends_the_shell)
{
    struct shell_process shell;
    int status;

    start_terminal(&shell);
    shell_process_type(&shell, "puts 'be' + 'gun'; while true do end\r");
    shell_process_expect(&shell, "begun");
    status = shell_process_interrupt_to_end(&shell);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    shell_process_free(&shell);
}

TEST(test_the_prompt_begins_anew)
{
    struct shell_process shell;
    size_t typed;

    start_terminal(&shell);
    shell_process_type(&shell, "nonsense");
    shell_process_expect(&shell, "nonsense");
    typed = shell.size;
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "^C");
    shell_process_expect(&shell, "petal:001:0>");
    assert_true(strstr(shell.text + typed, "petal") > strstr(shell.text + typed, "^C"));
    /* An input of several lines goes as a whole. */
    shell_process_type(&shell, "[1,\r");
    shell_process_expect(&shell, "petal:002:1*");
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "petal:002:0>");
    shell_process_type(&shell, "version\r");
    shell_process_expect(&shell, "Petal 0.");
    assert_null(strstr(shell.text, "Error"));
    end_terminal(&shell);
}

TEST(test_a_script_ends)
{
    struct shell_process shell;
    int status;

    start_pipe(&shell, "scan 't'; list\nlist");
    shell_process_expect(&shell, "column=f:a");
    shell_process_interrupt(&shell);
    status = shell_process_wait(&shell);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_non_null(strstr(shell.text, "\nInterrupted: "));
    assert_null(strstr(shell.text, "TABLE"));
    shell_process_free(&shell);
}

/* ---- Import and export
 * ---------------------------------------------------------------------------- */

/* Write so much into the pipe that some blocks of it have been taken when this returns. */
static int
feed_import(const char *head, const char *row)
{
    int file = open("pipe", O_WRONLY);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;

    assert_non_null(stream);
    (void)fputs(head, stream);
    for (int i = 0; i < 3 * ROWS; i++)
        (void)fprintf(stream, row, i);
    assert_int_equal(fflush(stream), 0);
    file = dup(file);
    (void)fclose(stream);
    return file;
}

/* All lines before the one that is named are in the table, and no other. */
static void
import_is_cut(const char *head, const char *row)
{
    struct shell_process shell;
    char *counted, wanted[32];
    int lines = 0, pipe;

    free(run("create 'cut', 'f'"));
    start_terminal(&shell);
    shell_process_type(&shell, "import 'cut', 'pipe', FORMAT => 'csv', THREADS => 2; list\r");
    pipe = feed_import(head, row);
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "Interrupted");
    shell_process_expect(&shell, "The lines before ");
    shell_process_expect(&shell, " are in the table, none from there on: ");
    assert_int_equal(sscanf(strstr(shell.text, "The lines before "), "The lines before %d", &lines),
                     1);
    assert_true(lines >= 2);
    shell_process_expect(&shell, "cells imported");
    shell_process_expect(&shell, "petal:002:0>");
    assert_null(strstr(shell.text, "TABLE"));
    end_terminal(&shell);
    (void)close(pipe);
    counted = run("count 'cut', INTERVAL => 1000000; disable 'cut'; drop 'cut'");
    (void)snprintf(wanted, sizeof(wanted), "%d row(s)\n", lines - 2);
    assert_memory_equal(counted, wanted, strlen(wanted));
    free(counted);
}

TEST(test_an_import_stops)
{
    import_is_cut("row,f:a\n", "r%d,some value\n");
    import_is_cut("row,family,qualifier,value\n", "r%d,f,a,some value\n");
}

/* Whoever feeds it goes on until the line was seen: it comes when some time has passed, at a
 * terminal. */
TEST(test_an_import_shows_how_far_it_came)
{
    struct shell_process shell;
    pid_t feeder;

    free(run("create 'long', 'f'"));
    start_terminal(&shell);
    shell_process_type(&shell, "import 'long', 'pipe', FORMAT => 'csv'\r");
    feeder = fork();
    assert_true(feeder >= 0);
    if (feeder == 0) {
        FILE *stream = fopen("pipe", "w");

        for (int i = 0; stream != NULL && fputs(i == 0 ? "row,f:a\n" : "r1,value\n", stream) >= 0;
             i++)
            ;
        _exit(0);
    }
    shell_process_expect(&shell, "\rimport: ");
    shell_process_expect(&shell, " records, ");
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "\r\x1b[K"); /* wiped away */
    shell_process_expect(&shell, "The lines before ");
    shell_process_expect(&shell, "petal:002:0>");
    (void)kill(feeder, SIGKILL);
    (void)waitpid(feeder, NULL, 0);
    end_terminal(&shell);
}

/* Told to standard error, without a terminal: the status says it. */
TEST(test_an_import_from_standard_input_ends)
{
    struct shell_process shell;
    char *arguments[] = {"kv-shell", "--no-took", "db",  "import", "t",
                         "-",        "--format",  "csv", NULL};
    int ends[2], before = dup(STDIN_FILENO), status;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFD, FD_CLOEXEC), 0);
    (void)dup2(ends[0], STDIN_FILENO);
    (void)close(ends[0]);
    shell_process_pipe(&shell, arguments);
    (void)dup2(before, STDIN_FILENO);
    (void)close(before);
    for (int i = 0; i < ROWS; i++)
        assert_true(write(ends[1], i == 0 ? "row,f:a\n" : "r00001,v\n", i == 0 ? 8 : 9) > 0);
    shell_process_interrupt(&shell);
    status = shell_process_wait(&shell);
    (void)close(ends[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    shell_process_free(&shell);
}

TEST(test_an_export_stops)
{
    struct shell_process shell;

    start_terminal(&shell);
    shell_process_type(&shell, "export 't', '-'; list\r");
    shell_process_expect(&shell, "r00009,f,a");
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "kv-shell: export stopped after ");
    shell_process_expect(&shell, " cells: standard output ends there");
    shell_process_expect(&shell, "Interrupted");
    shell_process_expect(&shell, "petal:002:0>");
    assert_null(strstr(shell.text, "TABLE"));
    end_terminal(&shell);
}

/* ---- Commands that begin with a signal
 * ------------------------------------------------------------- */

/* Run the command in this process; the message that it leaves. */
static void
interrupt_command(const char *name, struct value *arguments, size_t count, struct text *message)
{
    const petal_options options = {.size = sizeof(options)};
    struct session session = {.commands = shell_commands(), .no_times = true};
    FILE *nowhere = fopen("/dev/null", "w");
    struct value value;

    assert_non_null(nowhere);
    output_init(&session.output, nowhere, false);
    assert_int_equal(session_open(&session, "db", &options), SHELL_FINE);
    interrupt_install();
    assert_int_equal(raise(SIGINT), 0);
    assert_int_not_equal(
        command_find(&session, slice_of_string(name))->run(&session, arguments, count, &value),
        SHELL_FINE);
    text_add_slice(message, text_slice(&session.message));
    interrupt_clear();
    interrupt_wait_all();
    (void)signal(SIGINT, SIG_DFL);
    assert_int_equal(session_close(&session), SHELL_FINE);
    (void)fclose(nowhere);
}

TEST(test_a_verification_stops)
{
    struct value table = value_string(slice_of_string("t"));
    struct text message = {0};
    int percent = -1;

    interrupt_command("verify", &table, 1, &message);
    assert_int_equal(sscanf(text_string(&message), "Interrupted at %d %%: sound", &percent), 1);
    assert_in_range(percent, 0, 99);
    text_free(&message);
}

TEST(test_a_count_by_region_stops)
{
    struct value_pair interval = {value_string(slice_of_string("INTERVAL")),
                                  value_integer(1000000)};
    struct value arguments[] = {value_string(slice_of_string("split")),
                                {.kind = VALUE_HASH, .count = 1, .as.pairs = &interval}};
    struct text message = {0};

    interrupt_command("count", arguments, COUNT_OF(arguments), &message);
    assert_string_equal(text_string(&message), "Interrupted before the first row");
    text_free(&message);
}

/* The input's messages, with the signal that comes in its first command. */
static void
interrupt_input(const char *input, struct text *messages)
{
    const petal_options options = {.size = sizeof(options)};
    struct session session = {.commands = shell_commands(), .no_times = true};
    FILE *nowhere = fopen("/dev/null", "w"), *errors = tmpfile();
    struct text text = {0};
    char line[256];

    assert_true(nowhere != NULL && errors != NULL);
    output_init(&session.output, nowhere, false);
    session.output.errors = errors;
    assert_int_equal(session_open(&session, "db", &options), SHELL_FINE);
    ruby_open(&session);
    interrupt_install();
    assert_int_equal(raise(SIGINT), 0);
    text_add_format(&text, "%s\n", input);
    assert_false(ruby_wants_more(&session, text_slice(&text)));
    (void)ruby_run(&session, text_slice(&text), 1);
    ruby_close(&session);
    text_free(&text);
    assert_int_equal(session.exit_status, STATUS_OF_INTERRUPT);
    interrupt_clear();
    (void)signal(SIGINT, SIG_DFL);
    rewind(errors);
    while (fgets(line, sizeof(line), errors) != NULL)
        text_add_string(messages, line);
    assert_int_equal(session_close(&session), SHELL_FINE);
    (void)fclose(nowhere);
    (void)fclose(errors);
}

TEST(test_a_loop_of_writes_stops)
{
    static const char *const inputs[] = {
        "9.times { |i| put 'w', \"r#{i}\", 'f:a', i }",
        "9.times { |i| delete 'w', \"r#{i}\", 'f:a' }",
        "(1..9).each { |i| (1..3).each { |j| incr 'w', \"r#{i}\", \"f:#{j}\" } }",
        "for i in 1..9 do put 'w', \"r#{i}\", 'f:a', i end",
        "while true do put 'w', 'r', 'f:a', 'v' end",
        "loop { get 'w', 'r' }",
        "1.times { get 'w', 'r' }",
        "transaction { put 'w', 'r', 'f:a', 'v' }",
    };

    free(run("create 'w', 'f'"));
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        struct text messages = {0};

        interrupt_input(inputs[i], &messages);
        assert_string_equal(text_string(&messages), "Interrupted\n");
        text_free(&messages);
    }
}

TEST(test_a_compaction_goes_on)
{
    struct value table = value_string(slice_of_string("t"));
    struct text message = {0};

    interrupt_command("major_compact", &table, 1, &message);
    assert_string_equal(text_string(&message),
                        "Interrupted: the compaction goes on in the background");
    text_free(&message);
}

TEST(test_a_file_of_an_export_that_stopped)
{
    struct value arguments[2] = {value_string(slice_of_string("t")),
                                 value_string(slice_of_string("out.csv"))};
    struct text message = {0};
    char *files;

    free(run("export 't', 'out.csv', LIMIT => 1"));
    interrupt_command("export", arguments, 2, &message);
    assert_string_equal(text_string(&message), "Interrupted");
    files = run("import 't', 'out.csv', FORMAT => 'csv'");
    assert_string_equal(files, "1 record and 1 cell imported\n");
    free(files);
    assert_int_equal(system("ls | grep -q part-"), 1 << 8);
    text_free(&message);
}

/* It says how far it came, which is true, and the same command goes on. */
TEST(test_a_deletion_of_many_rows_stops)
{
    struct value_pair prefix = {value_string(slice_of_string("ROWPREFIXFILTER")),
                                value_string(slice_of_string("r"))};
    struct value arguments[2] = {
        value_string(slice_of_string("many")),
        {.kind = VALUE_HASH, .count = 1, .as.pairs = &prefix},
    };
    struct text message = {0};
    char *counted;

    free(run("create 'many', 'f'; import 'many', 'rows.csv'"));
    interrupt_command("deleteall", arguments, 2, &message);
    assert_string_equal(text_string(&message),
                        "Interrupted: 1000 rows are deleted, the others that begin with 'r' are "
                        "not.  The same command goes on with them");
    counted = run("scan 'many', LIMIT => 1; count 'many', INTERVAL => 1000000");
    assert_non_null(strstr(counted, " r01000 column=f:a"));
    assert_non_null(strstr(counted, "\n39000 row(s)\n"));
    free(counted);
    counted = run("deleteall 'many', {ROWPREFIXFILTER => 'r'}; count 'many'");
    assert_string_equal(counted, "39000 row(s) deleted\n0 row(s)\n=> 0\n");
    free(counted);
    text_free(&message);
}

/* ---- Progress
 * --------------------------------------------------------------------------------------- */

/* What the line of a progress looks like to standard error, which is `end`; the other end is
 * `other`. */
static void
progress_to(int end, int other, char *text, size_t size)
{
    struct progress progress;
    int before = dup(STDERR_FILENO);
    ssize_t got;

    assert_true(before >= 0 && dup2(end, STDERR_FILENO) >= 0);
    progress_begin(&progress, "verify", "bytes");
    progress_update(&progress, 1, 4, 17); /* too early */
    progress.drawn -= 1000;
    progress_update(&progress, 1, 4, 17);
    progress_update(&progress, 2, 4, 18); /* too soon after */
    progress_end(&progress);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    /* What a terminal is given comes in pieces, some time. */
    assert_int_equal(write(end, "END", 3), 3);
    for (size_t at = 0; at < 3 || memcmp(text + at - 3, "END", 3) != 0; at += (size_t)got) {
        got = read(other, text + at, size - 1 - at);
        assert_true(got > 0);
        text[at + (size_t)got] = '\0';
    }
    *strstr(text, "END") = '\0';
}

TEST(test_progress_is_drawn_and_wiped_away)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    char text[512];
    int master, slave;

    assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
    progress_to(slave, master, text, sizeof(text));
    assert_string_equal(text,
                        "\rverify [########......................]  25%  17 bytes\x1b[K\r\x1b[K");
    (void)close(master);
    (void)close(slave);
}

TEST(test_progress_is_for_terminals)
{
    char text[512];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    progress_to(ends[1], ends[0], text, sizeof(text));
    assert_string_equal(text, "");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

TEST_GROUP(make_table, remove_table);

int
main(void)
{
    /* As become_shell does, for commands that run in this process. */
    (void)signal(SIGINT, SIG_DFL);
    return test_run();
}
