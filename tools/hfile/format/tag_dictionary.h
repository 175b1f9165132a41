/*
 * tag_dictionary.h -- tags that are compressed by a dictionary (hfile.TAGS_COMPRESSED), one for
 * each block, under PREFIX, DIFF and FAST_DIFF. In place of a cell's tags, whose length is that of
 * all tags uncompressed, stands for each tag
 *
 *     u8 0xFF | varint length | type and payload     it gets the next number in the dictionary
 *     u16 number, below 0x8000                       one that came before
 *
 * HBase's dictionary gives its least recently used numbers away again when it has 32,767 tags; a
 * block with so many different ones is refused.
 */
#ifndef PETAL_HFILE_FORMAT_TAG_DICTIONARY_H
#define PETAL_HFILE_FORMAT_TAG_DICTIONARY_H

#include "tools/hfile/format/buffer.h"

/* Of petal_slice, each into the block's payload. */
struct hfile_tag_dictionary {
    struct hfile_buffer tags;
};

static inline void
hfile_tag_dictionary_init(struct hfile_tag_dictionary *dictionary, const petal_allocator *allocator)
{
    hfile_buffer_init(&dictionary->tags, allocator);
}

static inline void
hfile_tag_dictionary_free(struct hfile_tag_dictionary *dictionary)
{
    hfile_buffer_free(&dictionary->tags);
}

/* A new block begins. */
static inline void
hfile_tag_dictionary_clear(struct hfile_tag_dictionary *dictionary)
{
    hfile_buffer_clear(&dictionary->tags);
}

/* Exactly `size` bytes of tags to `to`, as they are without a dictionary. PETAL_NO_MEMORY, or
 * PETAL_CORRUPT with a fixed text in *wrong. */
enum petal_status hfile_tag_dictionary_take(struct hfile_tag_dictionary *dictionary,
                                            struct hfile_bytes *rest, uint8_t *to, size_t size,
                                            const char **wrong);

#endif
