/*
 * bitmap.c -- bitmaps: a bit for each of the numbers 0..bits-1, and an index for rank and select.
 *
 * INDEX.  Two levels, and samples, as in Zhou, Andersen and Kaminsky ("Space-efficient,
 * high-performance rank and select structures on uncompressed bit sequences", 2013). A REGION is
 * 2^32 bits; the index has how many bits are set before each. A BLOCK is 2,048 bits, four LINES of
 * 512; its entry has how many are set before it in its region (32 bits), and in each of its first
 * three lines (10 bits each). A SAMPLE is the block of each 8,192nd set bit. So a rank reads an
 * entry and a line; a select halves the entries between two samples, then reads a line.
 *
 * The index is that of the bits when it was made. Who changes one of them says that it is no longer
 * valid, but leaves its memory where it is: others may be reading it. Whatever it says, and
 * whatever a mapped file turns into, nothing outside of the words is read.
 */
#include "bloom/bitmap/words.h"

#include "base/argument.h"
#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define WORD_BITS     64u
#define LINE_WORDS    8u
#define LINE_BITS     (LINE_WORDS * WORD_BITS)
#define BLOCK_LINES   4u
#define BLOCK_WORDS   (BLOCK_LINES * LINE_WORDS)
#define BLOCK_BITS    (BLOCK_WORDS * WORD_BITS)
#define REGION_BITS   (UINT64_C(1) << 32)
#define REGION_BLOCKS (REGION_BITS / BLOCK_BITS)
#define SAMPLE_BITS   8192u
#define COUNT_BITS    10u
#define COUNT_MASK    ((1u << COUNT_BITS) - 1)

_Static_assert(BITMAP_CHUNK_WORDS % BLOCK_WORDS == 0, "a chunk has whole blocks");

struct bitmap_index {
    uint64_t *regions, *blocks, *samples; /* one piece of memory; NULL: it was never made */
    uint64_t region_count, block_count, sample_count;
    uint64_t total; /* set bits */
    atomic_bool is_valid;
};

struct petal_bitmap {
    struct bitmap_words words;
    uint64_t bits;
    struct bitmap_index index;
};

/* ---- making ---- */

static petal_bitmap *
new_bitmap(const struct env *env, uint64_t bits)
{
    petal_bitmap *bitmap = mem_zalloc(env->allocator, sizeof *bitmap);

    if (bitmap != NULL) {
        bitmap->bits = bits;
        atomic_init(&bitmap->index.is_valid, false);
    }
    return bitmap;
}

enum petal_status
petal_bitmap_create(uint64_t bits, const petal_env *env, petal_bitmap **bitmap, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;

    enum petal_status status;
    struct env resolved;

    if (bits == 0 || bits > PETAL_BITMAP_MAX_BITS)
        return error_set(error, PETAL_INVALID, "bits is %" PRIu64 "; it must be 1 to %" PRIu64,
                         bits, PETAL_BITMAP_MAX_BITS);
    status = env_check(env, error);
    if (status != PETAL_OK)
        return status;
    env_init(&resolved, env);
    *bitmap = new_bitmap(&resolved, bits);
    if (*bitmap == NULL)
        return error_no_memory(error);
    status = bitmap_words_init(&(*bitmap)->words, &resolved, (bits - 1) / WORD_BITS + 1, error);
    if (status != PETAL_OK) {
        mem_free(resolved.allocator, *bitmap, sizeof **bitmap);
        *bitmap = NULL;
    }
    return status;
}

static size_t
index_bytes(const struct bitmap_index *index)
{
    return (size_t)(index->region_count + index->block_count + index->sample_count) *
           sizeof(uint64_t);
}

static void
free_index(petal_bitmap *bitmap)
{
    struct bitmap_index *index = &bitmap->index;

    mem_free(bitmap->words.env.allocator, index->regions, index_bytes(index));
    index->regions = NULL;
    atomic_store_explicit(&index->is_valid, false, memory_order_relaxed);
}

void
petal_bitmap_free(petal_bitmap *bitmap)
{
    const petal_allocator *allocator;

    if (bitmap == NULL)
        return;
    allocator = bitmap->words.env.allocator;
    free_index(bitmap);
    bitmap_words_fini(&bitmap->words);
    mem_free(allocator, bitmap, sizeof *bitmap);
}

uint64_t
petal_bitmap_bits(const petal_bitmap *bitmap)
{
    return bitmap != NULL ? bitmap->bits : 0;
}

