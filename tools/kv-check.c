/* kv-check.c -- looks at the files of a database that nobody has open: `kv-check COMMAND …`. */
#include "tools/check/commands.h"

#include "engine/petal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *meaning;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"verify", "is every file of the database sound? lists all faults", check_verify_main},
    {"dump", "what stands in a store file, a log, a manifest", check_dump_main},
    {"salvage", "write what can still be read into a new database", check_salvage_main},
};

static void
list_commands(FILE *to)
{
    fputs("usage: kv-check COMMAND [options] ...; --help behind a command tells of it\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].meaning);
    fputs(
        "Nothing is ever written into what is looked at. Exit status: 0 all is sound, 1 damage was "
        "found,\n2 it could not be looked at.\n",
        to);
}

static int
run(int argc, char **argv)
{
    bool asked = check_help_is_asked(argc, argv);

    if (argc > 0 && strcmp(argv[0], "--version") == 0) {
        printf("kv-check %s\n", petal_version());
        return CHECK_SOUND;
    }
    for (size_t i = 0; argc > 0 && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    list_commands(check_usage_output());
    if (argc > 0 && !asked)
        fprintf(stderr, "kv-check: there is no command \"%s\"\n", argv[0]);
    return asked ? CHECK_SOUND : CHECK_FAILED;
}

int
main(int argc, char **argv)
{
    int status = run(argc - 1, argv + 1);

    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "kv-check: cannot write to the standard output: %s\n", strerror(errno));
    return CHECK_FAILED;
}
