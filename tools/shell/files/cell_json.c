/* cell_json.c -- cells as JSON objects, one a line.  See tools/shell/files/cell.h. */
#include "tools/shell/files/cell.h"

#include "tools/shell/text/json.h"

#include <string.h>

/* ---- Writing --------------------------------------------------------------------------------- */

char *
cell_write_json(char *to, const petal_cell *cell)
{
    to = cell_put_string(to, "{\"row\":");
    to = json_put_bytes(to, cell->row);
    to = cell_put_string(to, ",\"family\":");
    to = json_put_bytes(to, cell->family);
    to = cell_put_string(to, ",\"qualifier\":");
    to = json_put_bytes(to, cell->qualifier);
    to = cell_put_string(to, ",\"timestamp\":");
    to = cell_put_number(to, cell->timestamp);
    to = cell_put_string(to, ",\"type\":\"");
    to = cell_put_string(to, cell_type_name(cell->type));
    *to++ = '"';
    if (cell->has_ttl) {
        to = cell_put_string(to, ",\"ttl\":");
        to = cell_put_number(to, cell->ttl_ms);
    }
    to = cell_put_string(to, ",\"value\":");
    if (cell->type == PETAL_PUT)
        to = json_put_bytes(to, cell->value);
    else
        to = cell_put_string(to, "null");
    *to++ = '}';
    return to;
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

/* \uHHHH, or two of them for one character; *at is after the u. */
static bool
take_unicode(struct text *text, const char **at, const char *end)
{
    int32_t unit = read_unit(*at, end), low;

    if (unit < 0)
        return false;
    *at += 4;
    if (unit < 0xd800 || unit > 0xdfff) {
        text_add_character(text, (uint32_t)unit);
        return true;
    }
    if (unit > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return false;
    low = read_unit(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return false;
    *at += 6;
    text_add_character(text,
                       0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
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

/* Read a string into *bytes.  NULL, or what is wrong at *at. */
static const char *
take_string(struct cell_parser *parser, const char **at, const char *end, petal_slice *bytes)
{
    size_t begin = parser->bytes.size;
    const char *start;
    bool plain = true;

    if (!take_letter(at, end, '"'))
        return "a string in quotes must stand here";
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
            return "an unknown escape";
    }
    (*at)++;
    *bytes = (petal_slice){parser->bytes.bytes + begin, parser->bytes.size - begin};
    return NULL;
}

/* Read bytes: a string, or {"b64":"..."}. */
static const char *
take_bytes(struct cell_parser *parser, const char **at, const char *end, petal_slice *bytes)
{
    size_t begin = parser->bytes.size, size;
    const char *wrong, *place;
    petal_slice name;

    if (!take_letter(at, end, '{'))
        return take_string(parser, at, end, bytes);
    wrong = take_string(parser, at, end, &name);
    if (wrong != NULL)
        return wrong;
    if (!slice_is(name, "b64"))
        return "bytes are a string in quotes, or {\"b64\":\"...\"}";
    if (!take_letter(at, end, ':'))
        return "a colon must follow a key";
    parser->bytes.size = begin;
    place = *at = skip_blanks(*at, end);
    wrong = take_string(parser, at, end, bytes);
    if (wrong != NULL)
        return wrong;
    /* In place, or after what was kept of the line: no longer than what is read. */
    if (!base64_read(*bytes, parser->bytes.bytes + begin, &size)) {
        *at = place;
        return "this is no base64";
    }
    parser->bytes.size = begin + size;
    *bytes = (petal_slice){parser->bytes.bytes + begin, size};
    return take_letter(at, end, '}') ? NULL : "a } must follow the base64";
}

/* Nothing, in place of a value. */
static bool
take_null(const char **at, const char *end)
{
    const char *begin = skip_blanks(*at, end);

    if (end - begin < 4 || memcmp(begin, "null", 4) != 0)
        return false;
    *at = begin + 4;
    return true;
}

static const char *
take_number(const char **at, const char *end, int64_t *number)
{
    *at = skip_blanks(*at, end);
    return cell_take_number(at, end, number);
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
    const char *wrong = take_bytes(parser, at, end, &column);
    const char *colon;

    if (wrong != NULL)
        return wrong;
    colon = column.size > 0 ? memchr(column.data, ':', column.size) : NULL;
    if (colon == NULL)
        return "the column must be family:qualifier";
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
        return take_bytes(parser, at, end, &cell->row);
    case KEY_COLUMN:
        return take_column(parser, at, end);
    case KEY_FAMILY:
        return take_bytes(parser, at, end, &cell->family);
    case KEY_QUALIFIER:
        return take_bytes(parser, at, end, &cell->qualifier);
    case KEY_TIMESTAMP:
        wrong = take_number(at, end, &cell->timestamp);
        return wrong == NULL && cell->timestamp < 0 ? "the timestamp must be 0 or more" : wrong;
    case KEY_TYPE:
        wrong = take_string(parser, at, end, &name);
        return wrong == NULL && !cell_type_read(name, &cell->type)
                   ? "the type must be Put, Delete, DeleteColumn, DeleteFamily or "
                     "DeleteFamilyVersion"
                   : wrong;
    case KEY_TTL:
        cell->has_ttl = true;
        return take_number(at, end, &cell->ttl_ms);
    case KEY_VALUE:
        return take_null(at, end) ? NULL : take_bytes(parser, at, end, &cell->value);
    case KEYS:
        break;
    }
    return "no cell has a key of this name";
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
        return key == KEYS ? "no cell has a key of this name" : "this key was there before";
    }
    *seen |= 1u << key;
    if (!take_letter(at, end, ':'))
        return "a colon must follow a key";
    return take_value(parser, key, at, end);
}

/* NULL, or what the object lacks. */
static const char *
check_keys(const struct cell_parser *parser, unsigned seen)
{
    bool column = (seen & 1u << KEY_COLUMN) != 0;
    bool family = (seen & 1u << KEY_FAMILY) != 0, qualifier = (seen & 1u << KEY_QUALIFIER) != 0;

    if ((seen & 1u << KEY_ROW) == 0)
        return "the key \"row\" is missing";
    if (column == family || (column && qualifier))
        return "the column is missing: \"column\", or \"family\" and \"qualifier\"";
    if (parser->cell.type == PETAL_PUT && parser->cell.value.data == NULL) /* or it is null */
        return "the key \"value\" is missing";
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
        return cell_fail(parser, line, at, "a line must be a JSON object, which begins with {");
    do {
        wrong = take_pair(parser, &at, end, &seen);
        if (wrong != NULL)
            return cell_fail(parser, line, at, wrong);
    } while (take_letter(&at, end, ','));
    if (!take_letter(&at, end, '}'))
        return cell_fail(parser, line, at, "a comma or } must stand here");
    if (skip_blanks(at, end) != end)
        return cell_fail(parser, line, at, "something follows the object: a line holds one");
    wrong = check_keys(parser, seen);
    return wrong == NULL ? CELL_GOOD : cell_fail(parser, line, line.data, wrong);
}