bool
petal_bitmap_is_read_only(const petal_bitmap *bitmap)
{
    return bitmap != NULL && bitmap->words.is_read_only;
}

/* ---- single numbers ---- */

static void
drop_index(petal_bitmap *bitmap)
{
    if (atomic_load_explicit(&bitmap->index.is_valid, memory_order_relaxed))
        atomic_store_explicit(&bitmap->index.is_valid, false, memory_order_relaxed);
}

static bool
has_index(const petal_bitmap *bitmap)
{
    return atomic_load_explicit(&bitmap->index.is_valid, memory_order_relaxed);
}

/* What is so already is only read: its cache line stays with all cores. Who changed it has dropped
 * the index before, which is seen then. */
bool
petal_bitmap_set(petal_bitmap *bitmap, uint64_t number)
{
    uint64_t index = number / WORD_BITS,
             bit = little_endian_word(UINT64_C(1) << number % WORD_BITS);
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->bits || bitmap->words.is_read_only)
        return false;
    word = &bitmap->words.words[index];
    if ((atomic_load_explicit(word, memory_order_acquire) & bit) != 0)
        return true;
    drop_index(bitmap);
    bitmap_mark(&bitmap->words, index);
    return (atomic_fetch_or_explicit(word, bit, memory_order_release) & bit) != 0;
}

bool
petal_bitmap_clear(petal_bitmap *bitmap, uint64_t number)
{
    uint64_t bit = little_endian_word(UINT64_C(1) << number % WORD_BITS);
    bitmap_word *word;

    if (bitmap == NULL || number >= bitmap->bits || bitmap->words.is_read_only)
        return false;
    word = &bitmap->words.words[number / WORD_BITS];
    if ((atomic_load_explicit(word, memory_order_acquire) & bit) == 0)
        return false;
    drop_index(bitmap);
    return (atomic_fetch_and_explicit(word, ~bit, memory_order_release) & bit) != 0;
}

bool
petal_bitmap_test(const petal_bitmap *bitmap, uint64_t number)
{
    return bitmap != NULL && number < bitmap->bits &&
           (bitmap_load(&bitmap->words, number / WORD_BITS) >> number % WORD_BITS & 1) != 0;
}

/* ---- ranges ---- */

/* The bits of a word that are numbers from..to-1.  REQUIRES: some are. */
static uint64_t
mask_of(uint64_t index, uint64_t from, uint64_t to)
{
    uint64_t begin = index * WORD_BITS, mask = UINT64_MAX;

    assert(from < begin + WORD_BITS && to > begin);
    if (from > begin)
        mask &= UINT64_MAX << (from - begin);
    if (to < begin + WORD_BITS)
        mask &= UINT64_MAX >> (begin + WORD_BITS - to);
    return mask;
}

static void
set_masked(struct bitmap_words *words, uint64_t index, uint64_t mask, bool value)
{
    if (value)
        atomic_fetch_or_explicit(&words->words[index], little_endian_word(mask),
                                 memory_order_release);
    else
        atomic_fetch_and_explicit(&words->words[index], ~little_endian_word(mask),
                                  memory_order_release);
}

/* The numbers from..to-1 of one chunk. */
static void
fill_in_chunk(struct bitmap_words *words, uint64_t from, uint64_t to, bool value)
{
    uint64_t first = from / WORD_BITS, last = (to - 1) / WORD_BITS;

    if (!value && !bitmap_is_marked(words, first / BITMAP_CHUNK_WORDS))
        return;
    if (value)
        bitmap_mark(words, first);
    set_masked(words, first, mask_of(first, from, to), value);
    for (uint64_t i = first + 1; i < last; i++)
        atomic_store_explicit(&words->words[i], value ? UINT64_MAX : 0, memory_order_release);
    if (last > first)
        set_masked(words, last, mask_of(last, from, to), value);
}

static void
fill(petal_bitmap *bitmap, uint64_t from, uint64_t to, bool value)
{
    const uint64_t chunk_bits = (uint64_t)BITMAP_CHUNK_WORDS * WORD_BITS;

    if (to > bitmap->bits)
        to = bitmap->bits;
    if (from >= to || bitmap->words.is_read_only)
        return;
    drop_index(bitmap);
    while (from < to) {
        uint64_t end = (from / chunk_bits + 1) * chunk_bits;

        fill_in_chunk(&bitmap->words, from, end < to ? end : to, value);
        from = end;
    }
}

