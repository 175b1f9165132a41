/*
 * words.h -- what bitmaps of one bit and of two bits a number have in common: very many words of
 * 64 bits in memory or in a file, of which few may be used.
 *
 * WORDS lie in memory as in a file, lowest byte first; little_endian_word is between one and a
 * number. Each is changed by an atomic operation of its own and says nothing about another word.
 *
 * CHUNKS of BITMAP_CHUNK_WORDS are marked before something is entered. What is not marked is zero
 * and is not looked at: so it takes no memory of the system, and no time.
 *
 * WHO FINDS A WORD AS IT WANTS IT leaves it alone, and its mark, too: so that mark has to be there
 * for all whom this one tells. Words are changed with a release, behind the mark, and acquired by
 * who may leave them alone. All changes but those of whole words read and write in one step, so
 * each hands on the releases before it.
 */
#ifndef PETAL_BLOOM_BITMAP_WORDS_H
#define PETAL_BLOOM_BITMAP_WORDS_H

#include "bloom/bits.h"
#include "bloom/file/set_file.h"
#include "bloom/little_endian.h"

#include <stdatomic.h>

#define BITMAP_CHUNK_WORDS 8192u /* 64 KiB */

/* Of the bodies of both. */
#define BITMAP_FILE_LAYOUT 1

typedef _Atomic(uint64_t) bitmap_word;

/* For loops over words that nobody changes meanwhile, which compilers make wide. */
#if defined(__GNUC__)
typedef uint64_t __attribute__((may_alias)) bitmap_plain_word;
#else
typedef uint64_t bitmap_plain_word;
#endif

struct bitmap_words {
    struct env env;
    bitmap_word *words;
    uint64_t count;           /* from 1 */
    _Atomic(uint8_t) *marked; /* of each chunk; NULL: all may be (the words are mapped) */
    bool is_read_only;
    struct set_file file; /* mapped: the words are its body */
};

static inline uint64_t
bitmap_load(const struct bitmap_words *words, uint64_t index)
{
    return little_endian_word(atomic_load_explicit(&words->words[index], memory_order_relaxed));
}

static inline bool
bitmap_is_marked(const struct bitmap_words *words, uint64_t chunk)
{
    return words->marked == NULL ||
           atomic_load_explicit(&words->marked[chunk], memory_order_relaxed) != 0;
}

/* To be called for each word that becomes another one than 0, before it does. */
static inline void
bitmap_mark(struct bitmap_words *words, uint64_t index)
{
    _Atomic(uint8_t) *mark = &words->marked[index / BITMAP_CHUNK_WORDS];

    if (atomic_load_explicit(mark, memory_order_relaxed) == 0)
        atomic_store_explicit(mark, 1, memory_order_relaxed);
}

/* Zero words.  On an error there is nothing to fini. */
enum petal_status bitmap_words_init(struct bitmap_words *words, const struct env *env,
                                    uint64_t count, petal_error *error);
void bitmap_words_fini(struct bitmap_words *words);

static inline uint64_t
bitmap_chunks(const struct bitmap_words *words)
{
    return (words->count - 1) / BITMAP_CHUNK_WORDS + 1;
}

/* The words of a chunk: from here to there. */
static inline uint64_t
bitmap_chunk_begin(uint64_t chunk)
{
    return chunk * BITMAP_CHUNK_WORDS;
}

static inline uint64_t
bitmap_chunk_end(const struct bitmap_words *words, uint64_t chunk)
{
    uint64_t end = (chunk + 1) * BITMAP_CHUNK_WORDS;

    return end < words->count ? end : words->count;
}

/* Set bits of words from..to-1, whether their chunks are marked or not. */
uint64_t bitmap_words_count(const struct bitmap_words *words, uint64_t from, uint64_t to);

/* The first word from `from` on, of a marked chunk, that is not 0; the number of words: none. */
uint64_t bitmap_words_next(const struct bitmap_words *words, uint64_t from);

/* Words that bitmaps are united by and the like: of one chunk, and of one page of memory where the
 * bitmap begins with one. */
#define BITMAP_PAGE_WORDS 512u

struct bitmap_page {
    uint64_t begin, count; /* both 0: before the first */
};

/*
 * The next page that has a word other than 0. A bitmap that is mapped, or where numbers were taken
 * out, has pages without: who stored there, even what is there already, would take memory for all
 * of them. False: there is none. Nobody changes the words meanwhile.
 */
bool bitmap_next_page(const struct bitmap_words *words, struct bitmap_page *page);

/* The body is the words. */
enum petal_status bitmap_words_save(const struct bitmap_words *words, const char *path,
                                    const struct set_file_head *head, petal_error *error);

/* Words of a file, which hold so many numbers each. Checked: the number of numbers, which is the
 * head's parameter 0, the length, the end of the last word; this one not if it is opened so. */
enum petal_status bitmap_words_open(const char *path, const petal_bloom_load_options *options,
                                    enum petal_bloom_file_type type, unsigned per_word,
                                    struct bitmap_words *words, uint64_t *numbers,
                                    petal_error *error);

#endif
