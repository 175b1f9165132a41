/* kv-check.c -- looks at the files of a database that nobody has open: `kv-check COMMAND …`. */
#include "tools/check/commands.h"

#include "engine/petal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct check_command *const commands[] = {&check_verify, &check_dump, &check_salvage};

static void
list_commands(FILE *to)
{
    fputs("usage: kv-check COMMAND [options] ...; --help behind a command tells of it\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->meaning);
    fputs("Nothing is ever written into what is looked at. Exit status: 0 all is sound,\n"
          "1 damage was found, 2 it could not be looked at. kv-check(1) says what to do\n"
          "about damage.\n",
          to);
}

static bool
asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return true;
    }
    return false;
}

static int
run(int argc, char **argv)
{
    bool asked = asks_for_help(argc, argv);

    if (argc > 0 && strcmp(argv[0], "--version") == 0) {
        printf("kv-check %s\n", petal_version());
        return CHECK_SOUND;
    }
    for (size_t i = 0; argc > 0 && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[0], commands[i]->name) != 0)
            continue;
        if (!asked)
            return commands[i]->run(argc - 1, argv + 1);
        printf("usage: %s", commands[i]->usage);
        return CHECK_SOUND;
    }
    if (asked || argc == 0) {
        list_commands(asked ? stdout : stderr);
        return asked ? CHECK_SOUND : CHECK_FAILED;
    }
    fprintf(stderr, "kv-check: there is no command \"%s\"; \"kv-check --help\" lists them\n",
            argv[0]);
    return CHECK_FAILED;
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
