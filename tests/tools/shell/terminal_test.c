/*
 * terminal_test.c -- kv-shell at a terminal: completion by Tab, the history that is kept, and what
 * import asks.
 *
 * The shell runs on a pseudo terminal, in a new directory that is its home as well.  Each step
 * types letters and waits for what they must bring about, however long that takes.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tests/tools/shell/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HISTORY_BYTES = 1 << 16 };

static char directory[] = "/tmp/shell_terminal_test.XXXXXX";

static void
start(struct shell_process *shell)
{
    char *arguments[] = {"kv-shell", "--no-took", "db", NULL};

    shell_process_start(shell, 200, arguments);
    shell_process_expect(shell, "petal:001");
}

static void
stop(struct shell_process *shell)
{
    shell_process_type(shell, "exit\n");
    assert_int_equal(shell_process_wait(shell), 0);
    shell_process_free(shell);
}

static char *
read_history(void)
{
    char *text = test_allocate(HISTORY_BYTES);
    FILE *file = fopen(".local/state/petal/history", "r");
    size_t size;

    assert_non_null(file);
    size = fread(text, 1, HISTORY_BYTES - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

/* ---- Tests
 * ------------------------------------------------------------------------------------------ */

TEST(tab_completes)
{
    static const struct {
        const char *letters, *words;
    } steps[] = {
        {"create 'target', {NAME => 'only', VERSIONS => 2}\n", "Created table target"},
        {"put 'target', 'r1', 'on\tq', 'v1'\n", "petal:003"},
        {"put 'ta\t, 'r2', 'on\tq', 'v2'\n", "petal:004"},
        {"get 'ta\t, 'r2', COL\t'on\tq'\n", "value=v2"},
        {"cou\t'ta\t\n", "2 row(s)"},
        {"sc\t\t, LIM\t1\n", "1 row(s)"},
        {"scan 'target',\nLIM\t1\n", "1 row(s)"},
        {"explain g\t'ta\t, 'r1'\n", "memtables: 1 considered"},
        {"time sc\t'ta\t, LIM\t1\n", "Time: blocks"},
        {"time expl\tg\t'ta\t, 'r1'\n", "memtables: 1 considered"},
        {"adv\t'ta\t, {SAM\t1}\n", "gets, of rows at random"},
        {"sta\t\t", "status"},
        {"\025stats 'ta\t\n", "bytes in memtables"},
        {"ver\t\t", "version"},
        {"\025veri\t'ta\t\n", "are sound"},
        {"alter 'ta\t, {NAME => 'on\t, BLOOMF\t => 'ROWC\t, BLOOMFILTER_\t'RI\t}\n", "Done."},
        {"describe 'target'\n", "=> 'ROWCOL', IN_MEMORY"},
        {"describe 'target'\n", "BLOOMFILTER_KIND => 'RIBBON'}"},
        {"create 'x', {KEEP_DELETED_CELLS => '\t", "TRUE"},
        {"\025flush 'nosuch'\n", "ERROR"},
        {"dis\t\t", "disable_all"},
        {"\025t = get_table 'target'; t.cou\t\n", "2 row(s)"},
        {"t.get 'r2', 'on\tq'\n", "value=v2"},
        {"t.get_\t\t", "get_all_columns"},
        {"\025scan 'target', {FILTER => \"Prefix\t'r2')\"}\n", "1 row(s)"},
        {"scan 'target', {FILTER => \"PrefixFilter('r') AND Row\t=, 'binary:r1')\"}\n", "1 row(s)"},
        {"create_namespace 'apart'\n", "petal:"},
        {"describe_namespace 'ap\t\n", "NAME => 'apart'"},
        {"help 'who\t\n", "the user and groups"},
        {"export 'ta\t, 'su\tout.csv'\n", "cells exported"},
        {"import 'target', 'sub/o\t, FORM\t'cs\t, ON_E\t'sk\t\n", "2 cells imported"},
        {"snapshot 'target', 'kept'\n", "petal:"},
        {"clone_snapshot 'ke\t, 'other'\n", "petal:"},
        {"count 'oth\t, RA\ttr\t\n", "2 row(s)"},
        {"put 'other', 'caf\303\251', 'only:q', '\303\274'\n", "petal:"},
        {"get 'other', \"caf\\xc3\\xa9\"\n", "value=\\xC3\\xBC"},
    };
    struct shell_process shell;

    start(&shell);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        shell_process_type(&shell, steps[i].letters);
        shell_process_expect(&shell, steps[i].words);
        if (strchr(steps[i].letters, '\n') != NULL)
            shell_process_expect(&shell, "> ");
    }
    stop(&shell);
}

