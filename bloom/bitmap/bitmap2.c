/*
 * bitmap2.c -- bitmaps of two bits a number: never entered, once, or more often.
 *
 * 32 numbers a word, the first in the lowest two bits, which are its state. A state of 3, which is
 * never written, is taken for MORE where a file is mapped unchecked.
 */
#include "bloom/bitmap/words.h"

#include "base/argument.h"
#include "base/mem.h"

#include <inttypes.h>

#define WORD_NUMBERS 32u
#define LOW_BITS     UINT64_C(0x5555555555555555)

struct petal_bitmap2 {
    struct bitmap_words words;
    uint64_t numbers;
};

static petal_bitmap2 *
new_bitmap2(const struct env *env, uint64_t numbers)
{
    petal_bitmap2 *bitmap = mem_zalloc(env->allocator, sizeof *bitmap);

    if (bitmap != NULL)
        bitmap->numbers = numbers;
    return bitmap;
}

enum petal_status
petal_bitmap2_create(uint64_t numbers, const petal_env *env, petal_bitmap2 **bitmap,
                     petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;

    enum petal_status status;
    struct env resolved;

    if (numbers == 0 || numbers > PETAL_BITMAP_MAX_BITS)
        return error_set(error, PETAL_INVALID, "numbers is %" PRIu64 "; it must be 1 to %" PRIu64,
                         numbers, PETAL_BITMAP_MAX_BITS);
    status = env_check(env, error);
    if (status != PETAL_OK)
        return status;
    env_init(&resolved, env);
    *bitmap = new_bitmap2(&resolved, numbers);
    if (*bitmap == NULL)
        return error_no_memory(error);
    status =
        bitmap_words_init(&(*bitmap)->words, &resolved, (numbers - 1) / WORD_NUMBERS + 1, error);
    if (status != PETAL_OK) {
        mem_free(resolved.allocator, *bitmap, sizeof **bitmap);
        *bitmap = NULL;
    }
    return status;
}

void
petal_bitmap2_free(petal_bitmap2 *bitmap)
{
    const petal_allocator *allocator;

    if (bitmap == NULL)
        return;
    allocator = bitmap->words.env.allocator;
    bitmap_words_fini(&bitmap->words);
    mem_free(allocator, bitmap, sizeof *bitmap);
}

uint64_t
petal_bitmap2_numbers(const petal_bitmap2 *bitmap)
{
    return bitmap != NULL ? bitmap->numbers : 0;
}

/* ---- numbers ---- */

static enum petal_bitmap2_state
state_of(uint64_t word, uint64_t number)
{
    uint64_t state = word >> 2 * (number % WORD_NUMBERS) & 3;

    return state == 3 ? PETAL_BITMAP2_MORE : (enum petal_bitmap2_state)state;
}

enum petal_bitmap2_state
petal_bitmap2_get(const petal_bitmap2 *bitmap, uint64_t number)
{
    if (bitmap == NULL || number >= bitmap->numbers)
        return PETAL_BITMAP2_NONE;
    return state_of(bitmap_load(&bitmap->words, number / WORD_NUMBERS), number);
}

/* What is MORE already is only read: its cache line stays with all cores. */
enum petal_bitmap2_state
petal_bitmap2_add(petal_bitmap2 *bitmap, uint64_t number)
{
    uint64_t index = number / WORD_NUMBERS, before, after, one;
    enum petal_bitmap2_state state;
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->numbers || bitmap->words.is_read_only)
        return petal_bitmap2_get(bitmap, number);
    word = &bitmap->words.words[index];
    one = UINT64_C(1) << 2 * (number % WORD_NUMBERS);
    before = atomic_load_explicit(word, memory_order_acquire);
    do {
        state = state_of(little_endian_word(before), number);
        if (state == PETAL_BITMAP2_MORE)
            return state;
        bitmap_mark(&bitmap->words, index);
        after = little_endian_word(little_endian_word(before) + one);
    } while (!atomic_compare_exchange_weak_explicit(word, &before, after, memory_order_release,
                                                    memory_order_acquire));
    return state;
}

/* ---- all numbers ---- */

/* The low bit of each number of the word that is in the state. */
static uint64_t
in_state(uint64_t word, enum petal_bitmap2_state state)
{
    switch (state) {
    case PETAL_BITMAP2_NONE:
        return ~(word | word >> 1) & LOW_BITS;
    case PETAL_BITMAP2_ONE:
        return word & ~(word >> 1) & LOW_BITS;
    case PETAL_BITMAP2_MORE:
        return word >> 1 & LOW_BITS;
    }
    return 0;
}

