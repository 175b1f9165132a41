/*
 * cell.c -- any bytes as a line of a file to import, in each format: refused with a place inside of
 * the line, or a cell that comes back the same when it is written in every format and read again.
 * The first byte chooses the format and whether the first line is taken as a head.
 */
#include "tools/shell/files/cell.h"
#include "tools/shell/text/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
begin(struct cell_parser *parser, enum file_format format)
{
    struct text head = {0};

    *parser = (struct cell_parser){.format = format};
    cell_write_header(&head, format);
    if (head.size > 0 && !cell_parser_header(parser, (petal_slice){head.bytes, head.size - 1}))
        abort();
    text_free(&head);
}

static bool
family_kind(enum petal_cell_type type)
{
    return type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION;
}

static void
expect_same(const petal_cell *a, const petal_cell *b)
{
    if (!slices_equal(a->row, b->row) || !slices_equal(a->family, b->family) ||
        !slices_equal(a->qualifier, b->qualifier) || !slices_equal(a->value, b->value) ||
        a->timestamp != b->timestamp || a->type != b->type || a->has_ttl != b->has_ttl ||
        a->ttl_ms != b->ttl_ms)
        abort();
}

/* Cells that no store takes need not come back. */
static void
write_and_read(const petal_cell *cell)
{
    if (cell->row.size == 0 || cell->family.size == 0 || cell->timestamp == PETAL_LATEST ||
        memchr(cell->family.data, ':', cell->family.size) != NULL ||
        (cell->type != PETAL_PUT && cell->value.size > 0) ||
        (family_kind(cell->type) && cell->qualifier.size > 0))
        return;
    for (int format = FILE_CSV; format <= FILE_HBASE; format++) {
        struct cell_parser parser;
        struct text line = {0};

        begin(&parser, (enum file_format)format);
        cell_write(&line, parser.format, slice_of_string("t"), cell);
        for (size_t i = 0; i + 1 < line.size; i++)
            if ((unsigned char)line.bytes[i] < 0x20 && line.bytes[i] != '\t')
                abort();
            else if ((unsigned char)line.bytes[i] > 0x7e && format != FILE_JSON)
                abort();
        if (!text_is_utf8(text_slice(&line)))
            abort();
        if (cell_parse(&parser, (petal_slice){line.bytes, line.size - 1}) != CELL_GOOD)
            abort();
        expect_same(cell, &parser.cell);
        cell_parser_free(&parser);
        text_free(&line);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *at = (const char *)bytes + 1, *end = (const char *)bytes + size;
    struct cell_parser parser;

    if (size == 0)
        return 0;
    begin(&parser, (enum file_format)(bytes[0] % 4));
    for (bool first = true; at < end; first = false) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        petal_slice line = {at, (size_t)((stop != NULL ? stop : end) - at)};
        bool head = first && parser.format <= FILE_TSV && bytes[0] >= 128;

        if (head && !cell_parser_header(&parser, line))
            break;
        switch (head ? CELL_NONE : cell_parse(&parser, line)) {
        case CELL_GOOD:
            write_and_read(&parser.cell);
            break;
        case CELL_BAD:
            if (parser.place == 0 || parser.place > line.size + 1 || parser.message == NULL)
                abort();
            break;
        case CELL_NONE:
            break;
        }
        at += line.size + (stop != NULL);
    }
    cell_parser_free(&parser);
    return 0;
}
