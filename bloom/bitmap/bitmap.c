/*
 * bitmap.c -- bitmaps of one bit and of two bits a number: very many words of 64 bits in memory or
 * in a file, of which few may be used.
 *
 * A NUMBER'S STATE is its one bit; or its two bits, the lower one first: never entered, once, more
 * often. A state of 3 is never written; it is treated as MORE where a mapped file has changed.
 *
 * WORDS lie in memory as in a file, lowest byte first; little_endian_word converts one to a number
 * and back. Each is changed by an atomic operation and says nothing about another word. States only
 * grow.
 *
 * CHUNKS of CHUNK_WORDS are marked before something is entered. A chunk that is not marked is zero
 * and is not read: it takes no memory of the system, and no time.
 *
 * A thread that finds a number as it wants it leaves word and mark alone, so it has to see the
 * mark, and so does every thread that it tells. Therefore words are changed with a release, after
 * the mark, and acquired by threads that may leave them alone. Each change is a read-modify-write,
 * so it hands on the releases before it.
 */
#include "base/argument.h"
#include "base/mem.h"
#include "bloom/bits.h"
#include "bloom/file/set_file.h"
#include "bloom/little_endian.h"

#include <inttypes.h>
#include <stdatomic.h>

/* Of the body of a file of either kind. */
#define FILE_LAYOUT 1

#define CHUNK_WORDS  8192u /* 64 KiB */
#define WORD_NUMBERS 64u   /* of one bit */
#define WORD_PAIRS   32u   /* numbers of two bits */
#define LOW_BITS     UINT64_C(0x5555555555555555)

typedef _Atomic(uint64_t) bitmap_word;

struct petal_bitmap {
    struct env env;
    uint64_t numbers; /* from 1 */
    unsigned bits;    /* of a number: 1 or 2 */
    bitmap_word *words;
    uint64_t count;           /* of words */
    _Atomic(uint8_t) *marked; /* of each chunk; NULL: all may be (the words are mapped) */
    bool is_read_only;
    struct set_file file; /* mapped: the words are its body */
};

struct petal_bitmap2 {
    struct petal_bitmap bitmap; /* the only member: pointers are cast */
};

/* ---- words ---- */

static inline uint64_t
load(const petal_bitmap *bitmap, uint64_t index)
{
    return little_endian_word(atomic_load_explicit(&bitmap->words[index], memory_order_relaxed));
}

/* To be called for each word that becomes other than 0, before it does. */
static inline void
mark(petal_bitmap *bitmap, uint64_t index)
{
    _Atomic(uint8_t) *chunk = &bitmap->marked[index / CHUNK_WORDS];

    if (atomic_load_explicit(chunk, memory_order_relaxed) == 0)
        atomic_store_explicit(chunk, 1, memory_order_relaxed);
}

static size_t
words_bytes(uint64_t count)
{
    return (size_t)count * sizeof(bitmap_word);
}

static uint64_t
words_for(uint64_t numbers, unsigned bits)
{
    return (numbers - 1) / (64 / bits) + 1;
}

static uint64_t
chunk_count(const petal_bitmap *bitmap)
{
    return (bitmap->count - 1) / CHUNK_WORDS + 1;
}

/* Of the chunk that the word lies in. */
static uint64_t
chunk_end(const petal_bitmap *bitmap, uint64_t index)
{
    uint64_t end = (index / CHUNK_WORDS + 1) * CHUNK_WORDS;

    return end < bitmap->count ? end : bitmap->count;
}

static bool
is_marked(const petal_bitmap *bitmap, uint64_t index)
{
    return bitmap->marked == NULL ||
           atomic_load_explicit(&bitmap->marked[index / CHUNK_WORDS], memory_order_relaxed) != 0;
}

/* The first word from `from` on that is not 0; the number of words: there is none. */
static uint64_t
next_word(const petal_bitmap *bitmap, uint64_t from)
{
    while (from < bitmap->count) {
        uint64_t end = chunk_end(bitmap, from);

        if (!is_marked(bitmap, from))
            from = end;
        for (; from < end; from++)
            if (atomic_load_explicit(&bitmap->words[from], memory_order_relaxed) != 0)
                return from;
    }
    return bitmap->count;
}

