/* cell_table.c -- cells in csv and tsv.  See tools/shell/files/cell.h. */
#include "tools/shell/files/cell.h"

#include <string.h>

/* In the order of the first line that is written. */
enum field {
    FIELD_ROW,
    FIELD_FAMILY,
    FIELD_QUALIFIER,
    FIELD_TIMESTAMP,
    FIELD_TYPE,
    FIELD_TTL,
    FIELD_VALUE
};

static const char *const names[CELL_FIELDS] = {"row",  "family", "qualifier", "timestamp",
                                               "type", "ttl",    "value"};

/* ---- Writing --------------------------------------------------------------------------------- */

void
cell_write_header(struct text *text, enum file_format format)
{
    char separator = fields_separator(format);

    if (format != FILE_CSV && format != FILE_TSV)
        return;
    for (size_t i = 0; i < CELL_FIELDS; i++) {
        if (i > 0)
            text_add(text, &separator, 1);
        text_add_string(text, names[i]);
    }
    text_add_string(text, "\n");
}

static bool
holds(petal_slice bytes, char letter)
{
    return bytes.size > 0 && memchr(bytes.data, letter, bytes.size) != NULL;
}

static char *
put_bytes(char *to, enum file_format format, petal_slice bytes)
{
    const char *from = bytes.data, *end = bytes.size > 0 ? from + bytes.size : from;

    if (format == FILE_TSV || (!holds(bytes, ',') && !holds(bytes, '"')))
        return cell_put_binary(to, bytes, '\\', '\\');
    *to++ = '"';
    while (from < end) {
        const char *quote = memchr(from, '"', (size_t)(end - from));

        if (quote == NULL)
            quote = end;
        to = cell_put_binary(to, (petal_slice){from, (size_t)(quote - from)}, '\\', '\\');
        if (quote < end)
            to = cell_put_string(to, "\"\"");
        from = quote + 1;
    }
    *to++ = '"';
    return to;
}

char *
cell_write_table(char *to, enum file_format format, const petal_cell *cell)
{
    char separator = fields_separator(format);

    to = put_bytes(to, format, cell->row);
    *to++ = separator;
    to = put_bytes(to, format, cell->family);
    *to++ = separator;
    to = put_bytes(to, format, cell->qualifier);
    *to++ = separator;
    to = cell_put_number(to, cell->timestamp);
    *to++ = separator;
    to = cell_put_string(to, cell_type_name(cell->type));
    *to++ = separator;
    if (cell->has_ttl)
        to = cell_put_number(to, cell->ttl_ms);
    *to++ = separator;
    return put_bytes(to, format, cell->value);
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool
cell_parser_header(struct cell_parser *parser, petal_slice line)
{
    struct fields values = {line.data, (const char *)line.data + line.size, parser->format};
    unsigned seen = 0;

    if (line.size > 0 && values.end[-1] == '\r')
        values.end--;
    parser->field_count = 0;
    do {
        petal_slice name;
        uint8_t field = 0;

        text_clear(&parser->bytes);
        if (fields_take(&values, &parser->bytes, &name) != FIELDS_GOOD)
            return false;
        if (name.data == NULL) /* names have no quotes, but other programs may put all in quotes */
            name = text_slice(&parser->bytes);
        while (field < CELL_FIELDS && !slice_is(name, names[field]))
            field++;
        if (field == CELL_FIELDS || (seen & 1u << field) != 0)
            return false;
        seen |= 1u << field;
        parser->fields[parser->field_count++] = field;
    } while (fields_next(&values));
    return (seen & 1u << FIELD_ROW) != 0 && (seen & 1u << FIELD_FAMILY) != 0 &&
           (seen & 1u << FIELD_VALUE) != 0;
}

/* Read the next value of the line. NULL, or what is wrong. */
static const char *
take_bytes(struct cell_parser *parser, struct fields *line, petal_slice *bytes)
{
    size_t begin = parser->bytes.size;

    switch (fields_take(line, &parser->bytes, bytes)) {
    case FIELDS_OPEN:
        return "a quote is not closed in its line; a line end in a value is written \\x0A";
    case FIELDS_FOLLOWED:
        return "something else than a comma follows a closing quote";
    case FIELDS_GOOD:
        break;
    }
    if (bytes->data != NULL) {
        if (!holds(*bytes, '\\'))
            return NULL;
        text_add_slice(&parser->bytes, *bytes);
    }
    return cell_undo_binary(parser, begin, bytes)
               ? NULL
               : "a backslash that begins no \\xHH; itself it is written \\x5C";
}

/* NULL, or what is wrong. */
static const char *
set_field(petal_cell *cell, uint8_t field, petal_slice bytes)
{
    switch ((enum field)field) {
    case FIELD_ROW:
        cell->row = bytes;
        break;
    case FIELD_FAMILY:
        cell->family = bytes;
        break;
    case FIELD_QUALIFIER:
        cell->qualifier = bytes;
        break;
    case FIELD_TIMESTAMP:
        if (bytes.size > 0 && (!cell_number_read(bytes, &cell->timestamp) || cell->timestamp < 0))
            return "the timestamp must be a number of milliseconds, 0 or more";
        break;
    case FIELD_TYPE:
        if (bytes.size > 0 && !cell_type_read(bytes, &cell->type))
            return "the type must be Put, Delete, DeleteColumn, DeleteFamily or "
                   "DeleteFamilyVersion";
        break;
    case FIELD_TTL:
        cell->has_ttl = bytes.size > 0;
        if (cell->has_ttl && !cell_number_read(bytes, &cell->ttl_ms))
            return "the ttl must be a number of milliseconds";
        break;
    case FIELD_VALUE:
        cell->value = bytes;
        break;
    }
    return NULL;
}

enum cell_outcome
cell_parse_table(struct cell_parser *parser, petal_slice line)
{
    struct fields values = {line.data, (const char *)line.data + line.size, parser->format};

    for (size_t i = 0; i < parser->field_count; i++) {
        const char *begin, *wrong;
        petal_slice bytes;

        if (i > 0 && !fields_next(&values))
            return cell_fail(parser, line, values.at,
                             "the line has fewer values than the first line has names");
        begin = values.at;
        wrong = take_bytes(parser, &values, &bytes);
        if (wrong == NULL)
            wrong = set_field(&parser->cell, parser->fields[i], bytes);
        if (wrong != NULL)
            return cell_fail(parser, line, begin, wrong);
    }
    return values.at == values.end
               ? CELL_GOOD
               : cell_fail(parser, line, values.at,
                           "the line has more values than the first line has names");
}