uint64_t
petal_bitmap2_count(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state)
{
    if (bitmap == NULL)
        return 0;

    const struct bitmap_words *words = &bitmap->words;
    uint64_t ones = 0, mores = 0;

    for (uint64_t chunk = 0; chunk < bitmap_chunks(words); chunk++) {
        uint64_t end = bitmap_is_marked(words, chunk) ? bitmap_chunk_end(words, chunk) : 0;

        for (uint64_t i = bitmap_chunk_begin(chunk); i < end; i++) {
            uint64_t word = bitmap_load(words, i);

            ones += count_bits(in_state(word, PETAL_BITMAP2_ONE));
            mores += count_bits(in_state(word, PETAL_BITMAP2_MORE));
        }
    }
    switch (state) {
    case PETAL_BITMAP2_NONE:
        return bitmap->numbers - ones - mores;
    case PETAL_BITMAP2_ONE:
        return ones;
    case PETAL_BITMAP2_MORE:
        return mores;
    }
    return 0;
}

uint64_t
petal_bitmap2_next(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state, uint64_t from)
{
    if (bitmap == NULL)
        return PETAL_BITMAP_NONE;

    const struct bitmap_words *words = &bitmap->words;
    uint64_t index = from / WORD_NUMBERS, mask = UINT64_MAX << 2 * (from % WORD_NUMBERS);

    if (from >= bitmap->numbers)
        return PETAL_BITMAP_NONE;
    while (index < words->count) {
        uint64_t found = in_state(bitmap_load(words, index), state) & mask;

        if (found != 0) {
            uint64_t number = index * WORD_NUMBERS + lowest_bit(found) / 2;

            return number < bitmap->numbers ? number : PETAL_BITMAP_NONE;
        }
        mask = UINT64_MAX;
        index = state == PETAL_BITMAP2_NONE ? index + 1 : bitmap_words_next(words, index + 1);
    }
    return PETAL_BITMAP_NONE;
}

/* ---- two bitmaps ---- */

/* The sums of states, those above MORE taken for it. */
static inline uint64_t
add_states(uint64_t a, uint64_t b)
{
    uint64_t more = ((a | b) >> 1 | (a & b)) & LOW_BITS;

    return more << 1 | ((a ^ b) & LOW_BITS & ~more);
}

enum petal_status
petal_bitmap2_unite(petal_bitmap2 *bitmap, const petal_bitmap2 *other, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(other, error);

    struct bitmap_words *words = &bitmap->words;
    struct bitmap_page page = {0};

    if (words->is_read_only)
        return error_set(error, PETAL_READ_ONLY, "the bitmap is mapped and cannot be changed");
    if (bitmap->numbers != other->numbers)
        return error_set(error, PETAL_INVALID,
                         "the bitmaps have %" PRIu64 " and %" PRIu64 " numbers", bitmap->numbers,
                         other->numbers);
    while (bitmap_next_page(&other->words, &page)) {
        bitmap_plain_word *to = (bitmap_plain_word *)&words->words[page.begin];
        const bitmap_plain_word *from = (const bitmap_plain_word *)&other->words.words[page.begin];

        bitmap_mark(words, page.begin);
        for (size_t i = 0; i < page.count; i++)
            to[i] = little_endian_word(
                add_states(little_endian_word(to[i]), little_endian_word(from[i])));
    }
    return PETAL_OK;
}

/* ---- files ---- */

enum petal_status
petal_bitmap2_save(const petal_bitmap2 *bitmap, const char *path, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(path, error);

    const struct set_file_head head = {.type = PETAL_BLOOM_FILE_BITMAP2,
                                       .layout = BITMAP_FILE_LAYOUT,
                                       .parameters = {bitmap->numbers}};

    return bitmap_words_save(&bitmap->words, path, &head, error);
}

static enum petal_status
check_states(const struct bitmap_words *words, const char *path, petal_error *error)
{
    for (uint64_t i = bitmap_words_next(words, 0); i < words->count;
         i = bitmap_words_next(words, i + 1)) {
        uint64_t word = bitmap_load(words, i), wrong = word & word >> 1 & LOW_BITS;

        if (wrong != 0)
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + i * sizeof word,
                                 "number %" PRIu64 " has the state 3; states are 0 to 2",
                                 i * WORD_NUMBERS + lowest_bit(wrong) / 2);
    }
    return PETAL_OK;
}

enum petal_status
petal_bitmap2_load(const char *path, const petal_bloom_load_options *options,
                   petal_bitmap2 **bitmap, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;
    RETURN_IF_NULL(path, error);

    struct bitmap_words words;
    enum petal_status status;
    uint64_t numbers;

    status = bitmap_words_open(path, options, PETAL_BLOOM_FILE_BITMAP2, WORD_NUMBERS, &words,
                               &numbers, error);
    if (status != PETAL_OK)
        return status;
    if (words.file.is_checked)
        status = check_states(&words, path, error);
    if (status == PETAL_OK) {
        *bitmap = new_bitmap2(&words.env, numbers);
        status = *bitmap == NULL ? error_no_memory(error) : PETAL_OK;
    }
    if (status != PETAL_OK) {
        bitmap_words_fini(&words);
        return status;
    }
    (*bitmap)->words = words;
    return PETAL_OK;
}
