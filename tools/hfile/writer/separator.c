/* separator.c -- see separator.h. */
#include "tools/hfile/writer/separator.h"

#include "tools/hfile/format/key.h"

#include <assert.h>

/*
 * The bytes after `left` and not after `right` that HBase chooses: where right goes on after
 * left, left and a zero; else what they have in common, and left's next byte plus one. In `to`,
 * which has room for right.size; 0: they are equal.
 */
static size_t
between(petal_slice left, petal_slice right, uint8_t *to)
{
    const uint8_t *a = left.data, *b = right.data;
    size_t least = left.size < right.size ? left.size : right.size, common = 0;

    while (common < least && a[common] == b[common])
        common++;
    if (common == left.size && common == right.size)
        return 0;
    assert(common < right.size && (common == left.size || a[common] < b[common]));
    if (common > 0)
        memcpy(to, b, common);
    to[common] = common == left.size ? 0 : (uint8_t)(a[common] + 1);
    return common + 1;
}

/* Of the first of all cells that can be in the column, or, without family, in the row. */
static bool
put_separator(petal_slice row, petal_slice family, petal_slice qualifier,
              struct hfile_buffer *separator)
{
    petal_hfile_cell key = {.row = row,
                            .family = family,
                            .qualifier = qualifier,
                            .timestamp = INT64_MAX,
                            .type = PETAL_HFILE_TYPE_MAXIMUM};

    return hfile_key_append(&key, separator);
}

bool
hfile_separator(petal_slice last, petal_slice first, struct hfile_buffer *separator)
{
    petal_hfile_cell left, right;
    uint8_t *bytes;
    size_t size;
    bool are_keys = hfile_key_parse(last, &left) && hfile_key_parse(first, &right);

    assert(are_keys);
    (void)are_keys;
    /* What is chosen is no longer than its part of the right key; it stands after where the
     * separator is put together. */
    hfile_buffer_clear(separator);
    if (!hfile_buffer_reserve(separator, 2 * first.size))
        return false;
    bytes = separator->bytes + first.size;
    if ((size = between(left.row, right.row, bytes)) > 0)
        return put_separator(hfile_slice(bytes, size), hfile_slice(NULL, 0), hfile_slice(NULL, 0),
                             separator);
    if ((size = between(left.qualifier, right.qualifier, bytes)) > 0)
        return put_separator(right.row, right.family, hfile_slice(bytes, size), separator);
    return hfile_buffer_append_slice(separator, first);
}
