/* cell.c -- see cell.h. */
#include "base/cell.h"

#include "base/coding.h"
#include "base/inline.h"

#include <assert.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    ESCAPE = 0x00,
    ESCAPED_ZERO = 0xff,
    END_OF_QUALIFIER = 0x01,
    CLASS_FAMILY = 0x01,
    CLASS_COLUMN = 0x02
};

static int
compare_version(int64_t time_a, uint64_t sequence_a, int64_t time_b, uint64_t sequence_b)
{
    if (time_a != time_b)
        return time_a > time_b ? -1 : 1;
    if (sequence_a != sequence_b)
        return sequence_a > sequence_b ? -1 : 1;
    return 0;
}

int
cell_compare(const struct cell *a, const struct cell *b)
{
    bool family_a = cell_is_family_marker(a->type);
    bool family_b = cell_is_family_marker(b->type);
    int order = slice_compare(a->row, b->row);

    if (order != 0)
        return order;
    if (family_a != family_b)
        return family_a ? -1 : 1;
    order = slice_compare(a->qualifier, b->qualifier);
    if (order != 0)
        return order;
    return compare_version(a->timestamp, a->sequence, b->timestamp, b->sequence);
}

int
cell_compare_key(const struct cell *cell, const struct cell_key *key)
{
    bool family = cell_is_family_marker(cell->type);
    int order = slice_compare(cell->row, key->row);

    if (order != 0)
        return order;
    if (family != key->family_class)
        return family ? -1 : 1;
    order = slice_compare(cell->qualifier, key->qualifier);
    if (order != 0)
        return order;
    return compare_version(cell->timestamp, cell->sequence, key->timestamp, key->sequence);
}

/* Eight zero bytes, escaped. */
static const uint8_t escaped_zeros[16] = {
    ESCAPE, ESCAPED_ZERO, ESCAPE, ESCAPED_ZERO, ESCAPE, ESCAPED_ZERO, ESCAPE, ESCAPED_ZERO,
    ESCAPE, ESCAPED_ZERO, ESCAPE, ESCAPED_ZERO, ESCAPE, ESCAPED_ZERO, ESCAPE, ESCAPED_ZERO};

static bool
has_zero_byte(uint64_t word)
{
    return ((word - 0x0101010101010101u) & ~word & 0x8080808080808080u) != 0;
}

/* Escape `count` bytes one by one. */
static uint8_t *
escape_bytes(uint8_t *to, const uint8_t *from, size_t count)
{
    for (; count > 0; count--) {
        *to++ = *from;
        if (*from++ == ESCAPE)
            *to++ = ESCAPED_ZERO;
    }
    return to;
}

/* The same for eight of which some are zero: rows of numbers have long runs of zeros. */
static NEVER_INLINE uint8_t *
escape_word(uint8_t *to, const uint8_t *from)
{
    uint64_t word;

    memcpy(&word, from, 8);
    if (word != 0)
        return escape_bytes(to, from, 8);
    memcpy(to, escaped_zeros, 16);
    return to + 16;
}

static inline uint8_t *
escape(uint8_t *to, petal_slice bytes)
{
    const uint8_t *from = bytes.data;
    size_t left = bytes.size;
    uint64_t word;

#if defined(__SSE2__)
    for (; left >= 16; left -= 16, from += 16, to += 16) {
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(const void *)from);

        if (_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_setzero_si128())) != 0)
            break;
        _mm_storeu_si128((__m128i *)(void *)to, sixteen);
    }
#endif
    for (; left >= 8; left -= 8, from += 8) {
        memcpy(&word, from, 8);
        if (has_zero_byte(word)) {
            to = escape_word(to, from);
            continue;
        }
        memcpy(to, &word, 8);
        to += 8;
    }
    if (left == 0)
        return to;
    if (bytes.size >= 8) {
        /* The last eight bytes; some of them stand there already, as they are. */
        memcpy(&word, from + left - 8, 8);
        if (!has_zero_byte(word)) {
            memcpy(to + left - 8, &word, 8);
            return to + left;
        }
    }
    return escape_bytes(to, from, left);
}

/* Not inlined: a pair has none. */
static NEVER_INLINE uint8_t *
escape_qualifier(uint8_t *to, petal_slice qualifier)
{
    return escape(to, qualifier);
}