/* ---- making and freeing ---- */

/* Without words, but with marks where it can be written to. */
static petal_bitmap *
new_bitmap(const struct env *env, uint64_t numbers, unsigned bits, bool is_read_only)
{
    petal_bitmap *bitmap = mem_zalloc(env->allocator, sizeof *bitmap);

    if (bitmap == NULL)
        return NULL;
    *bitmap = (petal_bitmap){.env = *env,
                             .numbers = numbers,
                             .bits = bits,
                             .count = words_for(numbers, bits),
                             .is_read_only = is_read_only};
    if (!is_read_only)
        bitmap->marked = mem_zalloc(env->allocator, (size_t)chunk_count(bitmap));
    if (is_read_only || bitmap->marked != NULL)
        return bitmap;
    mem_free(env->allocator, bitmap, sizeof *bitmap);
    return NULL;
}

static enum petal_status
create(uint64_t numbers, unsigned bits, const petal_env *env, petal_bitmap **bitmap,
       petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;

    enum petal_status status;
    struct env resolved;

    if (numbers == 0 || numbers > PETAL_BITMAP_MAX_BITS)
        return error_set(error, PETAL_INVALID, "%s is %" PRIu64 "; it must be 1 to %" PRIu64,
                         bits == 1 ? "bits" : "numbers", numbers, PETAL_BITMAP_MAX_BITS);
    status = env_check(env, error);
    if (status != PETAL_OK)
        return status;
    env_init(&resolved, env);
    if (words_for(numbers, bits) > SIZE_MAX / 2 / sizeof(bitmap_word))
        return error_no_memory(error);
    *bitmap = new_bitmap(&resolved, numbers, bits, false);
    if (*bitmap == NULL)
        return error_no_memory(error);
    (*bitmap)->words = set_memory(&resolved, words_bytes((*bitmap)->count));
    if ((*bitmap)->words != NULL)
        return PETAL_OK;
    petal_bitmap_free(*bitmap);
    *bitmap = NULL;
    return error_no_memory(error);
}

void
petal_bitmap_free(petal_bitmap *bitmap)
{
    const petal_allocator *allocator;

    if (bitmap == NULL)
        return;
    allocator = bitmap->env.allocator;
    if (bitmap->is_read_only) {
        set_file_close(&bitmap->file);
    } else {
        mem_free(allocator, bitmap->words, words_bytes(bitmap->count));
        mem_free(allocator, bitmap->marked, (size_t)chunk_count(bitmap));
    }
    mem_free(allocator, bitmap, sizeof *bitmap);
}

enum petal_status
petal_bitmap_create(uint64_t bits, const petal_env *env, petal_bitmap **bitmap, petal_error *error)
{
    return create(bits, 1, env, bitmap, error);
}

enum petal_status
petal_bitmap2_create(uint64_t numbers, const petal_env *env, petal_bitmap2 **bitmap,
                     petal_error *error)
{
    return create(numbers, 2, env, (petal_bitmap **)bitmap, error);
}

void
petal_bitmap2_free(petal_bitmap2 *bitmap)
{
    petal_bitmap_free((petal_bitmap *)bitmap);
}

uint64_t
petal_bitmap_bits(const petal_bitmap *bitmap)
{
    return bitmap != NULL ? bitmap->numbers : 0;
}

uint64_t
petal_bitmap2_numbers(const petal_bitmap2 *bitmap)
{
    return petal_bitmap_bits((const petal_bitmap *)bitmap);
}

/* ---- numbers ---- */

/* A bit that is set already is only read: its cache line stays with all cores. */
bool
petal_bitmap_set(petal_bitmap *bitmap, uint64_t number)
{
    uint64_t index = number / WORD_NUMBERS,
             bit = little_endian_word(UINT64_C(1) << number % WORD_NUMBERS);
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->numbers || bitmap->is_read_only)
        return false;
    word = &bitmap->words[index];
    if ((atomic_load_explicit(word, memory_order_acquire) & bit) != 0)
        return true;
    mark(bitmap, index);
    return (atomic_fetch_or_explicit(word, bit, memory_order_release) & bit) != 0;
}

