/*
 * kv-shell.c -- the shell's main program: options, subcommands, and where the commands come from.
 *
 * The exit status is that of the first failure (tools/shell/session/session.h); after a
 * conversation at a terminal, whose mistakes were seen, it is 0 unless closing the database failed.
 */
#include "tools/shell/commands.h"
#include "tools/shell/files/intake.h"
#include "tools/shell/print/width.h"
#include "tools/shell/print/wrap.h"
#include "tools/shell/ruby/ruby.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/session/words_of_values.h"
#include "tools/shell/terminal/input.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GREATEST_TEXTS = 64 };

struct arguments {
    const char *directory;
    const char *texts[GREATEST_TEXTS]; /* of -e */
    size_t text_count;
    const char *file; /* of -f */
    petal_options options;
    petal_env env;
    struct log log;
    atomic_uint_least64_t seed; /* with --seed: numbers that repeat */
    bool stop_at_failure, no_times, echo_input, noninteractive, unsafe;
    enum format_mode format;
    int rest; /* index of the subcommand's name, 0 if there is none */
};

static const struct {
    const char *name;
    enum shell_status (*run)(struct session *session, int argc, char **argv);
    bool may_make; /* the database: it sees to that by itself */
} subcommands[] = {{"import", import_main, true},
                   {"export", export_main, false},
                   {"compare", compare_main, false}};

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
                "Exit status: 0 fine; 1 a database, table, family or file there is not, exists\n"
                "said no, a get found no row, or import passed over what it could not read;\n"
                "2 a mistake in a command, an option, or a file that is imported; 3 damaged\n"
                "data, input/output error, or the database is read-only or open elsewhere;\n"
                "130 interrupted.  The first mistake or failure counts; a no, such as a row that\n"
                "is not there, only where there is none.  A conversation at a terminal ends\n"
                "with 0.\n",
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
                "                    write fail, and others may read it at the same time\n"
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

static bool
parse_size(const char *text, size_t *size)
{
    uint64_t bytes;

    if (text == NULL || !schema_parse_size(slice_of_string(text), &bytes) || bytes > SIZE_MAX)
        return false;
    *size = (size_t)bytes;
    return true;
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
set_seed(struct arguments *arguments, const char *text)
{
    uint64_t seed;

    if (text == NULL || !schema_parse_size(slice_of_string(text), &seed))
        return false;
    atomic_init(&arguments->seed, seed);
    arguments->env.random_context = &arguments->seed;
    arguments->env.random = next_number;
    return true;
}

/* What options there are, and what a value must be; NULL: they have none. */
static const struct {
    const char *name, *wants;
} options[] = {{"-e", "commands"},
               {"-f", "a file of commands"},
               {"-n", NULL},
               {"--noninteractive", NULL},
               {"-d", NULL},
               {"--debug", NULL},
               {"--format", "hbase, table, json or csv"},
               {"--memory", "a size such as 64MB"},
               {"--cache", "a size such as 64MB, or 0"},
               {"--memtable", "a size such as 8MB"},
               {"--create", NULL},
               {"--read-only", NULL},
               {"--no-compaction", NULL},
               {"--no-log-mapping", NULL},
               {"--bail", NULL},
               {"--no-took", NULL},
               {"--echo", NULL},
               {"--seed", "a number"},
               {"--unsafe", NULL},
               {"--help", NULL},
               {"--version", NULL}};

/* An option that was not taken: there is none of that name, it has no value, or not this one. */
static enum shell_status
complain_of_option(const char *option, const char *value)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; i < COUNT_OF(options); i++) {
        near_consider(slice_of_string(option), options[i].name, &nearest, &least);
        if (strcmp(option, options[i].name) != 0)
            continue;
        if (options[i].wants == NULL) /* --help and --version, which stand alone */
            (void)fprintf(stderr, "kv-shell: %s stands alone, without other words\n", option);
        else if (value == NULL)
            (void)fprintf(stderr, "kv-shell: a value must follow %s: %s\n", option,
                          options[i].wants);
        else
            (void)fprintf(stderr, "kv-shell: %s must be followed by %s, not by %s\n", option,
                          options[i].wants, value);
        return SHELL_USAGE;
    }
    if (nearest == NULL)
        return complain("unknown option: ", option);
    (void)fprintf(stderr, "kv-shell: unknown option: %s; did you mean %s?  See kv-shell --help\n",
                  option, nearest);
    return SHELL_USAGE;
}

