/*
 * kv-shell.c -- the shell's main program: options, subcommands, and where the commands come from.
 *
 * The exit status is that of the first failure (tools/shell/session/session.h); after a
 * conversation at a terminal, whose mistakes were seen, it is 0 unless closing the database failed.
 */
#include "tools/command/option.h"
#include "tools/shell/commands.h"
#include "tools/shell/files/backup.h"
#include "tools/shell/files/intake.h"
#include "tools/shell/print/width.h"
#include "tools/shell/print/wrap.h"
#include "tools/shell/ruby/ruby.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/terminal/input.h"
#include "tools/shell/text/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *directory;
    const char **texts; /* of -e */
    size_t text_count;
    const char *file; /* of -f */
    petal_options options;
    petal_env env;
    struct log log;
    atomic_uint_least64_t seed; /* with --seed: numbers that repeat */
    bool stop_at_failure, no_times, echo_input, noninteractive, unsafe, debug, help, version;
    enum format_mode format;
    int rest; /* index of the subcommand's name, 0 if there is none */
};

/* What a subcommand does with the database in DIR. */
enum subcommand_use {
    USES_IT,
    MAY_MAKE_IT, /* by itself */
    READS_IT,    /* it is opened to read */
    OPENS_NONE   /* it must not be open */
};

static const struct subcommand {
    const char *name;
    enum shell_status (*run)(struct session *session, int argc, char **argv);
    enum subcommand_use use;
} subcommands[] = {{"import", import_main, MAY_MAKE_IT},
                   {"export", export_main, USES_IT},
                   {"compare", compare_main, USES_IT},
                   {"backup", backup_main, READS_IT},
                   {"restore", restore_main, OPENS_NONE}};

static void
print_subcommand_options(FILE *file)
{
    (void)fputs("\n"
                "import writes the records of FILE (- is standard input), compare checks every\n"
                "field of them.\n",
                file);
    (void)fputs(intake_usage, file);
    (void)fputs("  --create                  import: make a table that is not there, with the\n"
                "                            families that the columns or cells name, or else\n"
                "                            with the family cf\n"
                "  --threads N               import: parse in N threads beside the one that\n"
                "                            writes (1)\n"
                "  --flush-every N           import: flush to store files after every N records\n"
                "export writes the cells of TABLE to FILE (- or none is standard output; a file\n"
                "appears when it is whole).\n",
                file);
    (void)fputs(export_usage, file);
    (void)fputs("\n"
                "backup writes DIR, which another process may be writing to, into the directory\n"
                "BACKUP, or brings an earlier one there up to date.  restore makes the database\n"
                "in DIR of a backup.\n",
                file);
    (void)fputs(backup_usage, file);
    (void)fputs("\n"
                "Exit status: 0 fine; 1 a database, table, family or file there is not, exists\n"
                "said no, a get found no row, or import passed over what it could not read;\n"
                "2 a mistake in a command, an option, or a file that is imported; 3 damaged\n"
                "data, input/output error, the database is read-only or open elsewhere, or\n"
                "compare found that file and table differ; 130 interrupted.  The first mistake\n"
                "or failure counts; a no, such as a row that is not there, only where there is\n"
                "none.  A conversation at a terminal ends with 0.\n",
                file);
}

