/* drive.c -- see drive.h. */
#include "tests/hfile/drive.h"

#include "tests/hfile/golden.h"

#include <stdlib.h>
#include <string.h>

#define NAME "the-file"

/* No file that is driven has as many; a scan that goes on after them runs in circles. */
#define MOST_CELLS 2000000u

static void
must(bool holds)
{
    if (!holds)
        abort();
}

/* A refusal says what it is of, and why; memory is the only other thing that may be lacking. */
static bool
is_fine(enum petal_status status, const petal_error *error, struct drive_result *result)
{
    if (status == PETAL_OK)
        return true;
    must(status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED || status == PETAL_NO_MEMORY ||
         status == PETAL_NOT_FOUND);
    must(error->status == status && error->text[0] != '\0');
    must(status == PETAL_NO_MEMORY || strcmp(error->file, NAME) == 0);
    if (result->error.status == PETAL_OK)
        result->error = *error;
    return false;
}

static uint64_t
add_bytes(uint64_t digest, petal_slice bytes)
{
    const uint8_t *from = bytes.data;

    digest = (digest ^ bytes.size) * 0x100000001b3;
    for (size_t i = 0; i < bytes.size; i++)
        digest = (digest ^ from[i]) * 0x100000001b3;
    return digest;
}

static uint64_t
add_cell(uint64_t digest, const petal_hfile_cell *cell)
{
    const petal_slice numbers[] = {{&cell->timestamp, sizeof cell->timestamp},
                                   {&cell->type, sizeof cell->type},
                                   {&cell->sequence, sizeof cell->sequence}};

    digest = add_bytes(digest, cell->row);
    digest = add_bytes(digest, cell->family);
    digest = add_bytes(digest, cell->qualifier);
    digest = add_bytes(digest, cell->value);
    digest = add_bytes(digest, cell->tags);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        digest = add_bytes(digest, numbers[i]);
    return digest;
}

static void
scan(petal_hfile_scanner *scanner, struct drive_result *result)
{
    const petal_hfile_cell *cell;
    petal_error error;

    result->scanned = petal_hfile_scanner_first(scanner, &cell, &error);
    while (is_fine(result->scanned, &error, result) && cell != NULL) {
        must(++result->cells <= MOST_CELLS);
        result->digest = add_cell(result->digest, cell);
        result->scanned = petal_hfile_scanner_next(scanner, &cell, &error);
    }
}

/* Backward; at some cells the cell itself is sought, and the filters are asked for it. */
static void
scan_back_and_ask(petal_hfile *file, petal_hfile_scanner *scanner, petal_hfile_scanner *other,
                  struct drive_result *result)
{
    const petal_hfile_cell *cell, *found;
    petal_error error;
    uint64_t cells = 0;
    bool answer;

    if (!is_fine(petal_hfile_scanner_last(scanner, &cell, &error), &error, result))
        return;
    while (cell != NULL) {
        must(++cells <= MOST_CELLS);
        if (cells % 64 == 1) {
            petal_slice payload, tags = cell->tags;
            int type;

            is_fine(petal_hfile_scanner_seek(other, cell, &found, &error), &error, result);
            is_fine(petal_hfile_scanner_seek_row(other, cell->row, &found, &error), &error, result);
            is_fine(petal_hfile_may_contain(file, cell->row, NULL, &answer, &error), &error,
                    result);
            is_fine(petal_hfile_may_contain(file, cell->row, &cell->qualifier, &answer, &error),
                    &error, result);
            is_fine(petal_hfile_may_contain_delete_family(file, cell->row, &answer, &error), &error,
                    result);
            while (petal_hfile_tag_next(&tags, &type, &payload) > 0)
                must(payload.size < cell->tags.size);
        }
        if (!is_fine(petal_hfile_scanner_previous(scanner, &cell, &error), &error, result))
            return;
    }
}

static bool
see_block(void *argument, const petal_hfile_block *block)
{
    uint64_t *next = argument;

    must(block->offset >= *next);
    *next = block->offset + block->stored_bytes;
    return true;
}

static void
ask_the_rest(petal_hfile *file, struct drive_result *result)
{
    petal_error error;
    petal_slice name;
    uint64_t next = 0;
    void *bytes;
    size_t size;

    is_fine(petal_hfile_blocks(file, see_block, &next, &error), &error, result);
    if (is_fine(petal_hfile_mid_key(file, &bytes, &size, &error), &error, result))
        petal_hfile_release(file, bytes, size);
    for (size_t i = 0; i < 4 && petal_hfile_meta_name(file, i, &name); i++) {
        if (is_fine(petal_hfile_meta_read(file, i, &bytes, &size, &error), &error, result))
            petal_hfile_release(file, bytes, size);
    }
    result->checked = petal_hfile_check(file, NULL, NULL, NULL, &error);
    is_fine(result->checked, &error, result);
}

static void
drive_file(petal_hfile *file, struct drive_result *result)
{
    petal_hfile_scanner *scanner, *other = NULL;
    petal_error error;

    if (is_fine(petal_hfile_scanner_new(file, &scanner, &error), &error, result) &&
        is_fine(petal_hfile_scanner_new(file, &other, &error), &error, result)) {
        scan(scanner, result);
        scan_back_and_ask(file, scanner, other, result);
    }
    petal_hfile_scanner_free(scanner);
    petal_hfile_scanner_free(other);
    ask_the_rest(file, result);
}

struct drive_result
drive_hfile(petal_slice bytes, const petal_allocator *allocator)
{
    const petal_hfile_read_options options = {.allocator = allocator};
    const petal_hfile_read_options facts_only = {.allocator = allocator, .facts_only = true};
    petal_hfile_source source = golden_source(&bytes, NAME);
    struct drive_result result = {.digest = 0xcbf29ce484222325};
    petal_hfile *file;
    petal_error error;

    result.opened = petal_hfile_open_source(&source, &options, &file, &error);
    if (is_fine(result.opened, &error, &result)) {
        drive_file(file, &result);
        petal_hfile_close(file);
    } else {
        must(file == NULL);
        if (petal_hfile_open_source(&source, &facts_only, &file, &error) == PETAL_OK)
            petal_hfile_close(file);
    }
    return result;
}