void
petal_bitmap_set_range(petal_bitmap *bitmap, uint64_t from, uint64_t to)
{
    if (bitmap != NULL)
        fill(bitmap, from, to, true);
}

void
petal_bitmap_clear_range(petal_bitmap *bitmap, uint64_t from, uint64_t to)
{
    if (bitmap != NULL)
        fill(bitmap, from, to, false);
}

/* Set bits of words from..to-1; chunks that are not marked are passed over. */
static uint64_t
count_words(const struct bitmap_words *words, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;

    while (from < to) {
        uint64_t chunk = from / BITMAP_CHUNK_WORDS, end = bitmap_chunk_end(words, chunk);

        if (end > to)
            end = to;
        if (bitmap_is_marked(words, chunk))
            sum += bitmap_words_count(words, from, end);
        from = end;
    }
    return sum;
}

/* ---- rank ---- */

/* Set bits of the line that the number lies in, below it. */
static uint64_t
rank_in_line(const petal_bitmap *bitmap, uint64_t number)
{
    uint64_t last = number / WORD_BITS, i = last / LINE_WORDS * LINE_WORDS, sum = 0;

    for (; i < last; i++)
        sum += count_bits(bitmap_load(&bitmap->words, i));
    if (number % WORD_BITS != 0)
        sum += count_bits(bitmap_load(&bitmap->words, last) << (WORD_BITS - number % WORD_BITS));
    return sum;
}

/* How many are set before a line of the block. */
static uint64_t
before_line(uint64_t entry, unsigned line)
{
    uint64_t sum = entry & UINT32_MAX;

    for (unsigned i = 0; i < line; i++)
        sum += entry >> (32 + COUNT_BITS * i) & COUNT_MASK;
    return sum;
}

/* Set bits before the number's line, when the index was made. */
static uint64_t
indexed_rank(const struct bitmap_index *index, uint64_t number)
{
    return index->regions[number / REGION_BITS] +
           before_line(index->blocks[number / BLOCK_BITS],
                       (unsigned)(number % BLOCK_BITS / LINE_BITS));
}

static uint64_t
rank_by_index(const petal_bitmap *bitmap, uint64_t number)
{
    return indexed_rank(&bitmap->index, number) + rank_in_line(bitmap, number);
}

uint64_t
petal_bitmap_rank(const petal_bitmap *bitmap, uint64_t number)
{
    uint64_t line = number / WORD_BITS / LINE_WORDS * LINE_WORDS;

    if (bitmap == NULL || number >= bitmap->bits)
        return petal_bitmap_count(bitmap);
    if (has_index(bitmap))
        return rank_by_index(bitmap, number);
    return count_words(&bitmap->words, 0, line) + rank_in_line(bitmap, number);
}

uint64_t
petal_bitmap_count(const petal_bitmap *bitmap)
{
    if (bitmap == NULL)
        return 0;
    return has_index(bitmap) ? bitmap->index.total
                             : count_words(&bitmap->words, 0, bitmap->words.count);
}

/* Set bits of the numbers from..to-1.  REQUIRES: there are some. */
static uint64_t
count_numbers(const petal_bitmap *bitmap, uint64_t from, uint64_t to)
{
    uint64_t first = from / WORD_BITS, last = (to - 1) / WORD_BITS, sum;

    sum = count_bits(bitmap_load(&bitmap->words, first) & mask_of(first, from, to));
    if (last == first)
        return sum;
    return sum + count_words(&bitmap->words, first + 1, last) +
           count_bits(bitmap_load(&bitmap->words, last) & mask_of(last, from, to));
}

/* Lines that are whole come from the index, both ends from one time; what lies around them is
 * counted: beside a thread that changes bits a difference of ranks could fall below 0. */
static uint64_t
count_by_index(const petal_bitmap *bitmap, uint64_t from, uint64_t to)
{
    uint64_t first = (from + LINE_BITS - 1) / LINE_BITS * LINE_BITS;
    uint64_t last = (to - 1) / LINE_BITS * LINE_BITS; /* below `bits`: the index ends there */
    uint64_t sum;

    if (first >= last)
        return count_numbers(bitmap, from, to);
    sum = indexed_rank(&bitmap->index, last) - indexed_rank(&bitmap->index, first);
    if (from < first)
        sum += count_numbers(bitmap, from, first);
    return sum + count_numbers(bitmap, last, to);
}

