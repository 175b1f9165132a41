/* words.c -- see words.h. */
#include "bloom/bitmap/words.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>

/* Of the bodies of both. */
#define FILE_LAYOUT 1

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
chunk_count(const struct bitmap *bitmap)
{
    return (bitmap->count - 1) / BITMAP_CHUNK_WORDS + 1;
}

/* Of the chunk that the word lies in. */
static uint64_t
chunk_end(const struct bitmap *bitmap, uint64_t index)
{
    uint64_t end = (index / BITMAP_CHUNK_WORDS + 1) * BITMAP_CHUNK_WORDS;

    return end < bitmap->count ? end : bitmap->count;
}

static bool
is_marked(const struct bitmap *bitmap, uint64_t index)
{
    return bitmap->marked == NULL ||
           atomic_load_explicit(&bitmap->marked[index / BITMAP_CHUNK_WORDS],
                                memory_order_relaxed) != 0;
}

/* ---- making and freeing ---- */

/* Without words, but with marks where it can be written to. */
static struct bitmap *
new_bitmap(const struct env *env, uint64_t numbers, unsigned bits, bool is_read_only)
{
    struct bitmap *bitmap = mem_zalloc(env->allocator, sizeof *bitmap);

    if (bitmap == NULL)
        return NULL;
    *bitmap = (struct bitmap){.env = *env,
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

enum petal_status
bitmap_create(uint64_t numbers, unsigned bits, const petal_env *env, struct bitmap **bitmap,
              petal_error *error)
{
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
    bitmap_free(*bitmap);
    *bitmap = NULL;
    return error_no_memory(error);
}

void
bitmap_free(struct bitmap *bitmap)
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

/* ---- all words ---- */

uint64_t
bitmap_next_word(const struct bitmap *bitmap, uint64_t from)
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

enum petal_status
bitmap_check_pair(const struct bitmap *bitmap, const struct bitmap *other, petal_error *error)
{
    if (bitmap->is_read_only)
        return error_set(error, PETAL_READ_ONLY, "the bitmap is mapped and cannot be changed");
    if (bitmap->numbers != other->numbers)
        return error_set(error, PETAL_INVALID, "the bitmaps have %" PRIu64 " and %" PRIu64 " %s",
                         bitmap->numbers, other->numbers, bitmap->bits == 1 ? "bits" : "numbers");
    return PETAL_OK;
}

/* ---- files ---- */

static enum petal_bloom_file_type
type_of(unsigned bits)
{
    return bits == 1 ? PETAL_BLOOM_FILE_BITMAP : PETAL_BLOOM_FILE_BITMAP2;
}

enum petal_status
bitmap_save(const struct bitmap *bitmap, const char *path, petal_error *error)
{
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
check_end(const struct bitmap *bitmap, const char *path, petal_error *error)
{
    unsigned per_word = 64 / bitmap->bits;
    unsigned used = (unsigned)((bitmap->numbers - 1) % per_word + 1) * bitmap->bits;

    if (used == 64 || bitmap_load(bitmap, bitmap->count - 1) >> used == 0)
        return PETAL_OK;
    return error_corrupt(error, path,
                         SET_FILE_PAGE_BYTES + (bitmap->count - 1) * sizeof(bitmap_word),
                         "bits behind the last of %" PRIu64 " numbers are not 0", bitmap->numbers);
}

/* Mark the chunks that hold something; looking at memory that was not written to takes none. */
static void
mark_chunks(struct bitmap *bitmap)
{
    for (uint64_t from = 0, end; from < bitmap->count; from = end) {
        end = chunk_end(bitmap, from);
        for (uint64_t i = from; i < end && !is_marked(bitmap, from); i++)
            if (atomic_load_explicit(&bitmap->words[i], memory_order_relaxed) != 0)
                bitmap_mark(bitmap, from);
    }
}

enum petal_status
bitmap_load_file(const char *path, const petal_bloom_load_options *options, unsigned bits,
                 struct bitmap **bitmap, petal_error *error)
{
    struct bitmap *made = NULL;
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
    if (status == PETAL_OK)
        *bitmap = made;
    else
        bitmap_free(made);
    return status;
}
