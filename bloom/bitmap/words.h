/*
 * words.h -- bitmaps of one bit and of two bits a number: very many words of 64 bits in memory or
 * in a file, of which few may be used. What is the same for both.
 *
 * WORDS lie in memory as in a file, lowest byte first; little_endian_word is between one and a
 * number. Each is changed by an atomic operation of its own and says nothing about another word.
 * Bits are only ever set.
 *
 * CHUNKS of BITMAP_CHUNK_WORDS are marked before something is entered. A chunk that is not marked
 * is zero and is not looked at: so it takes no memory of the system, and no time.
 *
 * A THREAD THAT FINDS A WORD AS IT WANTS IT leaves the word alone, and its mark, too: so that mark
 * has to be visible to every thread that this one tells. Words are changed with a release, after
 * the mark, and acquired by those that may leave them alone. Each change reads and writes in one
 * step, so it hands on the releases before it.
 */
#ifndef PETAL_BLOOM_BITMAP_WORDS_H
#define PETAL_BLOOM_BITMAP_WORDS_H

#include "bloom/bits.h"
#include "bloom/file/set_file.h"
#include "bloom/little_endian.h"

#include <stdatomic.h>

#define BITMAP_CHUNK_WORDS 8192u /* 64 KiB */

typedef _Atomic(uint64_t) bitmap_word;

/* The first and only member of both kinds of bitmaps. */
struct bitmap {
    struct env env;
    uint64_t numbers; /* from 1 */
    unsigned bits;    /* of a number: 1 or 2 */
    bitmap_word *words;
    uint64_t count;           /* of words */
    _Atomic(uint8_t) *marked; /* of each chunk; NULL: all may be (the words are mapped) */
    bool is_read_only;
    struct set_file file; /* mapped: the words are its body */
};

static inline uint64_t
bitmap_load(const struct bitmap *bitmap, uint64_t index)
{
    return little_endian_word(atomic_load_explicit(&bitmap->words[index], memory_order_relaxed));
}

/* To be called for each word that becomes another one than 0, before it does. */
static inline void
bitmap_mark(struct bitmap *bitmap, uint64_t index)
{
    _Atomic(uint8_t) *mark = &bitmap->marked[index / BITMAP_CHUNK_WORDS];

    if (atomic_load_explicit(mark, memory_order_relaxed) == 0)
        atomic_store_explicit(mark, 1, memory_order_relaxed);
}

enum petal_status bitmap_create(uint64_t numbers, unsigned bits, const petal_env *env,
                                struct bitmap **bitmap, petal_error *error);
/* NULL: nothing. */
void bitmap_free(struct bitmap *bitmap);

/* The first word from `from` on that is not 0; the number of words: there is none. */
uint64_t bitmap_next_word(const struct bitmap *bitmap, uint64_t from);

/* May `other` be united into *bitmap? */
enum petal_status bitmap_check_pair(const struct bitmap *bitmap, const struct bitmap *other,
                                    petal_error *error);

/* The body is the words. */
enum petal_status bitmap_save(const struct bitmap *bitmap, const char *path, petal_error *error);

/* Checked: the number of numbers, which is the head's parameter 0, the length, the end of the last
 * word. */
enum petal_status bitmap_load_file(const char *path, const petal_bloom_load_options *options,
                                   unsigned bits, struct bitmap **bitmap, petal_error *error);

#endif
