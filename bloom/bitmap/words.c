/* words.c -- see words.h. */
#include "bloom/bitmap/words.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static size_t
words_bytes(uint64_t count)
{
    return (size_t)count * sizeof(bitmap_word);
}

enum petal_status
bitmap_words_init(struct bitmap_words *words, const struct env *env, uint64_t count,
                  petal_error *error)
{
    assert(count > 0);
    *words = (struct bitmap_words){.env = *env, .count = count};
    if (count > SIZE_MAX / 2 / sizeof(bitmap_word))
        return error_no_memory(error);
    words->words = set_memory(env, words_bytes(count));
    if (words->words == NULL)
        return error_no_memory(error);
    words->marked = mem_zalloc(env->allocator, (size_t)bitmap_chunks(words));
    if (words->marked != NULL)
        return PETAL_OK;
    mem_free(env->allocator, words->words, words_bytes(count));
    return error_no_memory(error);
}

void
bitmap_words_fini(struct bitmap_words *words)
{
    const petal_allocator *allocator = words->env.allocator;

    if (words->is_read_only) {
        set_file_close(&words->file);
        return;
    }
    mem_free(allocator, words->words, words_bytes(words->count));
    mem_free(allocator, words->marked, (size_t)bitmap_chunks(words));
}

/* ---- counting ---- */

static uint64_t
count_plainly(const bitmap_word *words, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += count_bits(atomic_load_explicit(&words[i], memory_order_relaxed));
    return sum;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) static uint64_t
count_by_instruction(const bitmap_word *words, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum +=
            (uint64_t)__builtin_popcountll(atomic_load_explicit(&words[i], memory_order_relaxed));
    return sum;
}
#endif

uint64_t
bitmap_words_count(const struct bitmap_words *words, uint64_t from, uint64_t to)
{
    if (from >= to)
        return 0;
    assert(to <= words->count);
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("popcnt"))
        return count_by_instruction(&words->words[from], (size_t)(to - from));
#endif
    return count_plainly(&words->words[from], (size_t)(to - from));
}

uint64_t
bitmap_words_next(const struct bitmap_words *words, uint64_t from)
{
    while (from < words->count) {
        uint64_t chunk = from / BITMAP_CHUNK_WORDS, end = bitmap_chunk_end(words, chunk);

        if (bitmap_is_marked(words, chunk)) {
            for (; from < end; from++) {
                if (atomic_load_explicit(&words->words[from], memory_order_relaxed) != 0)
                    return from;
            }
        }
        from = end;
    }
    return words->count;
}

_Static_assert(BITMAP_CHUNK_WORDS % BITMAP_PAGE_WORDS == 0, "a chunk has whole pages");

static bool
are_zero(const bitmap_word *words, size_t count)
{
    const bitmap_plain_word *plain = (const bitmap_plain_word *)words;

    return plain[0] == 0 && memcmp(plain, plain + 1, (count - 1) * sizeof *plain) == 0;
}

bool
bitmap_next_page(const struct bitmap_words *words, struct bitmap_page *page)
{
    uint64_t from = page->begin + page->count;

    while (from < words->count) {
        uint64_t chunk = from / BITMAP_CHUNK_WORDS, end = bitmap_chunk_end(words, chunk);

        if (!bitmap_is_marked(words, chunk)) {
            from = end;
            continue;
        }
        page->begin = from;
        page->count = end - from < BITMAP_PAGE_WORDS ? end - from : BITMAP_PAGE_WORDS;
        if (!are_zero(&words->words[from], (size_t)page->count))
            return true;
        from += page->count;
    }
    return false;
}

/* ---- files ---- */

enum petal_status
bitmap_words_save(const struct bitmap_words *words, const char *path,
                  const struct set_file_head *head, petal_error *error)
{
    struct set_file_writer *writer;
    enum petal_status status = set_file_create(&words->env, path, &writer, error);

    if (status != PETAL_OK)
        return status;
    for (uint64_t chunk = 0; chunk < bitmap_chunks(words) && status == PETAL_OK; chunk++) {
        uint64_t begin = bitmap_chunk_begin(chunk);
        size_t bytes = words_bytes(bitmap_chunk_end(words, chunk) - begin);

        status = bitmap_is_marked(words, chunk)
                     ? set_file_append(writer, (const void *)&words->words[begin], bytes, error)
                     : set_file_append_zeros(writer, bytes, error);
    }
    if (status != PETAL_OK) {
        set_file_abandon(writer);
        return status;
    }
    return set_file_finish(writer, head, error);
}

