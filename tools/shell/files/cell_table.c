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

static char
separator_of(enum cell_format format)
{
    return format == CELL_CSV ? ',' : '\t';
}

/* ---- Writing ------------------------------------------------------------------------------------ */

void
cell_write_header(struct text *text, enum cell_format format)
{
    char separator = separator_of(format);

    if (format != CELL_CSV && format != CELL_TSV)
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
put_bytes(char *to, enum cell_format format, petal_slice bytes)
{
    const char *from = bytes.data, *end = bytes.size > 0 ? from + bytes.size : from;

    if (format == CELL_TSV || (!holds(bytes, ',') && !holds(bytes, '"')))
        return cell_put_binary(to, bytes, '\\', '\\', "");
    *to++ = '"';
    while (from < end) {
        const char *quote = memchr(from, '"', (size_t)(end - from));

        if (quote == NULL)
            quote = end;
        to = cell_put_binary(to, (petal_slice){from, (size_t)(quote - from)}, '\\', '\\', "");
        if (quote < end)
            to = cell_put_string(to, "\"\"");
        from = quote + 1;
    }
    *to++ = '"';
    return to;
}

char *
cell_write_table(char *to, enum cell_format format, const petal_cell *cell)
{
    char separator = separator_of(format);

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

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Names have no commas and no quotes of their own, but other programs may put all in quotes. */
static petal_slice
without_quotes(petal_slice name)
{
    const char *letters = name.data;

    if (name.size < 2 || letters[0] != '"' || letters[name.size - 1] != '"')
        return name;
    return (petal_slice){letters + 1, name.size - 2};
}

bool
cell_parser_header(struct cell_parser *parser, petal_slice line)
{
    const char *letters = line.data;
    char separator = separator_of(parser->format);
    unsigned seen = 0;

    if (line.size > 0 && letters[line.size - 1] == '\r')
        line.size--;
    parser->field_count = 0;
    for (size_t at = 0; at <= line.size; at++) {
        const char *end = at < line.size ? memchr(letters + at, separator, line.size - at) : NULL;
        petal_slice typed = {letters + at,
                             (end != NULL ? (size_t)(end - letters) : line.size) - at};
        petal_slice name = parser->format == CELL_CSV ? without_quotes(typed) : typed;
        uint8_t field = 0;

        while (field < CELL_FIELDS && !slice_is(name, names[field]))
            field++;
        if (field == CELL_FIELDS || (seen & 1u << field) != 0)
            return false;
        seen |= 1u << field;
        parser->fields[parser->field_count++] = field;
        at += typed.size;
    }
    return (seen & 1u << FIELD_ROW) != 0 && (seen & 1u << FIELD_FAMILY) != 0 &&
           (seen & 1u << FIELD_VALUE) != 0;
}

/* Behind the opening quote at *at: the letters up to the closing one go to the parser's bytes; *at is left behind it. */
static bool
take_quoted(struct cell_parser *parser, const char **at, const char *end)
{
    for (const char *from = *at + 1;;) {
        const char *quote = memchr(from, '"', (size_t)(end - from));

        if (quote == NULL)
            return false;
        text_add(&parser->bytes, from, (size_t)(quote - from));
        *at = from = quote + 1;
        if (from == end || *from != '"')
            return true;
        text_add(&parser->bytes, "\"", 1);
        from++;
    }
}

/* Read the value at *at, and leave *at at the separator or the end of the line. NULL, or what is wrong. */
static const char *
take_bytes(struct cell_parser *parser, const char **at, const char *end, petal_slice *bytes)
{
    size_t begin = parser->bytes.size;
    char separator = separator_of(parser->format);
    const char *stop;

    if (parser->format == CELL_CSV && *at < end && **at == '"') {
        if (!take_quoted(parser, at, end))
            return "a quote is not closed in its line; a line end in a value is written \\x0A";
        if (*at < end && **at != separator)
            return "a quote is followed by something else than a comma";
    } else {
        stop = *at < end ? memchr(*at, separator, (size_t)(end - *at)) : NULL;
        *bytes = (petal_slice){*at, (size_t)((stop != NULL ? stop : end) - *at)};
        *at += bytes->size;
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
            return "a timestamp is a number of milliseconds, 0 or more";
        break;
    case FIELD_TYPE:
        if (bytes.size > 0 && !cell_type_read(bytes, &cell->type))
            return "a type is Put, Delete, DeleteColumn, DeleteFamily or DeleteFamilyVersion";
        break;
    case FIELD_TTL:
        cell->has_ttl = bytes.size > 0;
        if (cell->has_ttl && !cell_number_read(bytes, &cell->ttl_ms))
            return "a ttl is a number of milliseconds";
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
    const char *at = line.data, *end = at + line.size;

    for (size_t i = 0; i < parser->field_count; i++) {
        const char *begin = at, *wrong;
        petal_slice bytes;

        if (i > 0 && at == end)
            return cell_fail(parser, line, at, "fewer values than the first line has names");
        if (i > 0)
            begin = ++at;
        wrong = take_bytes(parser, &at, end, &bytes);
        if (wrong == NULL)
            wrong = set_field(&parser->cell, parser->fields[i], bytes);
        if (wrong != NULL)
            return cell_fail(parser, line, begin, wrong);
    }
    return at == end ? CELL_GOOD
                     : cell_fail(parser, line, at, "more values than the first line has names");
}