bool
petal_bitmap_test(const petal_bitmap *bitmap, uint64_t number)
{
    return bitmap != NULL && number < bitmap->numbers &&
           (load(bitmap, number / WORD_NUMBERS) >> number % WORD_NUMBERS & 1) != 0;
}

static enum petal_bitmap2_state
state_of(uint64_t word, uint64_t number)
{
    uint64_t state = word >> 2 * (number % WORD_PAIRS) & 3;

    return state == 3 ? PETAL_BITMAP2_MORE : (enum petal_bitmap2_state)state;
}

enum petal_bitmap2_state
petal_bitmap2_get(const petal_bitmap2 *pairs, uint64_t number)
{
    const petal_bitmap *bitmap = (const petal_bitmap *)pairs;

    if (bitmap == NULL || number >= bitmap->numbers)
        return PETAL_BITMAP2_NONE;
    return state_of(load(bitmap, number / WORD_PAIRS), number);
}

/* A number that is MORE already is only read: its cache line stays with all cores. */
enum petal_bitmap2_state
petal_bitmap2_add(petal_bitmap2 *pairs, uint64_t number)
{
    petal_bitmap *bitmap = (petal_bitmap *)pairs;
    uint64_t index = number / WORD_PAIRS, before, after, one;
    enum petal_bitmap2_state state;
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->numbers || bitmap->is_read_only)
        return petal_bitmap2_get(pairs, number);
    word = &bitmap->words[index];
    one = UINT64_C(1) << 2 * (number % WORD_PAIRS);
    before = atomic_load_explicit(word, memory_order_acquire);
    do {
        state = state_of(little_endian_word(before), number);
        if (state == PETAL_BITMAP2_MORE)
            return state;
        mark(bitmap, index);
        after = little_endian_word(little_endian_word(before) + one);
    } while (!atomic_compare_exchange_weak_explicit(word, &before, after, memory_order_release,
                                                    memory_order_acquire));
    return state;
}

/* ---- all numbers ---- */