/* What may have been meant is asked where people read it. */
TEST(near_names_are_suggested)
{
    static const struct {
        const char *typed, *words;
    } steps[] = {
        {"create 'users', 'info'; create_namespace 'shop'\n", "petal:002"},
        {"scna 'users'\n", "undefined method 'scna'; did you mean 'scan'?"},
        {"scan 'usres'\n", "ERROR: Unknown table usres! Did you mean 'users'?"},
        {"drop 'user'\n", "Did you mean 'users'?"},
        {"put 'users', 'r', 'inof:a', 'v'\n",
         "Column family inof does not exist in table users; did you mean 'info'?"},
        {"get 'users', 'r', COLUMN => 'infos:a'\n", "did you mean 'info'?"},
        {"scan 'users', {VERSION => 3}\n",
         "uninitialized constant VERSION; did you mean VERSIONS?"},
        {"create 'x', {NAME => 'f', 'VERSION' => 3}\n",
         "for column family f: VERSION; did you mean VERSIONS?"},
        {"scan 'users', FILTER => \"PrefixFiltr('r')\"\n",
         "Filter Name PrefixFiltr not supported; did you mean 'PrefixFilter'?"},
        {"create 'shp:t', 'f'\n", "Unknown namespace shp! Did you mean 'shop'?"},
        {"describe_namespace 'shopp'\n", "Unknown namespace shopp! Did you mean 'shop'?"},
        {"[1].frist\n", "undefined method 'frist' for Array; did you mean 'first'?"},
        {"help 'sacn'\n", "did you mean 'scan'?"},
    };
    struct shell_process shell;

    start(&shell);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        shell_process_type(&shell, steps[i].typed);
        shell_process_expect(&shell, steps[i].words);
        shell_process_expect(&shell, "> ");
    }
    /* Neither what is far nor what is as it should be. */
    shell_process_type(&shell, "scan 'orders'; xyz 5; count 'users'\n");
    shell_process_expect(&shell, "Unknown table orders!\r\n");
    shell_process_expect(&shell, "undefined method 'xyz')");
    stop(&shell);
}

/* Help's lines end at words, at the terminal's width. */
TEST(help_heeds_the_width)
{
    char *arguments[] = {"kv-shell", "--no-took", "db", NULL};
    struct shell_process shell;

    shell_process_start(&shell, 50, arguments);
    shell_process_expect(&shell, "petal:001");
    shell_process_type(&shell, "help 'compact'\n");
    shell_process_expect(&shell, "compact 't' [, 'f']\r\n"
                                 "      merge all store files of each region into\r\n"
                                 "      one and wait; the same as major_compact.");
    shell_process_type(&shell, "help 'times'\n");
    shell_process_expect(&shell,
                         "Timestamps are milliseconds since 1970 and are\r\nshown as dates");
    shell_process_type(&shell, "help 'get_table'\n");
    shell_process_expect(&shell, "  t.scan LIMIT => 10");
    stop(&shell);
}

/* What it says, and completes, before there is anything; the directory is made by create. */
TEST(a_conversation_begins_without_a_database)
{
    char *arguments[] = {"kv-shell", "--no-took", "new", NULL};
    struct shell_process shell;

    shell_process_start(&shell, 200, arguments);
    shell_process_expect(&shell,
                         "There is no database in new yet: create 'table', 'family' makes it.");
    shell_process_expect(&shell, "petal:001");
    shell_process_type(&shell, "scan 't\t', {COLUMN => 'f\t'}\n");
    shell_process_expect(&shell, "ERROR: there is no database in new: create 'table', 'family'");
    shell_process_expect(&shell, "petal:002");
    assert_int_equal(access("new", F_OK), -1);
    shell_process_type(&shell, "create 'table', 'family'; lis\t\n");
    shell_process_expect(&shell, "Created table table");
    shell_process_expect(&shell, "1 row(s)");
    shell_process_expect(&shell, "petal:003");
    stop(&shell);
}

