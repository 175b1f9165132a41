/*
 * kv-shell.c -- the shell's main program: options, subcommands, and where the commands come from.
 *
 * The exit status is that of the first failure (tools/shell/session/session.h); after a
 * conversation at a terminal, whose mistakes were seen, it is 0 unless closing the database failed.
 */
#include "tools/shell/commands.h"
#include "tools/shell/files/intake.h"
#include "tools/shell/session/interrupt.h"
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
    petal_env env; /* with --seed: numbers that repeat */
    atomic_uint_least64_t seed;
    bool stop_at_failure, no_times, echo_input, noninteractive;
    enum format_mode format;
    int rest; /* index of the subcommand's name, 0 if there is none */
};

static const struct {
    const char *name;
    enum shell_status (*run)(struct session *session, int argc, char **argv);
} subcommands[] = {{"import", import_main}, {"export", export_main}, {"compare", compare_main}};

static void
print_subcommand_options(FILE *file)
{
    (void)fputs("\n"
                "import writes the records of FILE (- is standard input), compare checks every "
                "field of them.\n",
                file);
    (void)fputs(intake_usage, file);
    (void)fputs(
        "  --threads N               import: parse in N threads beside the one that writes (1)\n"
        "  --flush-every N           import: flush to store files after every N records\n"
        "export writes the cells of TABLE to FILE (- or none is standard output; a file appears "
        "when it is whole).\n",
        file);
    (void)fputs(export_usage, file);
    (void)fputs(
        "\n"
        "Exit status: 0 fine; 1 a table, family or file there is not, exists said no, or a "
        "get found no row, or import passed\n"
        "over what it could not read;\n"
        "2 a mistake in a command or option; 3 damaged data, input/output error, or the "
        "database is read-only or open elsewhere.\n"
        "130 interrupted.  The first mistake or failure counts; a no, such as a row that is not "
        "there, only\n"
        "where there is none.  A conversation at a terminal ends with 0.\n",
        file);
}