/* The lowest bit of each number of the word that is in the state; of one bit NONE or ONE. */
static inline uint64_t
in_state(uint64_t word, unsigned bits, enum petal_bitmap2_state state)
{
    if (bits == 1)
        return state == PETAL_BITMAP2_NONE ? ~word : word;
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

/* Words of 0 are passed over: none of their numbers is in a state but NONE. */
static uint64_t
count(const petal_bitmap *bitmap, enum petal_bitmap2_state state)
{
    uint64_t sum = 0;

    if (bitmap == NULL)
        return 0;
    if (state == PETAL_BITMAP2_NONE)
        return bitmap->numbers - count(bitmap, PETAL_BITMAP2_ONE) -
               count(bitmap, PETAL_BITMAP2_MORE);
    for (uint64_t i = next_word(bitmap, 0); i < bitmap->count; i = next_word(bitmap, i + 1))
        sum += count_bits(in_state(load(bitmap, i), bitmap->bits, state));
    return sum;
}

uint64_t
petal_bitmap_count(const petal_bitmap *bitmap)
{
    return count(bitmap, PETAL_BITMAP2_ONE);
}

uint64_t
petal_bitmap2_count(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state)
{
    return count((const petal_bitmap *)bitmap, state);
}

/* The least number from `from` on in the state. A word is looked at again although it was not 0: a
 * mapped file may change. */
static uint64_t
next(const petal_bitmap *bitmap, enum petal_bitmap2_state state, uint64_t from)
{
    unsigned word_numbers;
    uint64_t index, mask;

    if (bitmap == NULL || from >= bitmap->numbers)
        return PETAL_BITMAP_NONE;
    word_numbers = 64 / bitmap->bits;
    index = from / word_numbers;
    mask = UINT64_MAX << bitmap->bits * (from % word_numbers);
    while (index < bitmap->count) {
        uint64_t found = in_state(load(bitmap, index), bitmap->bits, state) & mask;

        if (found != 0) {
            uint64_t number = index * word_numbers + lowest_bit(found) / bitmap->bits;

            return number < bitmap->numbers ? number : PETAL_BITMAP_NONE;
        }
        mask = UINT64_MAX;
        index = state == PETAL_BITMAP2_NONE ? index + 1 : next_word(bitmap, index + 1);
    }
    return PETAL_BITMAP_NONE;
}

uint64_t
petal_bitmap_next_set(const petal_bitmap *bitmap, uint64_t from)
{
    return next(bitmap, PETAL_BITMAP2_ONE, from);
}

uint64_t
petal_bitmap_next_clear(const petal_bitmap *bitmap, uint64_t from)
{
    return next(bitmap, PETAL_BITMAP2_NONE, from);
}

uint64_t
petal_bitmap2_next(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state, uint64_t from)
{
    return next((const petal_bitmap *)bitmap, state, from);
}

/* ---- two bitmaps ---- */

/* The sums of two bits' states; what is above MORE is MORE. */
static inline uint64_t
add_states(uint64_t a, uint64_t b)
{
    uint64_t more = ((a | b) >> 1 | (a & b)) & LOW_BITS;

    return more << 1 | ((a ^ b) & LOW_BITS & ~more);
}

enum petal_status
petal_bitmap_unite(petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(other, error);

    if (bitmap->is_read_only)
        return error_set(error, PETAL_READ_ONLY, "the bitmap is mapped and cannot be changed");
    if (bitmap->numbers != other->numbers)
        return error_set(error, PETAL_INVALID, "the bitmaps have %" PRIu64 " and %" PRIu64 " %s",
                         bitmap->numbers, other->numbers, bitmap->bits == 1 ? "bits" : "numbers");
    for (uint64_t i = next_word(other, 0); i < other->count; i = next_word(other, i + 1)) {
        uint64_t a = load(bitmap, i), b = load(other, i);
        uint64_t both = bitmap->bits == 1 ? a | b : add_states(a, b);

        mark(bitmap, i);
        atomic_store_explicit(&bitmap->words[i], little_endian_word(both), memory_order_release);
    }
    return PETAL_OK;
}

enum petal_status
petal_bitmap2_unite(petal_bitmap2 *bitmap, const petal_bitmap2 *other, petal_error *error)
{
    return petal_bitmap_unite((petal_bitmap *)bitmap, (const petal_bitmap *)other, error);
}

/* ---- files ---- */

static enum petal_bloom_file_type
type_of(unsigned bits)
{
    return bits == 1 ? PETAL_BLOOM_FILE_BITMAP : PETAL_BLOOM_FILE_BITMAP2;
}

enum petal_status
petal_bitmap_save(const petal_bitmap *bitmap, const char *path, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(path, error);

    const struct set_file_head head = {
        .type = type_of(bitmap->bits), .layout = FILE_LAYOUT, .parameters = {bitmap->numbers}};
    struct set_file_writer *writer;
    enum petal_status status = set_file_create(&bitmap->env, path, &writer, error);

    if (status != PETAL_OK)
        return status;
    for (uint64_t from = 0, end; from < bitmap->count && status == PETAL_OK; from = end) {
        size_t bytes;

        end = chunk_end(bitmap, from);
        bytes = words_bytes(end - from);
        status = set_file_append(
            writer, is_marked(bitmap, from) ? (const void *)&bitmap->words[from] : NULL, bytes,
            error);
    }
    if (status == PETAL_OK)
        return set_file_finish(writer, &head, error);
    set_file_abandon(writer);
    return status;
}

enum petal_status
petal_bitmap2_save(const petal_bitmap2 *bitmap, const char *path, petal_error *error)
{
    return petal_bitmap_save((const petal_bitmap *)bitmap, path, error);
}

static enum petal_status
check_file(const struct set_file *file, unsigned bits, const char *path, petal_error *error)
{
    uint64_t numbers = file->head.parameters[0], bytes;

    if (file->head.layout != FILE_LAYOUT)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "the bitmap has layout %u, this library reads layout %u",
                          file->head.layout, FILE_LAYOUT);
    if (numbers == 0 || numbers > PETAL_BITMAP_MAX_BITS)
        return error_corrupt(error, path, 0, "the bitmap is of %" PRIu64 " numbers; 1 to %" PRIu64,
                             numbers, (uint64_t)PETAL_BITMAP_MAX_BITS);
    bytes = words_for(numbers, bits) * sizeof(bitmap_word);
    if (file->body_bytes != bytes)
        return error_corrupt(error, path, 0,
                             "the bitmap has %" PRIu64 " bytes; its %" PRIu64
                             " numbers take %" PRIu64,
                             file->body_bytes, numbers, bytes);
    return PETAL_OK;
}

