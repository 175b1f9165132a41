/* fault.c -- see fault.h. */
#include "tools/check/fault.h"

bool
fault_take_arguments(struct fault_watch *watch, const struct command *command, int argc,
                     char **argv, const char **places, int place_count)
{
    const struct command_option options[] = {{.name = "--json", .flag = &watch->json},
                                             {.name = "--quiet", .flag = &watch->quiet}};

    return command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                                  places, place_count, place_count) == place_count;
}

/* Where it is, and what it concerns. */
static void
print_place(struct print *print, const petal_fault *fault)
{
    if (print->json)
        print_text(print, "file", fault->error->file);
    if (fault->error->offset > 0 || fault->bytes > 0)
        print_number_once(print, "offset", fault->error->offset, fault->error->text);
    if (fault->bytes > 0)
        print_number_once(print, "bytes", fault->bytes, fault->error->text);
    if (fault->table.size > 0)
        print_bytes(print, fault->of_snapshot ? "snapshot" : "table", fault->table);
    if (fault->family.size > 0)
        print_bytes(print, "family", fault->family);
    if (fault->has_row_from)
        print_bytes(print, "from row", fault->row_from);
    if (fault->has_row_to)
        print_bytes(print, "to row", fault->row_to);
    else if (fault->has_row_from && !print->json)
        print_text(print, "to the", "end");
}

void
fault_print(void *argument, const petal_fault *fault)
{
    struct fault_watch *watch = argument;
    struct print *print = watch->print;

    watch->unread += fault->unread;
    if (fault->harmless && watch->quiet)
        return;
    progress_hide(&watch->watch.progress);
    print_line(print, fault->unread ? "not looked at" : fault->harmless ? "note" : "fault");
    print_text(print, print->json ? "what" : "", fault->error->text);
    print_place(print, fault);
    print_end(print);
    (void)fflush(print->out);
}

bool
fault_go_on(void *argument, uint64_t done, uint64_t total)
{
    struct fault_watch *watch = argument;

    return watch_go_on(&watch->watch, done, total);
}

void
fault_print_counts(struct print *print, const petal_check_counts *counts)
{
    print_line(print, "counts");
    print_number(print, "tables", counts->tables);
    print_number(print, "snapshots", counts->snapshots);
    print_number(print, "families", counts->families);
    print_number(print, "store files", counts->store_files);
    print_number(print, "data blocks", counts->data_blocks);
    print_number(print, "cells", counts->cells);
    print_number(print, "logs", counts->logs);
    print_number(print, "log records", counts->log_records);
    print_number(print, "log cells", counts->log_cells);
    print_number(print, "bytes", counts->bytes);
    print_number(print, "faults", counts->faults);
    print_number(print, "harmless", counts->harmless);
    print_end(print);
}
