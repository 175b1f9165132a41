/* check.c -- kv-hfile check: is every byte of HFiles what it should be? */
#include "tools/command/print.h"
#include "tools/command/watch.h"
#include "tools/hfile/commands/commands.h"
#include "tools/hfile/petal_hfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* What becomes of the files. */
struct check {
    struct print print;
    bool quiet, ended; /* by Ctrl-C */
    int exit_status;
};

/* What came of a file, or of a folder that could not be looked through. */
static void
tell(struct check *check, const char *path, const petal_hfile_report *report,
     enum petal_status status, const petal_error *error)
{
    struct print *print = &check->print;

    if (status == PETAL_BUSY)
        check->ended = true;
    if (status != PETAL_OK && status != PETAL_CORRUPT)
        check->exit_status = COMMAND_FAILED;
    else if (status == PETAL_CORRUPT && check->exit_status == COMMAND_FINE)
        check->exit_status = COMMAND_FAULTS;
    if (status == PETAL_OK && check->quiet && !print->json)
        return;
    print_line(print, status == PETAL_OK        ? "sound"
                      : status == PETAL_CORRUPT ? "damaged"
                                                : "not checked");
    if (print->json || status == PETAL_OK)
        print_text(print, print->json ? "file" : "", path);
    if (status == PETAL_OK)
        print_report(print, report);
    else
        print_text(print, print->json ? "what" : "", error->text);
    if (status != PETAL_OK && print->json)
        print_number(print, "offset", error->offset);
    print_end(print);
    (void)fflush(print->out);
}

static void
check_file(struct check *check, const char *path)
{
    struct watch watch;
    petal_hfile_report report;
    petal_hfile *file;
    petal_error error;
    enum petal_status status = petal_hfile_open(path, NULL, &file, &error);

    if (status == PETAL_OK) {
        watch_begin(&watch, "check", check->quiet);
        status = petal_hfile_check(file, watch_go_on, &watch, &report, &error);
        watch_end(&watch);
        petal_hfile_close(file);
    }
    tell(check, path, &report, status, &error);
}

/* The files of a folder, as an import finds them. */
static void
check_folder(struct check *check, const char *path)
{
    petal_hfile_set *set;
    petal_error error;
    enum petal_status status = petal_hfile_set_new(&set, &error);

    if (status == PETAL_OK)
        status = petal_hfile_set_add(set, path, &error);
    if (status != PETAL_OK)
        tell(check, path, NULL, status, &error);
    for (size_t i = 0; status == PETAL_OK && !check->ended && i < petal_hfile_set_count(set); i++) {
        const char *file = petal_hfile_set_path(set, i);

        /* Two regions may each have half of it. */
        if (i == 0 || strcmp(file, petal_hfile_set_path(set, i - 1)) != 0)
            check_file(check, file);
    }
    petal_hfile_set_free(set);
}

static bool
is_folder(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct check check = {.exit_status = COMMAND_FINE};
    bool json = false;
    const struct command_option options[] = {{.name = "--json", .flag = &json},
                                             {.name = "--quiet", .flag = &check.quiet}};
    const char **places = calloc((size_t)argc + 1, sizeof *places);
    int count;

    if (places == NULL)
        return COMMAND_FAILED;
    count = command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                                   places, 1, argc);
    if (count > 0) {
        print_start(&check.print, stdout, json);
        print_list(&check.print, "files");
    }
    for (int i = 0; i < count && !check.ended; i++) {
        if (is_folder(places[i]))
            check_folder(&check, places[i]);
        else
            check_file(&check, places[i]);
    }
    if (count > 0) {
        print_end(&check.print);
        print_finish(&check.print);
    }
    free(places);
    return count > 0 ? check.exit_status : COMMAND_FAILED;
}

const struct command hfile_check = {
    .name = "check",
    .meaning = "read all of HFiles, and compare all that can be compared",
    .usage = "kv-hfile check [--json] [--quiet] PATH...\n"
             "  a PATH is an HFile, or a folder, whose files are those that import takes\n"
             "  reads everything: checksums, the order of cells, the index, counts and facts,\n"
             "  every key through its Bloom filter, whose chunks are made anew and compared\n"
             "  --json   as one JSON object\n"
             "  --quiet  damage only, no progress\n",
    .run = run,
};