/* The numbers of the last word that are none of the bitmap's are 0. */
static enum petal_status
check_end(const petal_bitmap *bitmap, const char *path, petal_error *error)
{
    unsigned per_word = 64 / bitmap->bits;
    unsigned used = (unsigned)((bitmap->numbers - 1) % per_word + 1) * bitmap->bits;

    if (used == 64 || load(bitmap, bitmap->count - 1) >> used == 0)
        return PETAL_OK;
    return error_corrupt(error, path,
                         SET_FILE_PAGE_BYTES + (bitmap->count - 1) * sizeof(bitmap_word),
                         "bits behind the last of %" PRIu64 " numbers are not 0", bitmap->numbers);
}

static enum petal_status
check_states(const petal_bitmap *bitmap, const char *path, petal_error *error)
{
    for (uint64_t i = next_word(bitmap, 0); i < bitmap->count; i = next_word(bitmap, i + 1)) {
        uint64_t word = load(bitmap, i), wrong = word & word >> 1 & LOW_BITS;

        if (wrong != 0)
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + i * sizeof word,
                                 "number %" PRIu64 " has the state 3; states are 0 to 2",
                                 i * WORD_PAIRS + lowest_bit(wrong) / 2);
    }
    return PETAL_OK;
}

/* Mark the chunks that hold something; looking at memory that was not written to takes none. */
static void
mark_chunks(petal_bitmap *bitmap)
{
    for (uint64_t from = 0, end; from < bitmap->count; from = end) {
        end = chunk_end(bitmap, from);
        for (uint64_t i = from; i < end && !is_marked(bitmap, from); i++)
            if (atomic_load_explicit(&bitmap->words[i], memory_order_relaxed) != 0)
                mark(bitmap, from);
    }
}

static enum petal_status
load_file(const char *path, const petal_bloom_load_options *options, unsigned bits,
          petal_bitmap **bitmap, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;
    RETURN_IF_NULL(path, error);

    petal_bitmap *made = NULL;
    struct set_file file;
    enum petal_status status = set_file_open(path, options, type_of(bits), &file, error);

    if (status != PETAL_OK)
        return status;
    status = check_file(&file, bits, path, error);
    if (status == PETAL_OK) {
        made = new_bitmap(&file.env, file.head.parameters[0], bits, file.is_mapped);
        status = made == NULL ? error_no_memory(error) : PETAL_OK;
    }
    if (status != PETAL_OK) {
        set_file_close(&file);
        return status;
    }
    made->words = (bitmap_word *)file.body;
    made->file = file;
    if (!file.is_mapped)
        mark_chunks(made);
    status = check_end(made, path, error);
    if (status == PETAL_OK && bits == 2)
        status = check_states(made, path, error);
    if (status == PETAL_OK)
        *bitmap = made;
    else
        petal_bitmap_free(made);
    return status;
}

enum petal_status
petal_bitmap_load(const char *path, const petal_bloom_load_options *options, petal_bitmap **bitmap,
                  petal_error *error)
{
    return load_file(path, options, 1, bitmap, error);
}

enum petal_status
petal_bitmap2_load(const char *path, const petal_bloom_load_options *options,
                   petal_bitmap2 **bitmap, petal_error *error)
{
    return load_file(path, options, 2, (petal_bitmap **)bitmap, error);
}
