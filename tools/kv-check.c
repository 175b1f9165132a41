/* kv-check.c -- looks at the files of a database that nobody has open: `kv-check COMMAND …`. */
#include "tools/check/commands.h"

int
main(int argc, char **argv)
{
    static const struct command *const commands[] = {&check_verify, &check_dump, &check_salvage};
    static const struct program program = {
        .name = "kv-check",
        .commands = commands,
        .command_count = sizeof commands / sizeof *commands,
        .notes = "Nothing is ever written into what is looked at. Exit status: 0 all is sound,\n"
                 "1 damage was found, 2 it could not be looked at. kv-check(1) says what to do\n"
                 "about damage.\n"};

    return program_run(&program, argc, argv);
}
