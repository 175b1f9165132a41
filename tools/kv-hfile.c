/* kv-hfile.c -- HBase's store files by hand: `kv-hfile print|check|import|export`. */
#include "tools/hfile/commands/commands.h"

int
main(int argc, char **argv)
{
    static const struct command *const commands[] = {&hfile_print, &hfile_check, &hfile_import,
                                                     &hfile_export};
    static const struct program program = {
        .name = "kv-hfile",
        .commands = commands,
        .command_count = sizeof commands / sizeof *commands,
        .notes = "Exit status: 0 all is well, 1 a file is damaged, 2 it could not be done.\n"
                 "kv-hfile(1) shows both ways between HBase and Petal.\n"};

    return program_run(&program, argc, argv);
}
