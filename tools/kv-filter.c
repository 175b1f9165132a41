/* kv-filter.c -- lines of files of any size, by what is in them: `kv-filter COMMAND ...`. */
#include "tools/lines/commands/commands.h"

int
main(int argc, char **argv)
{
    static const struct command *const commands[] = {
        &filter_unique, &filter_common,   &filter_missing, &filter_count,
        &filter_top,    &filter_integers, &filter_build,   &filter_check,
        &filter_info,   &filter_merge,    &filter_plan};
    static const struct program program = {
        .name = "kv-filter",
        .commands = commands,
        .command_count = sizeof commands / sizeof *commands,
        .notes =
            "FILE \"-\", or none, is the standard input. Exit status: 0 it is done, 2 it could\n"
            "not be done. kv-filter(1) has examples.\n"};

    return program_run(&program, argc, argv);
}