static void
print_usage(FILE *file)
{
    (void)fputs("usage: kv-shell [options] DIR [-e COMMANDS].. [-f FILE]\n"
                "       kv-shell -n [options] DIR [FILE]\n"
                "       kv-shell [options] DIR import TABLE FILE [import options]\n"
                "       kv-shell [options] DIR export TABLE [FILE] [export options]\n"
                "       kv-shell [options] DIR compare [--by-field] TABLE FILE [import options]\n"
                "       kv-shell [options] DIR backup BACKUP [--copy] [--previous BACKUP]\n"
                "       kv-shell [options] DIR restore BACKUP [--replace]\n"
                "\n"
                "Commands in the HBase shell's language on the database in DIR.  Where there is\n"
                "none, the command create makes it. They come from -e, from FILE, from standard\n"
                "input, or from you, at a terminal.  Those of -e come first, before FILE or a\n"
                "subcommand. help lists them.\n"
                "\n"
                "  -e COMMANDS       run these; may be repeated\n"
                "  -f FILE           run the commands in FILE\n"
                "  -n, --noninteractive\n"
                "                    as HBase's shell -n: the first error ends it, with status\n"
                "                    1; exit 7 with 7; else 0\n"
                "  -d, --debug       as log_level 'DEBUG' from the beginning: tell on standard\n"
                "                    error what the engine does\n"
                "  --format FORMAT   answers as hbase (the default), table, json (an object a\n"
                "                    line) or csv; all else that is said goes to standard error\n"
                "  --memory SIZE     what the database may take in all (64MB; where only --cache\n"
                "                    or --memtable is given, the cache and four memtables)\n"
                "  --cache SIZE      of it for the block cache at most; 0 for none (all that is\n"
                "                    left; beside --memtable alone 32MB)\n"
                "  --memtable SIZE   of it for writes before they are flushed (an eighth; beside\n"
                "                    --cache alone 8MB)\n"
                "  --create          make the database in DIR if there is none\n"
                "  --read-only       write nothing: the database must be there, commands that\n"
                "                    write fail; others may read it at the same time, and one\n"
                "                    may write.  While another process writes, a shell opens so\n"
                "                    by itself, and says so\n"
                "  --no-compaction   merge store files when told to only, not in the background\n"
                "  --no-log-mapping  write the log by system calls only: slower; a failing disk\n"
                "                    gives errors, never SIGBUS\n"
                "  --bail            stop at the first command that is wrong or fails; a script\n"
                "                    goes on without it\n"
                "  --no-took         leave out the lines with durations\n"
                "  --echo            show each line of input before its output\n"
                "  --seed N          identities and filter salts that repeat, for tests; never\n"
                "                    for data that matters\n"
                "  --unsafe          scripts may use files, sockets and processes by Ruby's\n"
                "                    classes, not only by commands\n"
                "  --help, --version\n",
                file);
    print_subcommand_options(file);
}

static enum shell_status
complain(const char *what, const char *word)
{
    (void)fprintf(stderr, "kv-shell: %s%s.  See kv-shell --help\n", what, word);
    return SHELL_USAGE;
}

/* SplitMix64: the n-th call gives the n-th number of the seed's sequence, whichever thread makes
 * it. */