/* What follows the row in a key; `to` is where the row ends.  Returns where the key ends, and what
 * is its family or column prefix. */
static inline uint8_t *
encode_behind_row(uint8_t *to, petal_slice qualifier, bool family_class, int64_t timestamp,
                  uint64_t sequence, uint8_t **column_end)
{
    *to++ = family_class ? CLASS_FAMILY : CLASS_COLUMN;
    *column_end = to;
    if (!family_class) {
        if (qualifier.size > 0)
            to = escape_qualifier(to, qualifier);
        *to++ = ESCAPE;
        *column_end = to;
        *to++ = END_OF_QUALIFIER;
    }
    put_be64(to, ~((uint64_t)timestamp ^ ((uint64_t)1 << 63)));
    put_be64(to + 8, ~sequence);
    return to + CELL_KEY_SUFFIX_BYTES;
}

static inline void
finish_key(struct cell_key *key, uint8_t *buffer, uint8_t *to, petal_slice row,
           petal_slice qualifier, bool family_class, int64_t timestamp, uint64_t sequence)
{
    uint8_t *column_end;

    key->row_prefix = (size_t)(to - buffer);
    to = encode_behind_row(to, qualifier, family_class, timestamp, sequence, &column_end);
    key->column_prefix = (size_t)(column_end - buffer);
    key->encoded = slice_make(buffer, (size_t)(to - buffer));
    key->row = row;
    key->qualifier = family_class ? slice_make(NULL, 0) : qualifier;
    key->timestamp = timestamp;
    key->sequence = sequence;
    key->family_class = family_class;
}

static inline uint8_t *
encode_row(uint8_t *buffer, petal_slice row)
{
    uint8_t *to = escape(buffer, row);

    assert(row.size > 0);
    *to = ESCAPE;
    return to + 1;
}

void
cell_key_make(struct cell_key *key, uint8_t *buffer, petal_slice row, petal_slice qualifier,
              bool family_class, int64_t timestamp, uint64_t sequence)
{
    finish_key(key, buffer, encode_row(buffer, row), row, qualifier, family_class, timestamp,
               sequence);
    assert(key->encoded.size <= cell_key_bound(row.size, qualifier.size));
}

size_t
cell_key_encode(uint8_t *buffer, const struct cell *cell, size_t *row_prefix)
{
    uint8_t *row_end = encode_row(buffer, cell->row), *column_end;
    uint8_t *end = encode_behind_row(row_end, cell->qualifier, cell_is_family_marker(cell->type),
                                     cell->timestamp, cell->sequence, &column_end);

    *row_prefix = (size_t)(row_end - buffer);
    assert((size_t)(end - buffer) <= cell_key_bound(cell->row.size, cell->qualifier.size));
    return (size_t)(end - buffer);
}

void
cell_key_of_column(struct cell_key *key, uint8_t *buffer, const struct cell_key *row_key,
                   petal_slice qualifier)
{
    assert(row_key->row_prefix > 0 && row_key->row_prefix <= row_key->encoded.size);
    memcpy(buffer, row_key->encoded.data, row_key->row_prefix);
    finish_key(key, buffer, buffer + row_key->row_prefix, row_key->row, qualifier, false, INT64_MAX,
               CELL_SEQUENCE_MAX);
}

void
cell_key_of(struct cell_key *key, uint8_t *buffer, const struct cell *cell)
{
    cell_key_make(key, buffer, cell->row, cell->qualifier, cell_is_family_marker(cell->type),
                  cell->timestamp, cell->sequence);
}

/* After a row's or column's prefix stands a class below it, and FF where the row or qualifier goes
 * on with 00. */
#define BEHIND_THE_GROUP 0x80

size_t
cell_row_end(uint8_t *buffer, petal_slice row)
{
    uint8_t *to = escape(buffer, row);

    assert(row.size > 0);
    *to++ = ESCAPE;
    *to++ = BEHIND_THE_GROUP;
    return (size_t)(to - buffer);
}

size_t
cell_column_end(uint8_t *buffer, petal_slice row, petal_slice qualifier)
{
    uint8_t *to = escape(buffer, row);

    assert(row.size > 0);
    *to++ = ESCAPE;
    *to++ = CLASS_COLUMN;
    if (qualifier.size > 0)
        to = escape(to, qualifier);
    *to++ = ESCAPE;
    *to++ = BEHIND_THE_GROUP;
    return (size_t)(to - buffer);
}

