/*
 * key_parts.h -- keys that have no room in memory, in parts by value that wait in a temporary file.
 * Keys of a part that lie within 2^32 take 4 bytes, else 8.
 *
 * What fails is told by job_fail. Belongs to one thread.
 */
#ifndef PETAL_TOOLS_LINES_NUMBERS_KEY_PARTS_H
#define PETAL_TOOLS_LINES_NUMBERS_KEY_PARTS_H

#include "tools/lines/records/spill.h"

struct key_part {
    uint64_t least, most; /* that may come: set before the first key is added */
    uint64_t low, high;   /* that came; if there is one */
    uint64_t count;
};

struct key_parts {
    struct spill spill;
    struct key_part *list; /* as many as the spill has */
};

/* About so many bytes of memory while keys come; up to so many parts, a power of two. */
bool key_parts_open(struct key_parts *parts, struct job *job, size_t memory_bytes,
                    unsigned most_parts);
/* Of zeros: nothing. */
void key_parts_close(struct key_parts *parts);

/* REQUIRES: the part's least <= key <= most, and the parts are not sealed. */
bool key_parts_add(struct key_parts *parts, size_t part, uint64_t key);

/* All are added. */
bool key_parts_seal(struct key_parts *parts);

/* Takes keys, at most KEY_PARTS_BATCH. False: no more, and it was told why. */
enum { KEY_PARTS_BATCH = 1024 };
typedef bool (*key_taker)(void *argument, const uint64_t *keys, size_t count);

/* All keys of a part, in any order. */
bool key_parts_each(struct key_parts *parts, size_t part, key_taker take, void *argument);

#endif
