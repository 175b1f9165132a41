/* cell.c -- what the formats have in common.  See tools/shell/files/cell.h. */
#include "tools/shell/files/cell.h"

#include <string.h>

enum {
    GREATEST_ESCAPE = 6, /* bytes that one may become: \u0000 */
    OVERHEAD = 256,      /* of a line: names, numbers, quotes */
    PLAIN_STEP = 16      /* bytes looked at together */
};

void
cell_write(struct text *text, enum file_format format, petal_slice table, const petal_cell *cell)
{
    size_t size = cell->row.size + cell->family.size + cell->qualifier.size + cell->value.size;
    char *end = NULL;

    text_reserve(text, GREATEST_ESCAPE * (size + table.size) + OVERHEAD);
    end = text->bytes + text->size;
    switch (format) {
    case FILE_CSV:
    case FILE_TSV:
        end = cell_write_table(end, format, cell);
        break;
    case FILE_JSON:
        end = cell_write_json(end, cell);
        break;
    case FILE_HBASE:
        end = cell_write_hbase(end, table, cell);
        break;
    }
    *end++ = '\n';
    *end = '\0';
    text->size = (size_t)(end - text->bytes);
}

enum cell_outcome
cell_parse(struct cell_parser *parser, petal_slice line)
{
    const char *letters = line.data;

    if (line.size > 0 && letters[line.size - 1] == '\r')
        line.size--;
    if (line.size == 0)
        return CELL_NONE;
    parser->cell = (petal_cell){.timestamp = PETAL_LATEST, .type = PETAL_PUT};
    text_clear(&parser->bytes);
    text_reserve(&parser->bytes, line.size);
    switch (parser->format) {
    case FILE_CSV:
    case FILE_TSV:
        break;
    case FILE_JSON:
        return cell_parse_json(parser, line);
    case FILE_HBASE:
        return cell_parse_hbase(parser, line);
    }
    return cell_parse_table(parser, line);
}

void
cell_parser_free(struct cell_parser *parser)
{
    text_free(&parser->bytes);
}

const char *
cell_check(const petal_cell *cell)
{
    if (cell->row.size == 0 || cell->row.size > PETAL_MAX_ROW_BYTES)
        return cell->row.size == 0 ? "the row is empty" : "the row is too long";
    if (cell->qualifier.size > PETAL_MAX_QUALIFIER_BYTES)
        return "the qualifier is too long";
    if (cell->value.size > PETAL_MAX_VALUE_BYTES)
        return "the value is too long";
    if (cell->type != PETAL_PUT && cell->value.size > 0)
        return "a deletion must have no value";
    if ((cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION) &&
        cell->qualifier.size > 0)
        return "a deletion of a family must have no qualifier";
    return NULL;
}

enum cell_outcome
cell_fail(struct cell_parser *parser, petal_slice line, const char *at, const char *message)
{
    parser->message = message;
    parser->place = (size_t)(at - (const char *)line.data) + 1;
    return CELL_BAD;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Do so many bytes all stand for themselves?  A loop without a way out, which the compiler makes
 * into few wide steps. */
static bool
are_plain(const char *bytes, char first, char second)
{
    uint8_t others = 0;

    for (int i = 0; i < PLAIN_STEP; i++) {
        uint8_t byte = (uint8_t)bytes[i];

        others |= (uint8_t)((uint8_t)(byte - 0x20) > 0x5e) | (uint8_t)(bytes[i] == '\\') |
                  (uint8_t)(bytes[i] == first) | (uint8_t)(bytes[i] == second);
    }
    return others == 0;
}

char *
cell_put_binary(char *to, petal_slice bytes, char first, char second)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *from = bytes.data;

    for (const char *end = bytes.size > 0 ? from + bytes.size : from; from < end; from++) {
        unsigned char byte;

        while (end - from >= PLAIN_STEP && are_plain(from, first, second)) {
            memcpy(to, from, PLAIN_STEP);
            from += PLAIN_STEP;
            to += PLAIN_STEP;
        }
        if (from == end)
            break;
        byte = (unsigned char)*from;
        if (byte >= 0x20 && byte <= 0x7e && byte != '\\' && *from != first && *from != second) {
            *to++ = *from;
            continue;
        }
        *to++ = '\\';
        *to++ = 'x';
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    return to;
}

char *
cell_put_string(char *to, const char *string)
{
    while (*string != '\0')
        *to++ = *string++;
    return to;
}

char *
cell_put_number(char *to, int64_t number)
{
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char digits[20];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *to++ = '-';
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

bool
cell_number_read(petal_slice digits, int64_t *number)
{
    const char *digit = digits.data;
    bool negative = digits.size > 0 && *digit == '-';
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX, sum = 0;

    if (digits.size == negative)
        return false;
    for (size_t i = negative; i < digits.size; i++) {
        unsigned value = (unsigned)(digit[i] - '0');

        if (value > 9 || sum > (limit - value) / 10)
            return false;
        sum = 10 * sum + value;
    }
    *number = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

const char *
cell_take_number(const char **at, const char *end, int64_t *number)
{
    const char *begin = *at;

    while (*at < end && ((**at >= '0' && **at <= '9') || **at == '-'))
        (*at)++;
    return cell_number_read((petal_slice){begin, (size_t)(*at - begin)}, number)
               ? NULL
               : "a whole number must stand here";
}

bool
cell_undo_binary(struct cell_parser *parser, size_t begin, petal_slice *bytes)
{
    char *to = parser->bytes.bytes + begin;
    const char *from = to, *end = parser->bytes.bytes + parser->bytes.size;

    bytes->data = to;
    while (from < end) {
        int byte;

        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        if (end - from < 4 || from[1] != 'x' || (byte = text_hex_byte(from + 2)) < 0)
            return false;
        *to++ = (char)byte;
        from += 4;
    }
    bytes->size = (size_t)(to - (const char *)bytes->data);
    parser->bytes.size = begin + bytes->size;
    return true;
}