/* Undo escape() up to the terminating 00; return the byte after that 00, NULL if there is none. */
static const uint8_t *
unescape(const uint8_t *from, const uint8_t *end, uint8_t **scratch, petal_slice *bytes)
{
    const uint8_t *start = from;
    const uint8_t *zero = memchr(from, ESCAPE, (size_t)(end - from));
    uint8_t *to = *scratch;

    if (zero == NULL || zero + 1 >= end)
        return NULL;
    if (zero[1] != ESCAPED_ZERO) {
        *bytes = slice_make(start, (size_t)(zero - start));
        return zero + 1;
    }
    memcpy(to, from, (size_t)(zero - from));
    to += zero - from;
    from = zero;
    while (end - from >= 2) {
        uint64_t word = 0;

        if (end - from >= 16) {
            memcpy(&word, from, 8);
            if (!has_zero_byte(word)) {
                memcpy(to, from, 8);
                from += 8;
                to += 8;
                continue;
            }
            if (memcmp(from, escaped_zeros, 16) == 0) {
                memset(to, 0, 8);
                from += 16;
                to += 8;
                continue;
            }
        }
        if (from[0] != ESCAPE) {
            *to++ = *from++;
        } else if (from[1] == ESCAPED_ZERO) {
            *to++ = 0;
            from += 2;
        } else {
            *bytes = slice_make(*scratch, (size_t)(to - *scratch));
            *scratch = to;
            return from + 1;
        }
    }
    return NULL;
}

bool
cell_key_parse(petal_slice encoded, uint8_t *scratch, struct cell_key *key)
{
    const uint8_t *from = encoded.data;
    const uint8_t *end;

    if (encoded.size < CELL_KEY_SUFFIX_BYTES + 3)
        return false;
    end = from + (encoded.size - CELL_KEY_SUFFIX_BYTES);
    from = unescape(from, end, &scratch, &key->row);
    if (from == NULL || key->row.size == 0)
        return false;
    key->row_prefix = (size_t)(from - slice_bytes(encoded));
    key->family_class = *from == CLASS_FAMILY;
    key->qualifier = slice_make(NULL, 0);
    if (!key->family_class && *from != CLASS_COLUMN)
        return false;
    from++;
    if (key->family_class) {
        key->column_prefix = (size_t)(from - slice_bytes(encoded));
    } else {
        from = unescape(from, end, &scratch, &key->qualifier);
        if (from == NULL || *from != END_OF_QUALIFIER)
            return false;
        key->column_prefix = (size_t)(from - slice_bytes(encoded));
        from++;
    }
    if (from != end)
        return false;
    key->encoded = encoded;
    key->timestamp = (int64_t)(~get_be64(end) ^ ((uint64_t)1 << 63));
    key->sequence = ~get_be64(end + 8);
    return true;
}

size_t
slice_common_prefix(petal_slice a, petal_slice b)
{
    const uint8_t *left = a.data, *right = b.data;
    size_t limit = a.size < b.size ? a.size : b.size;
    size_t i = 0;

    while (limit - i >= 8) {
        uint64_t differing = get_le64(left + i) ^ get_le64(right + i);

        if (differing != 0)
            return i + (size_t)__builtin_ctzll(differing) / 8;
        i += 8;
    }
    if (i < limit && limit >= 8) { /* those up to i once more */
        uint64_t differing = get_le64(left + limit - 8) ^ get_le64(right + limit - 8);

        return differing != 0 ? limit - 8 + (size_t)__builtin_ctzll(differing) / 8 : limit;
    }
    while (i < limit && left[i] == right[i])
        i++;
    return i;
}

uint64_t
slice_head(petal_slice bytes, size_t offset)
{
    const uint8_t *from = slice_bytes(bytes);
    uint64_t head = 0;

    if (bytes.size >= offset + 8)
        return get_be64(from + offset);
    if (bytes.size >= 8 && bytes.size > offset)
        return get_be64(from + bytes.size - 8) << 8 * (offset + 8 - bytes.size);
    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (offset + i < bytes.size ? from[offset + i] : 0);
    return head;
}