TEST(lines_are_kept)
{
    struct shell_process shell;
    struct stat facts;
    char *history;

    start(&shell);
    shell_process_type(&shell, "count 'target'\n");
    shell_process_expect(&shell, "2 row(s)");
    /* Ends without a word: what was typed is there nevertheless. */
    assert_int_equal(kill(shell.process, SIGKILL), 0);
    assert_true(WIFSIGNALED(shell_process_wait(&shell)));
    shell_process_free(&shell);

    assert_int_equal(stat(".local/state/petal/history", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    start(&shell);
    shell_process_type(&shell, "\020\n"); /* the line before */
    shell_process_expect(&shell, "2 row(s)");
    stop(&shell);
    history = read_history();
    assert_non_null(strstr(history, "count 'target'\ncount 'target'\nexit\n"));
    free(history);
}

TEST(old_lines_go)
{
    struct shell_process shell;
    char *history;

    assert_int_equal(setenv("HISTSIZE", "2", 1), 0);
    start(&shell);
    history = read_history();
    assert_string_equal(history, "count 'target'\nexit\n");
    free(history);
    stop(&shell);
    assert_int_equal(setenv("HISTSIZE", "0", 1), 0);
    start(&shell);
    stop(&shell);
    history = read_history();
    assert_string_equal(history, "count 'target'\nexit\nexit\n");
    free(history);
    assert_int_equal(unsetenv("HISTSIZE"), 0);
}

TEST(a_pipe_leaves_no_history)
{
    char command[4200];
    char *before = read_history(), *after;

    (void)snprintf(command, sizeof(command), "echo list | '%s' db >/dev/null",
                   shell_process_path());
    assert_int_equal(system(command), 0);
    after = read_history();
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* The rest of the block would be run without its transaction. */
TEST(a_mistake_in_a_paste_ends_it)
{
    struct shell_process shell;

    start(&shell);
    shell_process_type(&shell, "create 'pasted', 'f'\n");
    shell_process_expect(&shell, "petal:002");
    shell_process_type(&shell, "transaction do\nput 'pasted', 'r', 'f:a', '1')\n"
                               "put 'pasted', 's', 'f:a', '2'\nend\n");
    shell_process_expect(&shell, "what follows is not run");
    shell_process_expect(&shell, "> ");
    shell_process_type(&shell, "count 'pasted'\n");
    shell_process_expect(&shell, "0 row(s)");
    stop(&shell);
}

/* A csv whose names do not tell the row: the subcommand asks, until the answer fits, and so does
 * the command of a conversation; no answer imports nothing. */
TEST(import_asks_for_the_row)
{
    char *subcommand[] = {"kv-shell", "--no-took",  "asked",    "import",
                          "people",   "people.csv", "--create", NULL};
    struct shell_process shell;
    FILE *file = fopen("people.csv", "w");

    assert_non_null(file);
    assert_true(fputs("name,age,city\nada,36,London\n", file) >= 0 && fclose(file) == 0);

    shell_process_start(&shell, 200, subcommand);
    shell_process_expect(&shell, "2  age");
    shell_process_expect(&shell, "row key? ");
    shell_process_type(&shell, "\n");
    shell_process_expect(&shell, "No row key was chosen, so nothing is imported");
    assert_int_equal(WEXITSTATUS(shell_process_wait(&shell)), 2);
    shell_process_free(&shell);

    shell_process_start(&shell, 200, subcommand);
    shell_process_expect(&shell, "row key? ");
    shell_process_type(&shell, "nosuch\n");
    shell_process_expect(&shell, "There is no column nosuch");
    shell_process_expect(&shell, "row key? ");
    shell_process_type(&shell, "city, 1\n");
    shell_process_expect(&shell, "1 record and 1 cell imported");
    assert_int_equal(shell_process_wait(&shell), 0);
    shell_process_free(&shell);

    shell_process_start(&shell, 200, subcommand);
    shell_process_expect(&shell, "row key? ");
    shell_process_interrupt(&shell);
    shell_process_expect(&shell, "Interrupted");
    assert_int_equal(WEXITSTATUS(shell_process_wait(&shell)), 130);
    shell_process_free(&shell);

    start(&shell);
    shell_process_type(&shell, "import 'people', 'people.csv', CREATE => true\n");
    shell_process_expect(&shell, "row key? ");
    shell_process_type(&shell, "#\n");
    shell_process_expect(&shell, "1 record and 3 cells imported");
    shell_process_type(&shell, "scan 'people', COLUMNS => 'cf:age'\n");
    shell_process_expect(&shell, "0000000001");
    stop(&shell);
}

static int
enter_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL || chdir(directory) != 0 || mkdir("sub", 0777) != 0)
        return -1;
    (void)unsetenv("XDG_STATE_HOME");
    (void)unsetenv("HISTSIZE");
    return setenv("HOME", directory, 1) + setenv("TERM", "vt100", 1);
}

static int
remove_directory(void **state)
{
    char command[64];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return chdir("/") + system(command);
}

TEST_GROUP(enter_directory, remove_directory);