uint64_t
petal_bitmap_count_range(const petal_bitmap *bitmap, uint64_t from, uint64_t to)
{
    if (bitmap == NULL)
        return 0;
    if (to > bitmap->bits)
        to = bitmap->bits;
    if (from >= to)
        return 0;
    return has_index(bitmap) ? count_by_index(bitmap, from, to) : count_numbers(bitmap, from, to);
}

/* ---- select ---- */

/* The position of the set bit with `rank` set ones below it.  REQUIRES: there is one. */
static unsigned
select_in_word(uint64_t number, unsigned rank)
{
    unsigned position = 0, below = count_bits(number & UINT32_MAX);

    if (rank >= below) {
        rank -= below;
        number >>= 32;
        position = 32;
    }
    below = count_bits(number & UINT16_MAX);
    if (rank >= below) {
        rank -= below;
        number >>= 16;
        position += 16;
    }
    for (; rank > 0; rank--)
        number &= number - 1;
    return position + lowest_bit(number);
}

/* Words from..to-1, of which the first set bit has the rank 0; PETAL_BITMAP_NONE: they have no more
 * set bits than `rank`. */
static uint64_t
select_in_words(const petal_bitmap *bitmap, uint64_t from, uint64_t to, uint64_t rank)
{
    for (; from < to; from++) {
        uint64_t number = bitmap_load(&bitmap->words, from);
        unsigned count = count_bits(number);

        if (rank < count) {
            uint64_t found = from * WORD_BITS + select_in_word(number, (unsigned)rank);

            return found < bitmap->bits ? found : PETAL_BITMAP_NONE;
        }
        rank -= count;
    }
    return PETAL_BITMAP_NONE;
}

/* How many bits are set before the block. */
static uint64_t
before_block(const struct bitmap_index *index, uint64_t block)
{
    return index->regions[block / REGION_BLOCKS] + (index->blocks[block] & UINT32_MAX);
}

/* The last block with at most `rank` set bits before it. */
static uint64_t
find_block(const struct bitmap_index *index, uint64_t rank)
{
    uint64_t sample = rank / SAMPLE_BITS, from, to = index->block_count;

    if (sample >= index->sample_count)
        sample = index->sample_count - 1;
    from = index->samples[sample];
    if (sample + 1 < index->sample_count)
        to = index->samples[sample + 1] + 1;
    while (to - from > 1) {
        uint64_t middle = from + (to - from) / 2;

        if (before_block(index, middle) <= rank)
            from = middle;
        else
            to = middle;
    }
    return from;
}

static uint64_t
select_by_index(const petal_bitmap *bitmap, uint64_t rank)
{
    const struct bitmap_index *index = &bitmap->index;
    uint64_t block, first, last;
    unsigned line = 0;

    if (rank >= index->total)
        return PETAL_BITMAP_NONE;
    block = find_block(index, rank);
    rank -= index->regions[block / REGION_BLOCKS];
    while (line < BLOCK_LINES - 1 && before_line(index->blocks[block], line + 1) <= rank)
        line++;
    rank -= before_line(index->blocks[block], line);
    first = block * BLOCK_WORDS + line * LINE_WORDS;
    last = first + LINE_WORDS;
    return select_in_words(bitmap, first, last < bitmap->words.count ? last : bitmap->words.count,
                           rank);
}

uint64_t
petal_bitmap_select(const petal_bitmap *bitmap, uint64_t rank)
{
    if (bitmap == NULL)
        return PETAL_BITMAP_NONE;

    const struct bitmap_words *words = &bitmap->words;

    if (has_index(bitmap))
        return select_by_index(bitmap, rank);
    for (uint64_t chunk = 0; chunk < bitmap_chunks(words); chunk++) {
        uint64_t begin = bitmap_chunk_begin(chunk), end = bitmap_chunk_end(words, chunk), count;

        if (!bitmap_is_marked(words, chunk))
            continue;
        count = bitmap_words_count(words, begin, end);
        if (rank < count)
            return select_in_words(bitmap, begin, end, rank);
        rank -= count;
    }
    return PETAL_BITMAP_NONE;
}

/* ---- the index ---- */

