/* salvage.c -- kv-check salvage: what petal_salvage writes, and what it could not read. */
#include "tools/check/commands.h"
#include "tools/check/fault.h"

#include <inttypes.h>

static int
salvage(const char *source, const char *destination, struct fault_watch *watch)
{
    struct print print;
    const petal_check_options options = {
        .size = sizeof options, .argument = watch, .fault = fault_print, .watch = fault_go_on};
    petal_check_counts counts;
    petal_error error;
    enum petal_status status;

    watch->print = &print;
    watch_begin(&watch->watch, "salvage", watch->quiet);
    print_start(&print, stdout, watch->json);
    if (watch->json) {
        print_text(&print, "source", source);
        print_text(&print, "destination", destination);
    }
    print_list(&print, "lost");
    status = petal_salvage(source, destination, &options, &counts, &error);
    print_end(&print);
    watch_end(&watch->watch);
    if (status == PETAL_OK)
        fault_print_counts(&print, &counts);
    if (watch->json) {
        print_boolean(&print, "written", status == PETAL_OK);
        if (status != PETAL_OK)
            print_text(&print, "error", error.text);
    } else if (status == PETAL_OK) {
        printf("%s: %" PRIu64 " %s\n",
               counts.faults == 0 ? "all was written" : "all that could be read was written",
               counts.cells, counts.cells == 1 ? "cell" : "cells");
    }
    print_finish(&print);
    if (status == PETAL_OK)
        return counts.faults == 0 ? COMMAND_FINE : COMMAND_FAULTS;
    (void)fprintf(stderr, "kv-check: %s\nkv-check: nothing was salvaged\n", error.text);
    return COMMAND_FAILED;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct fault_watch watch = {.json = false};
    const char *places[2];

    if (!fault_take_arguments(&watch, command, argc, argv, places, 2))
        return COMMAND_FAILED;
    return salvage(places[0], places[1], &watch);
}

const struct command check_salvage = {
    .name = "salvage",
    .meaning = "write what can still be read into a new database",
    .usage = "kv-check salvage [--json] [--quiet] SOURCE DESTINATION\n"
             "  writes all that can be read of the database SOURCE into a new one,\n"
             "  DESTINATION, which must not exist or be empty, and prints what was lost:\n"
             "  file, table, family, rows, bytes, cause\n"
             "  --json   as one JSON object\n"
             "  --quiet  what is lost only: no notes, no progress\n",
    .run = run,
};