static void
print_usage(FILE *file)
{
    (void)fputs(
        "usage: kv-shell [options] DIR [-e COMMANDS].. [-f FILE]\n"
        "       kv-shell -n [options] DIR [FILE]\n"
        "       kv-shell [options] DIR import TABLE FILE [import options]\n"
        "       kv-shell [options] DIR export TABLE [FILE] [export options]\n"
        "       kv-shell [options] DIR compare [--by-field] TABLE FILE [import options]\n"
        "\n"
        "Commands in the HBase shell's language on the database in DIR, which is made if "
        "there is none.\n"
        "They come from -e, from FILE, from standard input, or from you, at a terminal.  "
        "Those of -e come first,\n"
        "before FILE or a subcommand.\n"
        "help lists them.\n"
        "\n"
        "  -e COMMANDS       run these; may be repeated\n"
        "  -f FILE           run the commands in FILE\n"
        "  -n, --noninteractive\n"
        "                    as HBase's shell -n: the first error ends it, with status 1; exit 7 "
        "with 7; else 0\n"
        "  --format FORMAT   answers as hbase (the default), table, json (an object a line) or "
        "csv; "
        "all else that is\n"
        "                    said goes to standard error\n"
        "  --cache SIZE      block cache, such as 64MB (the default) or 0 for none\n"
        "  --memtable SIZE   memory for writes before they are flushed (64MB)\n"
        "  --read-only       write nothing: the database must be there, commands that write fail, "
        "and "
        "others\n"
        "                    may read it at the same time\n"
        "  --no-compaction   merge store files when told to only, not in the background\n"
        "  --no-log-mapping  write the log by system calls only: slower; a failing disk gives "
        "errors, "
        "never SIGBUS\n"
        "  --bail            stop at the first command that is wrong or fails; a script goes on "
        "without it\n"
        "  --no-took         leave out the lines with durations\n"
        "  --echo            show each line of input before its output\n"
        "  --seed N          identities and filter salts that repeat, for tests; never for data "
        "that matters\n"
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
    arguments->env = (petal_env){
        .size = sizeof(arguments->env), .random_context = &arguments->seed, .random = next_number};
    arguments->options.env = &arguments->env;
    return true;
}

/* An option that was not taken: there is none of that name, it has no value, or not this one. */
static enum shell_status
complain_of_option(const char *option, const char *value)
{
    static const char *const with_value[] = {"-e",      "-f",         "--format",
                                             "--cache", "--memtable", "--seed"};

    for (size_t i = 0; i < COUNT_OF(with_value); i++) {
        if (strcmp(option, with_value[i]) != 0)
            continue;
        if (value == NULL)
            return complain("a value is wanted behind ", option);
        (void)fprintf(stderr, "kv-shell: what does %s %s mean?  See kv-shell --help\n", option,
                      value);
        return SHELL_USAGE;
    }
    return complain("unknown option: ", option);
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
                 {"--read-only", &arguments->options.read_only},
                 {"--no-compaction", &arguments->options.no_compaction},
                 {"--no-log-mapping", &arguments->options.no_log_mapping}};

    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        if (strcmp(option, flags[i].name) != 0)
            continue;
        *flags[i].flag = true;
        arguments->options.create = !arguments->options.read_only;
        return SHELL_FINE;
    }
    (*at)++;
    if (strcmp(option, "-e") == 0 && value != NULL) {
        if (arguments->text_count == GREATEST_TEXTS)
            return complain("too many times ", option);
        arguments->texts[arguments->text_count++] = value;
        return SHELL_FINE;
    }
    if (strcmp(option, "-f") == 0 && value != NULL) {
        arguments->file = value;
        return SHELL_FINE;
    }
    if (strcmp(option, "--format") == 0 && value != NULL && format_find(value, &arguments->format))
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
parse_arguments(struct arguments *arguments, int argc, char **argv)
{
    enum shell_status status = SHELL_FINE;

    memset(arguments, 0, sizeof(*arguments));
    arguments->options = (petal_options){.size = sizeof(petal_options), .create = true};
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
        return complain("the database's directory is wanted", "");
    if (status == SHELL_FINE && arguments->rest != 0 && !is_subcommand(argv[arguments->rest])) {
        if (!arguments->noninteractive || arguments->rest + 1 != argc || arguments->file != NULL)
            return complain("there is no subcommand ", argv[arguments->rest]);
        arguments->file = argv[arguments->rest];
        arguments->rest = 0;
    }
    return status;
}

static enum shell_status
run_file(struct session *session, const char *path)
{
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        int error = errno;

        (void)fprintf(stderr, "kv-shell: cannot open %s: %s\n", path, strerror(error));
        session->failed = true;
        return error == ENOENT ? SHELL_NOT_FOUND : SHELL_DATA;
    }
    if (session->failure_style == FAILURE_IS_SHOWN)
        input_run_stream(session, file);
    else
        input_run_script(session, file);
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

static enum shell_status
run_subcommand(struct session *session, int argc, char **argv)
{
    enum shell_status status = SHELL_USAGE;

    text_clear(&session->message);
    for (size_t i = 0; i < COUNT_OF(subcommands); i++)
        if (strcmp(argv[0], subcommands[i].name) == 0)
            status = subcommands[i].run(session, argc - 1, argv + 1);
    if (status != SHELL_FINE && session->message.size > 0)
        (void)fprintf(stderr, "kv-shell: %s\n", text_string(&session->message));
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
run(const struct arguments *arguments, int argc, char **argv)
{
    struct session session = {.commands = shell_commands(),
                              .stop_at_failure = arguments->stop_at_failure,
                              .no_times = arguments->no_times,
                              .conversation = is_conversation(arguments),
                              .echo_input = arguments->echo_input};
    enum shell_status status, closing;

    if (arguments->noninteractive)
        session.failure_style = arguments->file != NULL || arguments->text_count > 0
                                    ? FAILURE_ENDS_SCRIPT
                                    : FAILURE_ENDS_STREAM;
    output_init(&session.output, stdout, isatty(STDOUT_FILENO) == 1);
    session.output.format.mode = arguments->format;
    if (format_is_on(&session.output.format))
        output_say_elsewhere(&session.output, stderr);
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

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        print_usage(stdout);
        return output_is_written(0) ? SHELL_FINE : SHELL_DATA;
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