/* Set bits of the block, which are counted into its entry. */
static uint64_t
index_block(petal_bitmap *bitmap, uint64_t block, uint64_t before)
{
    const struct bitmap_words *words = &bitmap->words;
    uint64_t entry = before, sum = 0;

    for (unsigned line = 0; line < BLOCK_LINES; line++) {
        uint64_t first = block * BLOCK_WORDS + line * LINE_WORDS, last = first + LINE_WORDS, count;

        count = first >= words->count
                    ? 0
                    : bitmap_words_count(words, first, last < words->count ? last : words->count);
        if (line < BLOCK_LINES - 1)
            entry |= count << (32 + COUNT_BITS * line);
        sum += count;
    }
    bitmap->index.blocks[block] = entry;
    return sum;
}

/* The samples that lie in the block, behind which `total` bits are set. */
static void
add_samples(struct bitmap_index *index, uint64_t *samples, uint64_t block, uint64_t total)
{
    for (; *samples < index->sample_count && *samples * SAMPLE_BITS < total; ++*samples)
        index->samples[*samples] = block;
}

static void
fill_index(petal_bitmap *bitmap)
{
    struct bitmap_index *index = &bitmap->index;
    uint64_t total = 0, in_region = 0, samples = 0;

    for (uint64_t block = 0; block < index->block_count; block++) {
        if (block % REGION_BLOCKS == 0) {
            index->regions[block / REGION_BLOCKS] = total;
            in_region = 0;
        }
        if (bitmap_is_marked(&bitmap->words, block * BLOCK_WORDS / BITMAP_CHUNK_WORDS)) {
            uint64_t count = index_block(bitmap, block, in_region);

            total += count;
            in_region += count;
            add_samples(index, &samples, block, total);
        } else {
            index->blocks[block] = in_region;
        }
    }
    index->total = total;
    /* One at least; and all, should a mapped file have changed since it was counted. */
    while (samples < index->sample_count)
        index->samples[samples++] = index->block_count - 1;
}

enum petal_status
petal_bitmap_index(petal_bitmap *bitmap, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);

    struct bitmap_index *index = &bitmap->index;

    if (has_index(bitmap))
        return PETAL_OK;
    free_index(bitmap);
    index->region_count = (bitmap->bits - 1) / REGION_BITS + 1;
    index->block_count = (bitmap->bits - 1) / BLOCK_BITS + 1;
    index->sample_count = petal_bitmap_count(bitmap) / SAMPLE_BITS + 1;
    index->regions = mem_alloc(bitmap->words.env.allocator, index_bytes(index));
    if (index->regions == NULL)
        return error_no_memory(error);
    index->blocks = index->regions + index->region_count;
    index->samples = index->blocks + index->block_count;
    fill_index(bitmap);
    atomic_store_explicit(&index->is_valid, true, memory_order_relaxed);
    return PETAL_OK;
}

/* ---- the next one ---- */

uint64_t
petal_bitmap_next_set(const petal_bitmap *bitmap, uint64_t from)
{
    if (bitmap == NULL)
        return PETAL_BITMAP_NONE;

    const struct bitmap_words *words = &bitmap->words;
    uint64_t index = from / WORD_BITS, number, found;

    if (from >= bitmap->bits)
        return PETAL_BITMAP_NONE;
    number = bitmap_load(words, index) & UINT64_MAX << from % WORD_BITS;
    while (number == 0) { /* again: what was seen may be gone */
        index = bitmap_words_next(words, index + 1);
        if (index == words->count)
            return PETAL_BITMAP_NONE;
        number = bitmap_load(words, index);
    }
    found = index * WORD_BITS + lowest_bit(number);
    return found < bitmap->bits ? found : PETAL_BITMAP_NONE;
}

uint64_t
petal_bitmap_next_clear(const petal_bitmap *bitmap, uint64_t from)
{
    if (bitmap == NULL)
        return PETAL_BITMAP_NONE;

    const struct bitmap_words *words = &bitmap->words;
    uint64_t index = from / WORD_BITS, number, found;

    if (from >= bitmap->bits)
        return PETAL_BITMAP_NONE;
    number = ~bitmap_load(words, index) & UINT64_MAX << from % WORD_BITS;
    while (number == 0) {
        if (++index == words->count)
            return PETAL_BITMAP_NONE;
        number = ~bitmap_load(words, index);
    }
    found = index * WORD_BITS + lowest_bit(number);
    return found < bitmap->bits ? found : PETAL_BITMAP_NONE;
}

/* ---- two bitmaps ---- */