static uint64_t
next_number(void *context)
{
    atomic_uint_least64_t *seed = context;
    uint64_t number = atomic_fetch_add_explicit(seed, 0x9e3779b97f4a7c15u, memory_order_relaxed);

    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

static bool
take_size(void *argument, char *value)
{
    uint64_t bytes;

    if (!text_read_size(slice_of_string(value), &bytes) || bytes > SIZE_MAX)
        return false;
    *(size_t *)argument = (size_t)bytes;
    return true;
}

static bool
take_cache_size(void *argument, char *value)
{
    size_t *size = argument;

    if (!take_size(size, value))
        return false;
    if (*size == 0)
        *size = PETAL_NO_CACHE;
    return true;
}

static bool
take_seed(void *argument, char *value)
{
    struct arguments *arguments = argument;
    uint64_t seed;

    if (!text_read_size(slice_of_string(value), &seed))
        return false;
    atomic_init(&arguments->seed, seed);
    arguments->env.random_context = &arguments->seed;
    arguments->env.random = next_number;
    return true;
}

static bool
take_commands(void *argument, char *value)
{
    struct arguments *arguments = argument;

    arguments->texts[arguments->text_count++] = value;
    return true;
}

static bool
take_format(void *argument, char *value)
{
    return format_find(value, argument);
}

/* Take the option at argv[*at], and its value.  Leaves *at at what was taken last. */
static enum shell_status
parse_option(struct arguments *arguments, int argc, char **argv, int *at)
{
    const struct command_option options[] = {
        {"-e", NULL, take_commands, arguments, "commands"},
        {"-f", NULL, command_take_any_text, &arguments->file, "a file of commands"},
        {"-n", &arguments->noninteractive, NULL, NULL, NULL},
        {"--noninteractive", &arguments->noninteractive, NULL, NULL, NULL},
        {"-d", &arguments->debug, NULL, NULL, NULL},
        {"--debug", &arguments->debug, NULL, NULL, NULL},
        {"--format", NULL, take_format, &arguments->format, "hbase, table, json or csv"},
        {"--memory", NULL, take_size, &arguments->options.memory_bytes, "a size such as 64MB"},
        {"--cache", NULL, take_cache_size, &arguments->options.cache_bytes,
         "a size such as 64MB, or 0"},
        {"--memtable", NULL, take_size, &arguments->options.memtable_bytes, "a size such as 8MB"},
        {"--create", &arguments->options.create, NULL, NULL, NULL},
        {"--read-only", &arguments->options.read_only, NULL, NULL, NULL},
        {"--no-compaction", &arguments->options.no_compaction, NULL, NULL, NULL},
        {"--no-log-mapping", &arguments->options.no_log_mapping, NULL, NULL, NULL},
        {"--bail", &arguments->stop_at_failure, NULL, NULL, NULL},
        {"--no-took", &arguments->no_times, NULL, NULL, NULL},
        {"--echo", &arguments->echo_input, NULL, NULL, NULL},
        {"--seed", NULL, take_seed, arguments, "a number"},
        {"--unsafe", &arguments->unsafe, NULL, NULL, NULL},
        {"-h", &arguments->help, NULL, NULL, NULL},
        {"--help", &arguments->help, NULL, NULL, NULL},
        {"--version", &arguments->version, NULL, NULL, NULL}};
    struct text why = {0};
    bool taken = option_take(options, COUNT_OF(options), argc, argv, at, &why);

    if (!taken)
        (void)complain(text_string(&why), "");
    text_free(&why);
    return taken ? SHELL_FINE : SHELL_USAGE;
}

/* NULL: there is none of that name. */
static const struct subcommand *
find_subcommand(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(subcommands); i++)
        if (strcmp(word, subcommands[i].name) == 0)
            return &subcommands[i];
    return NULL;
}

static enum shell_status
complain_of_subcommand(const char *word)
{
    const char *nearest = NULL;
    unsigned least = 0;

    if (access(word, F_OK) == 0) {
        (void)fprintf(stderr,
                      "kv-shell: there is no subcommand %s, but a file of that name: to run its "
                      "commands, say -f %s\n",
                      word, word);
        return SHELL_USAGE;
    }
    for (size_t i = 0; i < COUNT_OF(subcommands); i++)
        near_consider(slice_of_string(word), subcommands[i].name, &nearest, &least);
    (void)fprintf(stderr,
                  "kv-shell: there is no subcommand %s%s%s%s  They are import, export, "
                  "compare, backup and restore; commands stand behind -e\n",
                  word, nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
                  nearest != NULL ? "?" : ".");
    return SHELL_USAGE;
}

static void
note_memory(const petal_options *given)
{
    if (given->memory_bytes != 0 && given->cache_bytes != PETAL_NO_CACHE &&
        given->cache_bytes > given->memory_bytes)
        (void)fputs("kv-shell: --cache is more than --memory, which is the limit of it\n", stderr);
}

static enum shell_status
fit_subcommand(struct arguments *arguments, const struct subcommand *subcommand)
{
    if (subcommand->use == OPENS_NONE && arguments->text_count > 0)
        return complain("-e stands before a database that is open, which it is not for ",
                        subcommand->name);
    if (subcommand->use == READS_IT || subcommand->use == OPENS_NONE) {
        if (arguments->options.create)
            return complain("--create makes a database, which is not for ", subcommand->name);
        arguments->options.read_only = true;
    }
    return SHELL_FINE;
}

