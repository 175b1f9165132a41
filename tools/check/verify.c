/* verify.c -- kv-check verify: prints what petal_verify finds. */
#include "tools/check/commands.h"
#include "tools/check/fault.h"

#include <string.h>

static int
verify(const char *directory, struct fault_watch *watch)
{
    struct print print;
    const petal_check_options options = {
        .size = sizeof options, .argument = watch, .fault = fault_print, .watch = fault_go_on};
    petal_check_counts counts;
    petal_error error;
    enum petal_status status;

    watch->print = &print;
    watch_begin(&watch->watch, "verify", watch->quiet);
    print_start(&print, stdout, watch->json);
    if (watch->json)
        print_text(&print, "directory", directory);
    print_list(&print, "faults");
    status = petal_verify(directory, &options, &counts, &error);
    print_end(&print);
    watch_end(&watch->watch);
    if (status == PETAL_OK || status == PETAL_CORRUPT || watch->unread > 0)
        fault_print_counts(&print, &counts);
    if (watch->json) {
        print_boolean(&print, "sound", status == PETAL_OK);
        if (status != PETAL_OK)
            print_text(&print, "error", error.text);
    } else if (status == PETAL_OK) {
        puts("sound");
    } else if (status == PETAL_CORRUPT) {
        puts("damaged: \"kv-check salvage DIR NEW\" writes what can be read; do not open DIR for "
             "writing before");
    }
    print_finish(&print);
    if (status == PETAL_OK)
        return COMMAND_FINE;
    if (status == PETAL_CORRUPT && watch->unread > 0)
        (void)fprintf(stderr, "kv-check: not everything could be looked at\n");
    if (status == PETAL_CORRUPT)
        return COMMAND_FAULTS;
    (void)fprintf(stderr, "kv-check: %s\n", error.text);
    return COMMAND_FAILED;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct fault_watch watch = {.json = false};
    const char *places[1];

    if (!fault_take_arguments(&watch, command, argc, argv, places, 1))
        return COMMAND_FAILED;
    return verify(places[0], &watch);
}

const struct command check_verify = {
    .name = "verify",
    .meaning = "is every file of the database sound? lists all faults",
    .usage = "kv-check verify [--json] [--quiet] DIRECTORY\n"
             "  looks at all files of the database, which nobody may have open for writing,\n"
             "  and prints every fault; notes are of what a crash may leave, which the next\n"
             "  opening puts in order\n"
             "  --json   as one JSON object\n"
             "  --quiet  faults only: no notes, no progress\n",
    .run = run,
};
