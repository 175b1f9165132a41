/*
 * bitmap2.c -- bitmaps of two bits a number: never entered, once, or more often.
 *
 * 32 numbers a word, the first in the lowest two bits, which are its state. A state of 3, which is
 * never written, is taken for MORE where a mapped file has changed.
 */
#include "base/argument.h"
#include "bloom/bitmap/words.h"

#include <inttypes.h>

#define WORD_NUMBERS 32u
#define LOW_BITS     UINT64_C(0x5555555555555555)

struct petal_bitmap2 {
    struct bitmap bitmap;
};

enum petal_status
petal_bitmap2_create(uint64_t numbers, const petal_env *env, petal_bitmap2 **bitmap,
                     petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;
    return bitmap_create(numbers, 2, env, (struct bitmap **)bitmap, error);
}

void
petal_bitmap2_free(petal_bitmap2 *bitmap)
{
    bitmap_free((struct bitmap *)bitmap);
}

uint64_t
petal_bitmap2_numbers(const petal_bitmap2 *bitmap)
{
    return bitmap != NULL ? bitmap->bitmap.numbers : 0;
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
    if (bitmap == NULL || number >= bitmap->bitmap.numbers)
        return PETAL_BITMAP2_NONE;
    return state_of(bitmap_load(&bitmap->bitmap, number / WORD_NUMBERS), number);
}

/* A number that is MORE already is only read: its cache line stays with all cores. */
enum petal_bitmap2_state
petal_bitmap2_add(petal_bitmap2 *bitmap, uint64_t number)
{
    uint64_t index = number / WORD_NUMBERS, before, after, one;
    enum petal_bitmap2_state state;
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->bitmap.numbers || bitmap->bitmap.is_read_only)
        return petal_bitmap2_get(bitmap, number);
    word = &bitmap->bitmap.words[index];
    one = UINT64_C(1) << 2 * (number % WORD_NUMBERS);
    before = atomic_load_explicit(word, memory_order_acquire);
    do {
        state = state_of(little_endian_word(before), number);
        if (state == PETAL_BITMAP2_MORE)
            return state;
        bitmap_mark(&bitmap->bitmap, index);
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
    uint64_t in = 0, out = 0;

    if (bitmap == NULL)
        return 0;
    for (uint64_t i = bitmap_next_word(&bitmap->bitmap, 0); i < bitmap->bitmap.count;
         i = bitmap_next_word(&bitmap->bitmap, i + 1)) {
        uint64_t word = bitmap_load(&bitmap->bitmap, i);

        in += count_bits(in_state(word, state));
        out += count_bits(LOW_BITS & ~in_state(word, PETAL_BITMAP2_NONE));
    }
    /* Words of 0 were passed over. */
    return state == PETAL_BITMAP2_NONE ? bitmap->bitmap.numbers - out : in;
}

uint64_t
petal_bitmap2_next(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state, uint64_t from)
{
    uint64_t index = from / WORD_NUMBERS, mask = UINT64_MAX << 2 * (from % WORD_NUMBERS);

    if (bitmap == NULL || from >= bitmap->bitmap.numbers)
        return PETAL_BITMAP_NONE;
    while (index < bitmap->bitmap.count) {
        uint64_t found = in_state(bitmap_load(&bitmap->bitmap, index), state) & mask;

        if (found != 0) {
            uint64_t number = index * WORD_NUMBERS + lowest_bit(found) / 2;

            return number < bitmap->bitmap.numbers ? number : PETAL_BITMAP_NONE;
        }
        mask = UINT64_MAX;
        index =
            state == PETAL_BITMAP2_NONE ? index + 1 : bitmap_next_word(&bitmap->bitmap, index + 1);
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

    struct bitmap *to = &bitmap->bitmap;
    const struct bitmap *from = &other->bitmap;
    enum petal_status status = bitmap_check_pair(to, from, error);

    if (status != PETAL_OK)
        return status;
    for (uint64_t i = bitmap_next_word(from, 0); i < from->count;
         i = bitmap_next_word(from, i + 1)) {
        uint64_t sum = add_states(bitmap_load(to, i), bitmap_load(from, i));

        bitmap_mark(to, i);
        atomic_store_explicit(&to->words[i], little_endian_word(sum), memory_order_release);
    }
    return PETAL_OK;
}

/* ---- files ---- */

enum petal_status
petal_bitmap2_save(const petal_bitmap2 *bitmap, const char *path, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(path, error);
    return bitmap_save(&bitmap->bitmap, path, error);
}

static enum petal_status
check_states(const struct bitmap *bitmap, const char *path, petal_error *error)
{
    for (uint64_t i = bitmap_next_word(bitmap, 0); i < bitmap->count;
         i = bitmap_next_word(bitmap, i + 1)) {
        uint64_t word = bitmap_load(bitmap, i), wrong = word & word >> 1 & LOW_BITS;

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

    struct bitmap *made;
    enum petal_status status = bitmap_load_file(path, options, 2, &made, error);

    if (status == PETAL_OK)
        status = check_states(made, path, error);
    else
        return status;
    if (status == PETAL_OK)
        *bitmap = (petal_bitmap2 *)made;
    else
        bitmap_free(made);
    return status;
}