static enum petal_status
check_file(const struct set_file *file, const char *path, unsigned per_word, petal_error *error)
{
    uint64_t numbers = file->head.parameters[0], words;

    if (file->head.layout != BITMAP_FILE_LAYOUT)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "the bitmap has layout %u, this library reads layout %u",
                          file->head.layout, BITMAP_FILE_LAYOUT);
    if (numbers == 0 || numbers > PETAL_BITMAP_MAX_BITS)
        return error_corrupt(error, path, 0, "the bitmap is of %" PRIu64 " numbers; 1 to %" PRIu64,
                             numbers, (uint64_t)PETAL_BITMAP_MAX_BITS);
    words = (numbers - 1) / per_word + 1;
    if (file->body_bytes != words * sizeof(bitmap_word))
        return error_corrupt(error, path, 0,
                             "the bitmap has %" PRIu64 " bytes; its %" PRIu64
                             " numbers take %" PRIu64,
                             file->body_bytes, numbers, (uint64_t)(words * sizeof(bitmap_word)));
    return PETAL_OK;
}

/* Which chunks are to be marked; looking at memory that was not written to takes none. */
static void
mark_chunks(struct bitmap_words *words)
{
    for (uint64_t chunk = 0; chunk < bitmap_chunks(words); chunk++) {
        uint64_t begin = bitmap_chunk_begin(chunk), end = bitmap_chunk_end(words, chunk), i = begin;

        while (i < end && atomic_load_explicit(&words->words[i], memory_order_relaxed) == 0)
            i++;
        if (i < end)
            bitmap_mark(words, begin);
    }
}

static enum petal_status
take_file(struct bitmap_words *words, struct set_file *file, petal_error *error)
{
    *words = (struct bitmap_words){
        .env = file->env,
        .words = (bitmap_word *)file->body,
        .count = file->body_bytes / sizeof(bitmap_word),
        .is_read_only = file->is_mapped,
        .file = *file,
    };
    if (file->is_mapped)
        return PETAL_OK;
    words->marked = mem_zalloc(words->env.allocator, (size_t)bitmap_chunks(words));
    if (words->marked == NULL)
        return error_no_memory(error);
    mark_chunks(words);
    return PETAL_OK;
}

/* The numbers of the last word that are none of the bitmap's are 0. */
static enum petal_status
check_end(const struct bitmap_words *words, const char *path, unsigned per_word, uint64_t numbers,
          petal_error *error)
{
    unsigned used = (unsigned)((numbers - 1) % per_word + 1) * (64 / per_word);

    if (used == 64 || bitmap_load(words, words->count - 1) >> used == 0)
        return PETAL_OK;
    return error_corrupt(error, path,
                         SET_FILE_PAGE_BYTES + (words->count - 1) * sizeof(bitmap_word),
                         "bits behind the last of %" PRIu64 " numbers are not 0", numbers);
}

enum petal_status
bitmap_words_open(const char *path, const petal_bloom_load_options *options,
                  enum petal_bloom_file_type type, unsigned per_word, struct bitmap_words *words,
                  uint64_t *numbers, petal_error *error)
{
    struct set_file file;
    enum petal_status status = set_file_open(path, options, type, &file, error);

    if (status != PETAL_OK)
        return status;
    *numbers = file.head.parameters[0];
    status = check_file(&file, path, per_word, error);
    if (status == PETAL_OK)
        status = take_file(words, &file, error);
    if (status != PETAL_OK) {
        set_file_close(&file);
        return status;
    }
    status = file.is_checked ? check_end(words, path, per_word, *numbers, error) : PETAL_OK;
    if (status != PETAL_OK)
        bitmap_words_fini(words);
    return status;
}
