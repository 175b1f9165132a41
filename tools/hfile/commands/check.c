/* check.c -- kv-hfile check: is every byte of an HFile what it should be? */
#include "tools/command/print.h"
#include "tools/command/watch.h"
#include "tools/hfile/commands/commands.h"
#include "tools/hfile/petal_hfile.h"

#include <stdlib.h>

static void
print_report(struct print *print, const petal_hfile_report *report)
{
    print_number(print, "cells", report->cells);
    print_number(print, "blocks", report->blocks);
    print_number(print, "checksums", report->checksums);
    print_number(print, "index entries", report->index_entries);
    print_number(print, "filter keys", report->filter_keys);
    print_number(print, "rebuilt chunks", report->rebuilt_chunks);
}

static enum petal_status
check_file(struct print *print, const char *path, bool quiet)
{
    struct watch watch;
    petal_hfile_report report;
    petal_hfile *file;
    petal_error error;
    enum petal_status status = petal_hfile_open(path, NULL, &file, &error);

    if (status == PETAL_OK) {
        watch_begin(&watch, "check", quiet);
        status = petal_hfile_check(file, watch_go_on, &watch, &report, &error);
        watch_end(&watch);
        petal_hfile_close(file);
    }
    if (status == PETAL_OK && quiet && !print->json)
        return status;
    print_line(print, status == PETAL_OK        ? "sound"
                      : status == PETAL_CORRUPT ? "damaged"
                                                : "not checked");
    if (print->json || status == PETAL_OK)
        print_text(print, print->json ? "file" : "", path);
    if (status == PETAL_OK)
        print_report(print, &report);
    else
        print_text(print, print->json ? "what" : "", error.text);
    if (status != PETAL_OK && print->json)
        print_number(print, "offset", error.offset);
    print_end(print);
    (void)fflush(print->out);
    return status;
}

static int
run(const struct command *command, int argc, char **argv)
{
    bool json = false, quiet = false;
    const struct command_option options[] = {{.name = "--json", .flag = &json},
                                             {.name = "--quiet", .flag = &quiet}};
    const char **places = calloc((size_t)argc + 1, sizeof *places);
    struct print print;
    int count, exit_status = COMMAND_FINE;

    if (places == NULL)
        return COMMAND_FAILED;
    count = command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                                   places, 1, argc);
    if (count > 0) {
        print_start(&print, stdout, json);
        print_list(&print, "files");
    }
    for (int i = 0; i < count; i++) {
        enum petal_status status = check_file(&print, places[i], quiet);

        if (status != PETAL_OK && status != PETAL_CORRUPT)
            exit_status = COMMAND_FAILED;
        else if (status == PETAL_CORRUPT && exit_status == COMMAND_FINE)
            exit_status = COMMAND_FAULTS;
        if (status == PETAL_BUSY)
            break;
    }
    if (count > 0) {
        print_end(&print);
        print_finish(&print);
    }
    free(places);
    return count > 0 ? exit_status : COMMAND_FAILED;
}

const struct command hfile_check = {
    .name = "check",
    .meaning = "read all of HFiles, and compare all that can be compared",
    .usage = "kv-hfile check [--json] [--quiet] FILE...\n"
             "  reads everything: checksums, the order of cells, the index, counts and facts,\n"
             "  every key through its Bloom filter, whose chunks are made anew and compared\n"
             "  --json   as one JSON object\n"
             "  --quiet  damage only, no progress\n",
    .run = run,
};
