/* cell_json.c -- cells as JSON objects, one a line.  See tools/shell/files/cell.h. */
#include "tools/shell/files/cell.h"

#include <string.h>

/* ---- Writing --------------------------------------------------------------------------------- */

/* The bytes as a piece of a JSON string. */
static char *
put_bytes(char *to, petal_slice bytes)
{
    const char *from = bytes.data, *end = bytes.size > 0 ? from + bytes.size : from;

    while (from < end) {
        const char *quote = memchr(from, '"', (size_t)(end - from));

        if (quote == NULL)
            quote = end;
        to = cell_put_binary(to, (petal_slice){from, (size_t)(quote - from)}, '\\', '\\', "\\");
        if (quote < end)
            to = cell_put_string(to, "\\\"");
        from = quote + 1;
    }
    return to;
}

char *
cell_write_json(char *to, const petal_cell *cell)
{
    to = cell_put_string(to, "{\"row\":\"");
    to = put_bytes(to, cell->row);
    to = cell_put_string(to, "\",\"column\":\"");
    to = put_bytes(to, cell->family);
    *to++ = ':';
    to = put_bytes(to, cell->qualifier);
    to = cell_put_string(to, "\",\"timestamp\":");
    to = cell_put_number(to, cell->timestamp);
    if (cell->has_ttl) {
        to = cell_put_string(to, ",\"ttl\":");
        to = cell_put_number(to, cell->ttl_ms);
    }
    if (cell->type != PETAL_PUT) {
        to = cell_put_string(to, ",\"type\":\"");
        to = cell_put_string(to, cell_type_name(cell->type));
        return cell_put_string(to, "\"}");
    }
    to = cell_put_string(to, ",\"value\":\"");
    to = put_bytes(to, cell->value);
    return cell_put_string(to, "\"}");
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char *
skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static bool
take_letter(const char **at, const char *end, char letter)
{
    *at = skip_blanks(*at, end);
    if (*at == end || **at != letter)
        return false;
    (*at)++;
    return true;
}

/* The four hex digits at `at`, or -1. */
static int32_t
read_unit(const char *at, const char *end)
{
    int32_t unit = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = text_hex_digit(at[i]);

        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static void
add_character(struct text *text, uint32_t code)
{
    char bytes[4];
    size_t size = 0;

    if (code < 0x80) {
        bytes[size++] = (char)code;
    } else if (code < 0x800) {
        bytes[size++] = (char)(0xc0 | code >> 6);
        bytes[size++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        bytes[size++] = (char)(0xe0 | code >> 12);
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (code & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | code >> 18);
        bytes[size++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (code & 0x3f));
    }
    text_add(text, bytes, size);
}

/* \uHHHH, or two of them for one character; *at is behind the u. */
static bool
take_unicode(struct text *text, const char **at, const char *end)
{
    int32_t unit = read_unit(*at, end), low;

    if (unit < 0)
        return false;
    *at += 4;
    if (unit < 0xd800 || unit > 0xdfff) {
        add_character(text, (uint32_t)unit);
        return true;
    }
    if (unit > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    low = read_unit(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return false;
    *at += 6;
    add_character(text, 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
    return true;
}

/* A backslash is at *at: what it and what follows mean goes to the text. */
static bool
take_escape(struct text *text, const char **at, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (end - *at < 2)
        return false;
    *at += 2;
    if ((*at)[-1] == 'u')
        return take_unicode(text, at, end);
    found = memchr(letters, (*at)[-1], sizeof(letters) - 1);
    if (found == NULL)
        return false;
    text_add(text, &meanings[found - letters], 1);
    return true;
}

/* Read a string into *bytes: JSON's escapes, then \xHH.  NULL, or what is wrong at *at. */
static const char *
take_string(struct cell_parser *parser, const char **at, const char *end, petal_slice *bytes)
{
    size_t begin = parser->bytes.size;
    const char *start;
    bool plain = true;

    if (!take_letter(at, end, '"'))
        return "a string in quotes is wanted";
    for (start = *at;; *at = start) {
        while (start < end && *start != '"' && *start != '\\' && (unsigned char)*start >= 0x20)
            start++;
        if (start == end || (unsigned char)*start < 0x20) {
            *at = start;
            return start == end ? "the line ends inside a string"
                                : "a control character in a string";
        }
        if (*start == '"' && plain) {
            *bytes = (petal_slice){*at, (size_t)(start - *at)};
            *at = start + 1;
            return NULL;
        }
        text_add(&parser->bytes, *at, (size_t)(start - *at));
        *at = start;
        if (*start == '"')
            break;
        plain = false;
        if (!take_escape(&parser->bytes, &start, end))
            return "an unknown escape; a byte is written \\\\xHH, a backslash \\\\x5C";
    }
    (*at)++;
    return cell_undo_binary(parser, begin, bytes)
               ? NULL
               : "a backslash that begins no \\\\xHH; itself it is written \\\\x5C";
}

static const char *
take_number(const char **at, const char *end, int64_t *number)
{
    const char *begin = *at = skip_blanks(*at, end);

    while (*at < end && ((**at >= '0' && **at <= '9') || **at == '-'))
        (*at)++;
    return cell_number_read((petal_slice){begin, (size_t)(*at - begin)}, number)
               ? NULL
               : "a whole number is wanted";
}

enum key {
    KEY_ROW,
    KEY_COLUMN,
    KEY_FAMILY,
    KEY_QUALIFIER,
    KEY_TIMESTAMP,
    KEY_TYPE,
    KEY_TTL,
    KEY_VALUE,
    KEYS
};

static const char *const keys[KEYS] = {"row",       "column", "family", "qualifier",
                                       "timestamp", "type",   "ttl",    "value"};

static const char *
take_column(struct cell_parser *parser, const char **at, const char *end)
{
    petal_cell *cell = &parser->cell;
    petal_slice column;
    const char *wrong = take_string(parser, at, end, &column);
    const char *colon;

    if (wrong != NULL)
        return wrong;
    colon = column.size > 0 ? memchr(column.data, ':', column.size) : NULL;
    if (colon == NULL)
        return "a column is family:qualifier";
    cell->family = (petal_slice){column.data, (size_t)(colon - (const char *)column.data)};
    cell->qualifier = (petal_slice){colon + 1, column.size - cell->family.size - 1};
    return NULL;
}

/* Read the value of a key into the cell.  NULL, or what is wrong. */
static const char *
take_value(struct cell_parser *parser, size_t key, const char **at, const char *end)
{
    petal_cell *cell = &parser->cell;
    const char *wrong;
    petal_slice name;

    switch ((enum key)key) {
    case KEY_ROW:
        return take_string(parser, at, end, &cell->row);
    case KEY_COLUMN:
        return take_column(parser, at, end);
    case KEY_FAMILY:
        return take_string(parser, at, end, &cell->family);
    case KEY_QUALIFIER:
        return take_string(parser, at, end, &cell->qualifier);
    case KEY_TIMESTAMP:
        wrong = take_number(at, end, &cell->timestamp);
        return wrong == NULL && cell->timestamp < 0 ? "a timestamp is 0 or more" : wrong;
    case KEY_TYPE:
        wrong = take_string(parser, at, end, &name);
        return wrong == NULL && !cell_type_read(name, &cell->type)
                   ? "a type is Put, Delete, DeleteColumn, DeleteFamily or DeleteFamilyVersion"
                   : wrong;
    case KEY_TTL:
        cell->has_ttl = true;
        return take_number(at, end, &cell->ttl_ms);
    case KEY_VALUE:
        return take_string(parser, at, end, &cell->value);
    case KEYS:
        break;
    }
    return "a key that no cell has";
}

/* Read one pair; *seen tells which keys there were.  NULL, or what is wrong at *at. */
static const char *
take_pair(struct cell_parser *parser, const char **at, const char *end, unsigned *seen)
{
    const char *begin = *at = skip_blanks(*at, end);
    const char *wrong;
    petal_slice name;
    size_t key = 0;

    wrong = take_string(parser, at, end, &name);
    if (wrong != NULL)
        return wrong;
    while (key < KEYS && !slice_is(name, keys[key]))
        key++;
    if (key == KEYS || (*seen & 1u << key) != 0) {
        *at = begin;
        return key == KEYS ? "a key that no cell has" : "a key that was there before";
    }
    *seen |= 1u << key;
    if (!take_letter(at, end, ':'))
        return "a colon is wanted behind a key";
    return take_value(parser, key, at, end);
}

/* NULL, or what the object lacks. */
static const char *
check_keys(const struct cell_parser *parser, unsigned seen)
{
    bool column = (seen & 1u << KEY_COLUMN) != 0;
    bool family = (seen & 1u << KEY_FAMILY) != 0, qualifier = (seen & 1u << KEY_QUALIFIER) != 0;

    if ((seen & 1u << KEY_ROW) == 0)
        return "no \"row\"";
    if (column == family || (column && qualifier))
        return "\"column\" is wanted, or \"family\" and \"qualifier\"";
    if (parser->cell.type == PETAL_PUT && (seen & 1u << KEY_VALUE) == 0)
        return "no \"value\"";
    return NULL;
}

enum cell_outcome
cell_parse_json(struct cell_parser *parser, petal_slice line)
{
    const char *at = line.data, *end = at + line.size, *wrong;
    unsigned seen = 0;

    if (skip_blanks(at, end) == end)
        return CELL_NONE;
    if (!take_letter(&at, end, '{'))
        return cell_fail(parser, line, at, "an object, which begins with {, is wanted");
    do {
        wrong = take_pair(parser, &at, end, &seen);
        if (wrong != NULL)
            return cell_fail(parser, line, at, wrong);
    } while (take_letter(&at, end, ','));
    if (!take_letter(&at, end, '}'))
        return cell_fail(parser, line, at, "a comma or } is wanted");
    if (skip_blanks(at, end) != end)
        return cell_fail(parser, line, at, "one line holds one object");
    wrong = check_keys(parser, seen);
    return wrong == NULL ? CELL_GOOD : cell_fail(parser, line, line.data, wrong);
}