/* Take the option at argv[*at], and its value.  Leaves *at at what was taken last. */
static enum shell_status
parse_option(struct arguments *arguments, int argc, char **argv, int *at)
{
    const char *option = argv[*at];
    const char *value = *at + 1 < argc ? argv[*at + 1] : NULL;
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"-n", &arguments->noninteractive},
                 {"--noninteractive", &arguments->noninteractive},
                 {"--bail", &arguments->stop_at_failure},
                 {"--no-took", &arguments->no_times},
                 {"--echo", &arguments->echo_input},
                 {"--unsafe", &arguments->unsafe},
                 {"--create", &arguments->options.create},
                 {"--read-only", &arguments->options.read_only},
                 {"--no-compaction", &arguments->options.no_compaction},
                 {"--no-log-mapping", &arguments->options.no_log_mapping}};

    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        if (strcmp(option, flags[i].name) != 0)
            continue;
        *flags[i].flag = true;
        return SHELL_FINE;
    }
    if (strcmp(option, "-d") == 0 || strcmp(option, "--debug") == 0) {
        atomic_init(&arguments->log.threshold, LOG_DEBUG);
        return SHELL_FINE;
    }
    (*at)++;
    if (strcmp(option, "-e") == 0 && value != NULL) {
        if (arguments->text_count == GREATEST_TEXTS)
            return complain("there are too many of ", option);
        arguments->texts[arguments->text_count++] = value;
        return SHELL_FINE;
    }
    if (strcmp(option, "-f") == 0 && value != NULL) {
        arguments->file = value;
        return SHELL_FINE;
    }
    if (strcmp(option, "--format") == 0 && value != NULL && format_find(value, &arguments->format))
        return SHELL_FINE;
    if (strcmp(option, "--memory") == 0 && parse_size(value, &arguments->options.memory_bytes))
        return SHELL_FINE;
    if (strcmp(option, "--cache") == 0 && parse_size(value, &arguments->options.cache_bytes)) {
        if (arguments->options.cache_bytes == 0)
            arguments->options.cache_bytes = PETAL_NO_CACHE;
        return SHELL_FINE;
    }
    if (strcmp(option, "--memtable") == 0 && parse_size(value, &arguments->options.memtable_bytes))
        return SHELL_FINE;
    if (strcmp(option, "--seed") == 0 && set_seed(arguments, value))
        return SHELL_FINE;
    return complain_of_option(option, value);
}

static bool
is_subcommand(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(subcommands); i++)
        if (strcmp(word, subcommands[i].name) == 0)
            return true;
    return false;
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
                  "kv-shell: there is no subcommand %s%s%s%s  They are import, export "
                  "and compare; commands stand behind -e\n",
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
parse_arguments(struct arguments *arguments, int argc, char **argv)
{
    enum shell_status status = SHELL_FINE;

    memset(arguments, 0, sizeof(*arguments));
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
    if (status == SHELL_FINE && arguments->directory == NULL)
        return complain("say in which directory the database is", "");
    note_memory(&arguments->options);
    if (status == SHELL_FINE && arguments->rest != 0 && !is_subcommand(argv[arguments->rest])) {
        if (!arguments->noninteractive || arguments->rest + 1 != argc || arguments->file != NULL)
            return complain_of_subcommand(argv[arguments->rest]);
        arguments->file = argv[arguments->rest];
        arguments->rest = 0;
    }
    return status;
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
        input_run_text(session, arguments->texts[i]);
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
    enum shell_status status = SHELL_USAGE;

    text_clear(&session->message);
    for (size_t i = 0; i < COUNT_OF(subcommands); i++)
        if (strcmp(argv[0], subcommands[i].name) == 0 &&
            (subcommands[i].may_make || (status = session_want_database(session)) == SHELL_FINE))
            status = subcommands[i].run(session, argc - 1, argv + 1);
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
    enum shell_status status, closing;

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
    enum shell_status status;

    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        errno = 0;
        print_usage(stdout);
        return output_is_written(errno) ? SHELL_FINE : SHELL_DATA;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("kv-shell of Petal %s\n", petal_version());
        return output_is_written(0) ? SHELL_FINE : SHELL_DATA;
    }
    status = parse_arguments(&arguments, argc, argv);
    if (status != SHELL_FINE)
        return (int)status;
    return run(&arguments, argc, argv);
}
