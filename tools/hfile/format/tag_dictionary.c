/* tag_dictionary.c -- see tag_dictionary.h. */
#include "tools/hfile/format/tag_dictionary.h"

#define NOT_IN_DICTIONARY 0xff
#define MOST_TAGS         INT16_MAX
#define LENGTH_BYTES      2

static enum petal_status
take_new(struct hfile_tag_dictionary *dictionary, struct hfile_bytes *rest, petal_slice *tag,
         const char **wrong)
{
    uint32_t size;

    *wrong = "a tag is cut short";
    if (!hfile_take_length(rest, &size) || !hfile_take_slice(rest, size, tag))
        return PETAL_CORRUPT;
    *wrong = "the block has more than 32766 different tags";
    if (dictionary->tags.size / sizeof *tag >= MOST_TAGS - 1)
        return PETAL_CORRUPT;
    return hfile_buffer_append(&dictionary->tags, tag, sizeof *tag) ? PETAL_OK : PETAL_NO_MEMORY;
}

static enum petal_status
take_known(const struct hfile_tag_dictionary *dictionary, uint8_t first, struct hfile_bytes *rest,
           petal_slice *tag, const char **wrong)
{
    uint8_t second;
    size_t number;

    *wrong = "a tag is cut short";
    if (!hfile_take_u8(rest, &second))
        return PETAL_CORRUPT;
    number = (size_t)first << 8 | second;
    *wrong = "a tag refers to one that did not come before";
    if (number >= dictionary->tags.size / sizeof *tag)
        return PETAL_CORRUPT;
    memcpy(tag, dictionary->tags.bytes + number * sizeof *tag, sizeof *tag);
    return PETAL_OK;
}

enum petal_status
hfile_tag_dictionary_take(struct hfile_tag_dictionary *dictionary, struct hfile_bytes *rest,
                          uint8_t *to, size_t size, const char **wrong)
{
    while (size > 0) {
        enum petal_status status;
        petal_slice tag = {NULL, 0};
        uint8_t first;

        *wrong = "a tag is cut short";
        if (!hfile_take_u8(rest, &first))
            return PETAL_CORRUPT;
        status = first == NOT_IN_DICTIONARY ? take_new(dictionary, rest, &tag, wrong)
                                            : take_known(dictionary, first, rest, &tag, wrong);
        if (status != PETAL_OK)
            return status;
        *wrong = "a cell's tags are not as long as it says";
        if (tag.size > UINT16_MAX || size < LENGTH_BYTES + tag.size)
            return PETAL_CORRUPT;
        hfile_put_u16(to, (uint16_t)tag.size);
        if (tag.size > 0)
            memcpy(to + LENGTH_BYTES, tag.data, tag.size);
        to += LENGTH_BYTES + tag.size;
        size -= LENGTH_BYTES + tag.size;
    }
    return PETAL_OK;
}