static enum shell_status
parse_arguments(struct arguments *arguments, int argc, char **argv)
{
    enum shell_status status = SHELL_FINE;

    memset(arguments, 0, sizeof(*arguments));
    arguments->texts = memory_allocate((size_t)argc * sizeof(*arguments->texts));
    arguments->options = (petal_options){.size = sizeof(petal_options), .env = &arguments->env};
    arguments->env = (petal_env){
        .size = sizeof(arguments->env), .log_context = &arguments->log, .log = log_write};
    atomic_init(&arguments->log.threshold, LOG_ERROR);
    for (int at = 1; at < argc && status == SHELL_FINE; at++) {
        if (argv[at][0] == '-' && argv[at][1] != '\0') {
            status = parse_option(arguments, argc, argv, &at);
        } else if (arguments->directory == NULL) {
            arguments->directory = argv[at];
        } else {
            arguments->rest = at;
            break;
        }
    }
    if (arguments->debug)
        atomic_store(&arguments->log.threshold, LOG_DEBUG);
    if (arguments->help || arguments->version)
        return status;
    if (status == SHELL_FINE && arguments->directory == NULL)
        return complain("say in which directory the database is", "");
    note_memory(&arguments->options);
    if (status == SHELL_FINE && arguments->rest != 0 &&
        find_subcommand(argv[arguments->rest]) == NULL) {
        if (!arguments->noninteractive || arguments->rest + 1 != argc || arguments->file != NULL)
            return complain_of_subcommand(argv[arguments->rest]);
        arguments->file = argv[arguments->rest];
        arguments->rest = 0;
    }
    return status == SHELL_FINE && arguments->rest != 0
               ? fit_subcommand(arguments, find_subcommand(argv[arguments->rest]))
               : status;
}

/* The errno says why. */
static enum shell_status
fail_to_open(const char *path)
{
    int error = errno;

    (void)fprintf(stderr, "kv-shell: cannot open %s: %s\n", path, strerror(error));
    return error == ENOENT ? SHELL_NOT_FOUND : SHELL_DATA;
}

static enum shell_status
run_file(struct session *session, const char *path)
{
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        session->failed = true;
        return fail_to_open(path);
    }
    session->script = path;
    if (session->failure_style == FAILURE_IS_SHOWN)
        input_run_stream(session, file);
    else
        input_run_script(session, file);
    session->script = NULL;
    (void)fclose(file);
    return session->worst;
}

static void
run_texts(struct session *session, const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->text_count && !session->ended; i++)
        if (!input_run_text(session, arguments->texts[i]) &&
            (i + 1 < arguments->text_count || arguments->file != NULL))
            input_leave_rest(session);
}

static bool
is_conversation(const struct arguments *arguments)
{
    return !arguments->noninteractive && arguments->text_count == 0 && arguments->file == NULL &&
           arguments->rest == 0 && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

static enum shell_status
run_commands(struct session *session, const struct arguments *arguments)
{
    enum shell_status status = SHELL_FINE;

    if (arguments->file != NULL && !session->ended)
        status = run_file(session, arguments->file);
    else if (is_conversation(arguments))
        input_run_terminal(session);
    else if (arguments->text_count == 0)
        input_run_stream(session, stdin);
    return session->worst > status ? session->worst : status;
}

static void
show_message(const struct session *session)
{
    struct text text = {0};

    text_add_format(&text, "kv-shell: %s", text_string(&session->message));
    wrap_print(stderr, text_slice(&text), terminal_width_or_none(stderr));
    text_free(&text);
}

static enum shell_status
run_subcommand(struct session *session, int argc, char **argv)
{
    const struct subcommand *subcommand = find_subcommand(argv[0]);
    enum shell_status status = SHELL_FINE;

    text_clear(&session->message);
    if (subcommand->use == USES_IT || subcommand->use == READS_IT)
        status = session_want_database(session);
    if (status == SHELL_FINE)
        status = subcommand->run(session, argc - 1, argv + 1);
    if (status != SHELL_FINE && session->message.size > 0)
        show_message(session);
    return status;
}

/* Before --create makes a database: can what shall be read for it be opened at all? */
static enum shell_status
check_inputs(struct session *session, const struct arguments *arguments, int argc, char **argv)
{
    int rest = arguments->rest;
    struct intake intake = {.by_command = false};
    enum shell_status status;

    if (arguments->file != NULL && access(arguments->file, R_OK) != 0) {
        status = fail_to_open(arguments->file);
        return arguments->noninteractive ? SHELL_NOT_FOUND : status;
    }
    if (rest == 0 || strcmp(argv[rest], "import") != 0)
        return SHELL_FINE;
    text_clear(&session->message);
    status = intake_parse(&intake, session, argc - rest - 1, argv + rest + 1);
    if (status != SHELL_FINE)
        (void)fprintf(stderr, "kv-shell: %s\n", text_string(&session->message));
    else if (strcmp(intake.file_name, "-") != 0 && access(intake.file_name, R_OK) != 0)
        status = fail_to_open(intake.file_name);
    return status;
}

/* Is all on standard output?  If not, say why: `error` is what a flush before met, 0: nothing. */
static bool
output_is_written(int error)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return true;
    if (error == 0)
        error = errno != 0 ? errno : EIO;
    (void)fprintf(stderr, "kv-shell: writing failed: %s\n", strerror(error));
    return false;
}

