/* bitmap.c -- bitmaps of a bit for each of the numbers 0..bits-1. */
#include "base/argument.h"
#include "bloom/bitmap/words.h"

#define WORD_BITS 64u

struct petal_bitmap {
    struct bitmap bitmap;
};

enum petal_status
petal_bitmap_create(uint64_t bits, const petal_env *env, petal_bitmap **bitmap, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;
    return bitmap_create(bits, 1, env, (struct bitmap **)bitmap, error);
}

void
petal_bitmap_free(petal_bitmap *bitmap)
{
    bitmap_free((struct bitmap *)bitmap);
}

uint64_t
petal_bitmap_bits(const petal_bitmap *bitmap)
{
    return bitmap != NULL ? bitmap->bitmap.numbers : 0;
}

/* A bit that is set already is only read: its cache line stays with all cores. */
bool
petal_bitmap_set(petal_bitmap *bitmap, uint64_t number)
{
    uint64_t index = number / WORD_BITS,
             bit = little_endian_word(UINT64_C(1) << number % WORD_BITS);
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->bitmap.numbers || bitmap->bitmap.is_read_only)
        return false;
    word = &bitmap->bitmap.words[index];
    if ((atomic_load_explicit(word, memory_order_acquire) & bit) != 0)
        return true;
    bitmap_mark(&bitmap->bitmap, index);
    return (atomic_fetch_or_explicit(word, bit, memory_order_release) & bit) != 0;
}

bool
petal_bitmap_test(const petal_bitmap *bitmap, uint64_t number)
{
    return bitmap != NULL && number < bitmap->bitmap.numbers &&
           (bitmap_load(&bitmap->bitmap, number / WORD_BITS) >> number % WORD_BITS & 1) != 0;
}

uint64_t
petal_bitmap_count(const petal_bitmap *bitmap)
{
    uint64_t sum = 0;

    if (bitmap == NULL)
        return 0;
    for (uint64_t i = bitmap_next_word(&bitmap->bitmap, 0); i < bitmap->bitmap.count;
         i = bitmap_next_word(&bitmap->bitmap, i + 1))
        sum += count_bits(bitmap_load(&bitmap->bitmap, i));
    return sum;
}

/* The number of the lowest of these bits of a word, which are not 0. */
static uint64_t
number_of(const petal_bitmap *bitmap, uint64_t index, uint64_t bits)
{
    uint64_t number = index * WORD_BITS + lowest_bit(bits);

    return number < bitmap->bitmap.numbers ? number : PETAL_BITMAP_NONE;
}

uint64_t
petal_bitmap_next_set(const petal_bitmap *bitmap, uint64_t from)
{
    uint64_t index = from / WORD_BITS, bits;

    if (bitmap == NULL || from >= bitmap->bitmap.numbers)
        return PETAL_BITMAP_NONE;
    bits = bitmap_load(&bitmap->bitmap, index) & UINT64_MAX << from % WORD_BITS;
    while (bits == 0) { /* again: a mapped file may change */
        index = bitmap_next_word(&bitmap->bitmap, index + 1);
        if (index == bitmap->bitmap.count)
            return PETAL_BITMAP_NONE;
        bits = bitmap_load(&bitmap->bitmap, index);
    }
    return number_of(bitmap, index, bits);
}

uint64_t
petal_bitmap_next_clear(const petal_bitmap *bitmap, uint64_t from)
{
    uint64_t index = from / WORD_BITS, bits;

    if (bitmap == NULL || from >= bitmap->bitmap.numbers)
        return PETAL_BITMAP_NONE;
    bits = ~bitmap_load(&bitmap->bitmap, index) & UINT64_MAX << from % WORD_BITS;
    while (bits == 0) {
        if (++index == bitmap->bitmap.count)
            return PETAL_BITMAP_NONE;
        bits = ~bitmap_load(&bitmap->bitmap, index);
    }
    return number_of(bitmap, index, bits);
}

enum petal_status
petal_bitmap_unite(petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error)
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
        bitmap_mark(to, i);
        atomic_fetch_or_explicit(&to->words[i],
                                 atomic_load_explicit(&from->words[i], memory_order_relaxed),
                                 memory_order_release);
    }
    return PETAL_OK;
}

enum petal_status
petal_bitmap_save(const petal_bitmap *bitmap, const char *path, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(path, error);
    return bitmap_save(&bitmap->bitmap, path, error);
}

enum petal_status
petal_bitmap_load(const char *path, const petal_bloom_load_options *options, petal_bitmap **bitmap,
                  petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;
    RETURN_IF_NULL(path, error);
    return bitmap_load_file(path, options, 1, (struct bitmap **)bitmap, error);
}
