/* command.c -- see command.h. */
#include "tools/command/command.h"

#include "engine/petal.h"
#include "tools/command/nearest.h"
#include "tools/shell/text/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The one that main runs; messages begin with its name. */
static const struct program *running;

/* ---- Programs -------------------------------------------------------------------------------- */

static void
list_commands(const struct program *program, FILE *to)
{
    fprintf(to, "usage: %s COMMAND [options] ...; COMMAND --help says more\n", program->name);
    for (size_t i = 0; i < program->command_count; i++)
        fprintf(to, "  %-8s %s\n", program->commands[i]->name, program->commands[i]->meaning);
    fputs(program->notes, to);
}

static bool
asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static void
tell_no_command(const struct program *program, const char *word)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; i < program->command_count; i++)
        nearest_consider(word, program->commands[i]->name, &nearest, &least);
    nearest_tell(program->name, word, nearest);
}

static int
run(const struct program *program, int argc, char **argv)
{
    const bool is_help = argc > 0 && strcmp(argv[0], "help") == 0;
    const bool asked = is_help || asks_for_help(argc, argv);

    if (is_help) {
        argc--;
        argv++;
    }
    if (argc > 0 && strcmp(argv[0], "--version") == 0) {
        printf("%s %s\n", program->name, petal_version());
        return COMMAND_FINE;
    }
    for (size_t i = 0; argc > 0 && i < program->command_count; i++) {
        const struct command *command = program->commands[i];

        if (strcmp(argv[0], command->name) != 0)
            continue;
        if (!asked)
            return command->run(command, argc - 1, argv + 1);
        printf("usage: %s", command->usage);
        return COMMAND_FINE;
    }
    if (asked || argc == 0) {
        list_commands(program, asked ? stdout : stderr);
        return asked ? COMMAND_FINE : COMMAND_FAILED;
    }
    tell_no_command(program, argv[0]);
    return COMMAND_FAILED;
}

int
program_run(const struct program *program, int argc, char **argv)
{
    int status;

    running = program;
    status = run(program, argc - 1, argv + 1);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "%s: cannot write to the standard output: %s\n", program->name,
            strerror(errno));
    return COMMAND_FAILED;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static void
tell_mistake(const struct command *command, const char *what, const char *argument, const char *why)
{
    (void)fprintf(stderr, "%s %s: %s%s%s; \"%s %s --help\" says what it takes\n", running->name,
                  command->name, what, argument, why, running->name, command->name);
}

/* The next argument that must not be left out, of a usage from *at on; of no bytes: there is none.
 * *at goes after it. */
static petal_slice
next_operand(const char **at)
{
    unsigned brackets = 0;

    for (;;) {
        const char *word = *at + strspn(*at, " ");
        size_t size;

        /* What the command does stands in lines that begin with two blanks. */
        if (*word == '\n' && strncmp(word, "\n   ", 4) == 0) {
            *at = word + 1;
            continue;
        }
        size = strcspn(word, " \n");
        *at = word + size;
        if (size == 0)
            return (petal_slice){NULL, 0};
        for (size_t i = 0; i < size; i++)
            brackets += word[i] == '[';
        if (brackets == 0) {
            while (word[size - 1] == '.') /* FILE...: one of them */
                size--;
            return (petal_slice){word, size};
        }
        for (size_t i = 0; i < size; i++)
            brackets -= word[i] == ']';
    }
}

/* Tell which of `least` arguments the usage has after the `count` that are there. */
static void
tell_missing(const struct command *command, int count, int least)
{
    const char *at = command->usage;
    struct text names = {0};

    (void)next_operand(&at); /* the program, and the command */
    (void)next_operand(&at);
    for (int i = 0; i < least; i++) {
        petal_slice name = next_operand(&at);

        assert(name.size > 0);
        if (i >= count)
            text_add_format(&names, "%s%.*s", i > count ? ", " : "", SLICE(name));
    }
    tell_mistake(command,
                 least - count > 1 ? "arguments are missing: " : "an argument is missing: ",
                 text_string(&names), "");
    text_free(&names);
}

int
command_take_arguments(const struct command *command, int argc, char **argv,
                       const struct command_option *options, size_t option_count,
                       const char **places, int least, int most)
{
    int count = 0;
    bool only_places = false;

    for (int at = 0; at < argc; at++) {
        struct text why = {0};

        if (only_places || argv[at][0] != '-' || argv[at][1] == '\0') {
            if (count == most) {
                tell_mistake(command, "\"", argv[at], "\" is one argument too many");
                return -1;
            }
            places[count++] = argv[at];
        } else if (strcmp(argv[at], "--") == 0) {
            only_places = true;
        } else {
            bool taken = option_take(options, option_count, argc, argv, &at, &why);

            if (!taken)
                tell_mistake(command, text_string(&why), "", "");
            text_free(&why);
            if (!taken)
                return -1;
        }
    }
    if (count >= least)
        return count;
    tell_missing(command, count, least);
    return -1;
}
