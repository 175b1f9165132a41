/* dump.c -- what the dumps of all kinds of files have in common; see dump.h. */
#include "tools/check/dump/dump.h"

#include "tools/shell/text/text.h"

#include <errno.h>
#include <stdlib.h>

void
dump_damage(struct dump *dump, uint64_t offset, uint64_t bytes, const char *what)
{
    dump->damaged = true;
    print_line(dump->print, "damage");
    print_text(dump->print, dump->print->json ? "what" : "", what);
    print_number_once(dump->print, "offset", offset, what);
    if (bytes > 0)
        print_number_once(dump->print, "bytes", bytes, what);
    print_end(dump->print);
}

void
dump_failure(struct dump *dump, const petal_error *error)
{
    bool passes = error->status != PETAL_CORRUPT && error->status != PETAL_UNSUPPORTED &&
                  error->os_error != EIO;

    if (!passes) {
        dump_damage(dump, error->offset, 0, error->text);
        return;
    }
    dump->unread = true;
    print_line(dump->print, "not looked at");
    print_text(dump->print, dump->print->json ? "what" : "", error->text);
    print_end(dump->print);
}

void
dump_cell(struct dump *dump, const struct cell *cell, petal_slice family)
{
    const petal_cell plain = {.row = cell->row,
                              .family = family,
                              .qualifier = cell->qualifier,
                              .value = cell->value,
                              .timestamp = cell->timestamp,
                              .type = cell->type,
                              .has_ttl = cell->has_ttl,
                              .ttl_ms = cell->ttl_ms};

    print_line(dump->print, "cell");
    print_cell(dump->print, &plain, cell_type_name(cell->type));
    print_number(dump->print, "sequence", cell->sequence);
}

bool
dump_wants_row(const struct dump *dump, petal_slice row)
{
    return (!dump->has_from || slices_compare(dump->from, row) <= 0) &&
           (!dump->has_to || slices_compare(row, dump->to) <= 0);
}

uint8_t *
dump_read(struct dump *dump, const char *path, uint64_t offset, uint64_t bytes, size_t *size)
{
    const petal_vfs *vfs = dump->directory->env->vfs;
    uint64_t file_bytes = 0;
    uint8_t *memory = NULL;
    petal_error error;
    petal_file *file;
    int failed = directory_open_file(dump->directory, path, PETAL_FILE_READ, &file);

    if (failed == 0) {
        failed = vfs->size(vfs->context, file, &file_bytes);
        offset = offset < file_bytes ? offset : file_bytes;
        bytes = bytes < file_bytes - offset ? bytes : file_bytes - offset;
        memory = failed == 0 ? malloc((size_t)bytes + 1) : NULL;
        if (failed == 0 && memory == NULL)
            failed = ENOMEM;
        if (failed == 0)
            failed = vfs->read_at(vfs->context, file, offset, memory, (size_t)bytes, size);
        vfs->close(vfs->context, file);
    }
    if (failed == 0)
        return memory;
    free(memory);
    error_io(&error, path, failed, "read");
    dump_failure(dump, &error);
    return NULL;
}