static int
run(struct arguments *arguments, int argc, char **argv)
{
    struct session session = {.commands = shell_commands(),
                              .log = &arguments->log,
                              .stop_at_failure = arguments->stop_at_failure,
                              .no_times = arguments->no_times,
                              .conversation = is_conversation(arguments),
                              .echo_input = arguments->echo_input,
                              .unsafe = arguments->unsafe};
    enum shell_status status = SHELL_FINE, closing;

    if (arguments->noninteractive)
        session.failure_style = arguments->file != NULL || arguments->text_count > 0
                                    ? FAILURE_ENDS_SCRIPT
                                    : FAILURE_ENDS_STREAM;
    output_init(&session.output, stdout, isatty(STDOUT_FILENO) == 1);
    session.output.format.mode = arguments->format;
    if (!session.output.terminal)
        session.output.errors = stderr;
    if (format_is_on(&session.output.format))
        output_say_elsewhere(&session.output, stderr);
    if (arguments->options.create) {
        status = check_inputs(&session, arguments, argc, argv);
        if (status != SHELL_FINE) {
            (void)session_close(&session);
            return (int)status;
        }
    }
    interrupt_install();
    interrupt_hold(true);
    if (arguments->rest != 0 && find_subcommand(argv[arguments->rest])->use == OPENS_NONE)
        session_begin(&session, arguments->directory, &arguments->options);
    else
        status = session_open(&session, arguments->directory, &arguments->options);
    interrupt_hold(false);
    if (status != SHELL_FINE)
        return (int)status;
    run_texts(&session, arguments);
    if (arguments->rest != 0)
        status = session.worst != SHELL_FINE
                     ? session.worst
                     : run_subcommand(&session, argc - arguments->rest, argv + arguments->rest);
    else
        status = run_commands(&session, arguments);
    if (interrupt_pending() && !session.conversation)
        session.exit_status = STATUS_OF_INTERRUPT;
    interrupt_clear(); /* the next signal ends the waiting below */
    if (session.conversation)
        status = SHELL_FINE;
    else if (arguments->noninteractive && arguments->rest == 0)
        status = session.failed ? SHELL_NOT_FOUND : status < SHELL_DATA ? SHELL_FINE : status;
    interrupt_wait_all();
    ruby_close(&session);
    closing = session_close(&session);
    format_flush(&session.output.format);
    if (!output_is_written(session.output.format.write_error))
        closing = SHELL_DATA;
    if (closing > status)
        status = closing;
    return session.exit_status >= 0 && closing == SHELL_FINE ? session.exit_status : (int)status;
}

int
main(int argc, char **argv)
{
    struct arguments arguments;
    int status = (int)parse_arguments(&arguments, argc, argv);

    errno = 0;
    if (status == SHELL_FINE && arguments.help)
        print_usage(stdout);
    else if (status == SHELL_FINE && arguments.version)
        (void)printf("kv-shell of Petal %s\n", petal_version());
    if (status == SHELL_FINE && (arguments.help || arguments.version))
        status = output_is_written(errno) ? SHELL_FINE : SHELL_DATA;
    else if (status == SHELL_FINE)
        status = run(&arguments, argc, argv);
    free(arguments.texts);
    return status;
}