static enum petal_status
check_pair(const petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error)
{
    if (bitmap->words.is_read_only)
        return error_set(error, PETAL_READ_ONLY, "the bitmap is mapped and cannot be changed");
    if (bitmap->bits != other->bits)
        return error_set(error, PETAL_INVALID, "the bitmaps have %" PRIu64 " and %" PRIu64 " bits",
                         bitmap->bits, other->bits);
    return PETAL_OK;
}

static bitmap_plain_word *
plain_words(const petal_bitmap *bitmap, uint64_t index)
{
    return (bitmap_plain_word *)&bitmap->words.words[index];
}

enum petal_status
petal_bitmap_unite(petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(other, error);

    enum petal_status status = check_pair(bitmap, other, error);
    struct bitmap_page page = {0};

    if (status != PETAL_OK)
        return status;
    drop_index(bitmap);
    while (bitmap_next_page(&other->words, &page)) {
        bitmap_plain_word *to = plain_words(bitmap, page.begin);
        const bitmap_plain_word *from = plain_words(other, page.begin);

        bitmap_mark(&bitmap->words, page.begin);
        for (size_t i = 0; i < page.count; i++)
            to[i] |= from[i];
    }
    return PETAL_OK;
}

enum petal_status
petal_bitmap_intersect(petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(other, error);

    enum petal_status status = check_pair(bitmap, other, error);
    struct bitmap_page page = {0};

    if (status != PETAL_OK)
        return status;
    drop_index(bitmap);
    while (bitmap_next_page(&bitmap->words, &page)) {
        bitmap_plain_word *to = plain_words(bitmap, page.begin);
        const bitmap_plain_word *from = plain_words(other, page.begin);

        if (!bitmap_is_marked(&other->words, page.begin / BITMAP_CHUNK_WORDS)) {
            memset(to, 0, page.count * sizeof *to);
            continue;
        }
        for (size_t i = 0; i < page.count; i++)
            to[i] &= from[i];
    }
    return PETAL_OK;
}

enum petal_status
petal_bitmap_subtract(petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(other, error);

    enum petal_status status = check_pair(bitmap, other, error);
    struct bitmap_page page = {0};

    if (status != PETAL_OK)
        return status;
    drop_index(bitmap);
    while (bitmap_next_page(&bitmap->words, &page)) {
        bitmap_plain_word *to = plain_words(bitmap, page.begin);
        const bitmap_plain_word *from = plain_words(other, page.begin);

        if (!bitmap_is_marked(&other->words, page.begin / BITMAP_CHUNK_WORDS))
            continue;
        for (size_t i = 0; i < page.count; i++)
            to[i] &= ~from[i];
    }
    return PETAL_OK;
}

bool
petal_bitmap_equals(const petal_bitmap *a, const petal_bitmap *b)
{
    if (a == NULL || b == NULL || a->bits != b->bits)
        return false;
    for (uint64_t chunk = 0; chunk < bitmap_chunks(&a->words); chunk++) {
        uint64_t begin = bitmap_chunk_begin(chunk), end = bitmap_chunk_end(&a->words, chunk);

        if ((bitmap_is_marked(&a->words, chunk) || bitmap_is_marked(&b->words, chunk)) &&
            memcmp(plain_words(a, begin), plain_words(b, begin),
                   (size_t)(end - begin) * sizeof(bitmap_word)) != 0)
            return false;
    }
    return true;
}

/* ---- files ---- */

enum petal_status
petal_bitmap_save(const petal_bitmap *bitmap, const char *path, petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    RETURN_IF_NULL(path, error);

    const struct set_file_head head = {.type = PETAL_BLOOM_FILE_BITMAP,
                                       .layout = BITMAP_FILE_LAYOUT,
                                       .parameters = {bitmap->bits}};

    return bitmap_words_save(&bitmap->words, path, &head, error);
}

enum petal_status
petal_bitmap_load(const char *path, const petal_bloom_load_options *options, petal_bitmap **bitmap,
                  petal_error *error)
{
    RETURN_IF_NULL(bitmap, error);
    *bitmap = NULL;
    RETURN_IF_NULL(path, error);

    struct bitmap_words words;
    enum petal_status status;
    uint64_t bits;

    status =
        bitmap_words_open(path, options, PETAL_BLOOM_FILE_BITMAP, WORD_BITS, &words, &bits, error);
    if (status != PETAL_OK)
        return status;
    *bitmap = new_bitmap(&words.env, bits);
    if (*bitmap == NULL) {
        bitmap_words_fini(&words);
        return error_no_memory(error);
    }
    (*bitmap)->words = words;
    return PETAL_OK;
}
