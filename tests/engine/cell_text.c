/* cell_text.c -- see tests/engine/cell_text.h. */
#include "tests/engine/cell_text.h"

#include "base/coding.h"
#include "base/slice.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

petal_slice
cell_text_bytes(const char **from, const char *ends, char **to)
{
    petal_slice bytes = {*to, 0};

    for (; **from != '\0' && strchr(ends, **from) == NULL; (*from)++) {
        char byte = **from;

        if (byte == '\\') {
            byte = (char)strtol((char[]){(*from)[1], (*from)[2], '\0'}, NULL, 16);
            *from += 2;
        }
        *(*to)++ = byte;
        bytes.size++;
    }
    return bytes;
}

static petal_slice
take_number(const char **from, char **to)
{
    petal_slice bytes = {*to, 8};
    char *end;

    put_be64((uint8_t *)*to, (uint64_t)strtoll(*from + 1, &end, 10));
    *from = end;
    *to += 8;
    return bytes;
}

bool
cell_text_parse(const char *word, struct cell_text *parsed)
{
    const char *at = word;
    char *to = parsed->bytes, *end;

    parsed->cell = (petal_cell){.timestamp = PETAL_LATEST, .type = PETAL_PUT};
    parsed->cell.row = cell_text_bytes(&at, "/", &to);
    if (*at++ != '/')
        return false;
    parsed->cell.family = cell_text_bytes(&at, ":@=!", &to);
    if (*at == ':') {
        at++;
        parsed->cell.qualifier = cell_text_bytes(&at, "@=!", &to);
    }
    parsed->timed = *at == '@';
    if (parsed->timed) {
        parsed->cell.timestamp = strtoll(at + 1, &end, 10);
        at = end;
    }
    if (*at == '!') {
        parsed->cell.type = (enum petal_cell_type)strtol(at + 1, &end, 10);
        at = end;
    } else if (*at == '=') {
        at++;
        parsed->cell.value = *at == '#' ? take_number(&at, &to) : cell_text_bytes(&at, "~", &to);
    }
    parsed->cell.has_ttl = *at == '~';
    if (parsed->cell.has_ttl) {
        parsed->cell.ttl_ms = strtoll(at + 1, &end, 10);
        at = end;
    }
    return *at == '\0';
}

static void
add_bytes(char **to, petal_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = slice_bytes(bytes)[i];

        *to += sprintf(*to, byte > 0x20 && byte < 0x7f ? "%c" : "\\%02x", byte);
    }
}

const char *
cell_text_of(const petal_cell *cell)
{
    static char texts[4][CELL_TEXT_BYTES];
    static unsigned turn;
    char *line = texts[turn++ % 4], *to = line;

    assert_true(4 * (cell->row.size + cell->qualifier.size + cell->value.size) + 100 <
                CELL_TEXT_BYTES);
    add_bytes(&to, cell->row);
    *to++ = '/';
    add_bytes(&to, cell->family);
    if (cell->qualifier.size > 0)
        *to++ = ':';
    add_bytes(&to, cell->qualifier);
    to += sprintf(to, "@%" PRId64, cell->timestamp);
    if (cell->type != PETAL_PUT) {
        sprintf(to, "!%d", (int)cell->type);
        return line;
    }
    *to++ = '=';
    if (cell->value.size == 8 && (slice_bytes(cell->value)[0] + 1) % 256 < 2)
        to += sprintf(to, "#%" PRId64, (int64_t)get_be64(slice_bytes(cell->value)));
    else
        add_bytes(&to, cell->value);
    if (cell->has_ttl)
        to += sprintf(to, "~%" PRId64, cell->ttl_ms);
    *to = '\0';
    return line;
}

bool
cell_text_is(const petal_cell *cell, const char *word)
{
    struct cell_text wanted;

    if (!cell_text_parse(word, &wanted))
        return false;
    if (!wanted.timed)
        wanted.cell.timestamp = cell->timestamp;
    return slice_equal(cell->row, wanted.cell.row) &&
           slice_equal(cell->family, wanted.cell.family) &&
           slice_equal(cell->qualifier, wanted.cell.qualifier) &&
           cell->timestamp == wanted.cell.timestamp && cell->type == wanted.cell.type &&
           slice_equal(cell->value, wanted.cell.value) && cell->has_ttl == wanted.cell.has_ttl &&
           cell->ttl_ms == wanted.cell.ttl_ms;
}
