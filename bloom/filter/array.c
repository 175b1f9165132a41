/*
 * array.c -- filters that are one array of lines (lines.h): BLOCKED, whose keys set bits, and
 * COUNTING, whose keys are counted (counters.h).
 */
#include "bloom/filter/counters.h"
#include "bloom/filter/kind.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

struct array {
    petal_bloom bloom;
    struct filter_lines lines;
    struct set_file file; /* whose body the words are; without a body they are the filter's */
};

static struct array *
array_of(petal_bloom *bloom)
{
    return (struct array *)bloom;
}

static const struct filter_lines *
lines_of(const petal_bloom *bloom)
{
    return &((const struct array *)bloom)->lines;
}

/* ---- making and freeing ---- */

static unsigned
positions_of(enum petal_bloom_kind kind)
{
    return kind == PETAL_BLOOM_KIND_COUNTING ? FILTER_LINE_COUNTERS : BLOOM_LINE_BITS;
}

/* PETAL_INVALID: no keys, or too many for any memory. */
static enum petal_status
find_shape(struct filter_lines *lines, const petal_bloom_options *options, petal_error *error)
{
    *lines = (struct filter_lines){.positions = positions_of(options->kind)};
    if (options->keys == 0)
        return error_set(error, PETAL_INVALID,
                         "keys is 0; kind %s is made for a known number of keys, at least 1",
                         filter_kind_name(options->kind));
    if (options->keys <= FILTER_MOST_KEYS)
        filter_lines_shape(lines, options->keys, options->rate);
    if (options->keys <= FILTER_MOST_KEYS && filter_lines_bytes(lines) <= SIZE_MAX / 2)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID,
                     "keys is %" PRIu64
                     "; at a rate of %g they need more memory than can be addressed",
                     options->keys, options->rate);
}

static enum petal_status
array_plan(const petal_bloom_options *options, petal_bloom_plan *plan, petal_error *error)
{
    struct filter_lines lines;
    enum petal_status status = find_shape(&lines, options, error);

    if (status != PETAL_OK)
        return status;
    plan->bits = lines.count * BLOOM_LINE_BITS;
    plan->probes = lines.probes;
    plan->bits_per_key = (double)plan->bits / (double)options->keys;
    plan->rate = filter_lines_rate(&lines, options->keys);
    plan->bytes = filter_lines_bytes(&lines);
    plan->build_bytes = plan->bytes;
    return PETAL_OK;
}

static void
set_lines(struct array *array, const struct filter_lines *lines)
{
    array->lines = *lines;
    array->bloom.bits = lines->count * BLOOM_LINE_BITS;
    array->bloom.probes = lines->probes;
}

static enum petal_status
array_create(const petal_bloom_options *options, petal_bloom **bloom, petal_error *error)
{
    struct filter_lines lines;
    struct array *array;
    struct env env;
    enum petal_status status = find_shape(&lines, options, error);

    if (status != PETAL_OK)
        return status;
    env_init(&env, options->env);
    array = mem_zalloc(env.allocator, sizeof *array);
    if (array == NULL)
        return error_no_memory(error);
    if (!filter_lines_allocate(&lines, &env)) {
        mem_free(env.allocator, array, sizeof *array);
        return error_set(error, PETAL_NO_MEMORY,
                         "out of memory: a filter of %" PRIu64 " bytes was asked for",
                         filter_lines_bytes(&lines));
    }
    filter_init(&array->bloom, options);
    set_lines(array, &lines);
    *bloom = &array->bloom;
    return PETAL_OK;
}

static void
array_free(petal_bloom *bloom)
{
    struct array *array = array_of(bloom);
    const petal_allocator *allocator = bloom->env.allocator;

    if (array->file.body != NULL)
        set_file_close(&array->file);
    else
        filter_lines_free(&array->lines, &bloom->env);
    mem_free(allocator, array, sizeof *array);
}

/* ---- keys ---- */

static ALWAYS_INLINE size_t
ask_all(const petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *answers,
        bool (*passes)(const filter_word *line, unsigned probes, uint64_t hash))
{
    const struct filter_lines lines = *lines_of(bloom);
    size_t passed = 0;

    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        filter_line_prefetch(&lines, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        if (count - i > FILTER_AHEAD)
            filter_line_prefetch(&lines, hashes[i + FILTER_AHEAD]);
        answers[i] = passes(filter_line(&lines, hashes[i]), lines.probes, hashes[i]);
        passed += answers[i];
    }
    return passed;
}

static ALWAYS_INLINE enum petal_status
add_all(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
        bool (*add)(filter_word *line, unsigned probes, uint64_t hash))
{
    const struct filter_lines lines = *lines_of(bloom);

    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        filter_line_prefetch(&lines, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        bool was_new;

        if (count - i > FILTER_AHEAD)
            filter_line_prefetch(&lines, hashes[i + FILTER_AHEAD]);
        was_new = add(filter_line(&lines, hashes[i]), lines.probes, hashes[i]);
        if (were_new != NULL)
            were_new[i] = was_new;
    }
    return PETAL_OK;
}

static bool
blocked_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct filter_lines *lines = lines_of(bloom);

    return filter_line_may_contain(filter_line(lines, hash), lines->probes, hash);
}

static size_t
blocked_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                           bool *answers)
{
    return ask_all(bloom, hashes, count, answers, filter_line_may_contain);
}

static enum petal_status
blocked_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                   petal_error *error)
{
    (void)error;
    return add_all(bloom, hashes, count, were_new, filter_line_add);
}

static bool
counting_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct filter_lines *lines = lines_of(bloom);

    return counters_may_contain(filter_line(lines, hash), lines->probes, hash);
}

static size_t
counting_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                            bool *answers)
{
    return ask_all(bloom, hashes, count, answers, counters_may_contain);
}

static enum petal_status
counting_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                    petal_error *error)
{
    (void)error;
    return add_all(bloom, hashes, count, were_new, counters_add);
}

static bool
counting_remove_hash(petal_bloom *bloom, uint64_t hash)
{
    const struct filter_lines *lines = lines_of(bloom);

    return counters_remove(filter_line(lines, hash), lines->probes, hash);
}

/* ---- numbers ---- */

static void
array_extent(const petal_bloom *bloom, struct filter_extent *extent)
{
    *extent = (struct filter_extent){bloom->bits, filter_lines_bytes(lines_of(bloom)), 1};
}

static double
array_expected_rate(const petal_bloom *bloom, uint64_t keys)
{
    return filter_lines_rate(lines_of(bloom), keys);
}

static double
array_present_rate(const petal_bloom *bloom)
{
    return filter_lines_fill(lines_of(bloom)).rate;
}

static uint64_t
array_count(const petal_bloom *bloom)
{
    return (uint64_t)llround(filter_lines_fill(lines_of(bloom)).keys);
}

static uint64_t
sum_of_bits(uint64_t a, uint64_t b)
{
    return a | b;
}

static ALWAYS_INLINE void
unite(petal_bloom *bloom, const petal_bloom *other, uint64_t (*sum)(uint64_t, uint64_t))
{
    const struct filter_lines *to = lines_of(bloom), *from = lines_of(other);

    assert(to->count == from->count);
    for (uint64_t i = 0; i < to->count * FILTER_LINE_WORDS; i++) {
        uint64_t word = sum(filter_word_load(&to->words[i]), filter_word_load(&from->words[i]));

        atomic_store_explicit(&to->words[i], little_endian_word(word), memory_order_relaxed);
    }
}

static void
blocked_unite(petal_bloom *bloom, const petal_bloom *other)
{
    unite(bloom, other, sum_of_bits);
}

static void
counting_unite(petal_bloom *bloom, const petal_bloom *other)
{
    unite(bloom, other, counters_sum);
}

/* ---- files ---- */

/* Parameters of the head. */
enum { POSITIONS = FILTER_OWN_PARAMETERS, PROBES, UNUSED };

static enum petal_status
array_save(const petal_bloom *bloom, struct set_file_writer *writer, struct set_file_head *head,
           petal_error *error)
{
    const struct filter_lines *lines = lines_of(bloom);

    head->parameters[POSITIONS] = lines->count * lines->positions;
    head->parameters[PROBES] = lines->probes;
    return set_file_append(writer, (const void *)lines->words, filter_lines_bytes(lines), error);
}

/* What the head says against what can be, and against the bytes that are there. */
static enum petal_status
check_shape(const struct set_file *file, unsigned line_positions, const char *path,
            petal_error *error)
{
    uint64_t probes = file->head.parameters[PROBES], positions = file->head.parameters[POSITIONS];
    uint64_t lines = positions / line_positions;

    if (probes < 1 || probes > BLOOM_MAX_PROBES)
        return filter_bad_parameter(error, path, PROBES, "the number of probes is not 1 to 30");
    if (positions == 0 || lines > UINT64_MAX / BLOOM_LINE_BYTES)
        return filter_bad_parameter(error, path, POSITIONS, "the number of bits is impossible");
    if (positions % line_positions != 0)
        return filter_bad_parameter(error, path, POSITIONS,
                                    "the bits are not a whole number of lines");
    if (lines * BLOOM_LINE_BYTES != file->body_bytes)
        return error_corrupt(error, path, SET_FILE_PAGE_BYTES,
                             "the body has %" PRIu64 " bytes, its bits need %" PRIu64,
                             file->body_bytes, lines * BLOOM_LINE_BYTES);
    return filter_check_unused(file, path, UNUSED, error);
}

static enum petal_status
array_open(const char *path, const petal_bloom *like, struct set_file *file, petal_bloom **bloom,
           petal_error *error)
{
    unsigned positions = positions_of(like->kind);
    enum petal_status status = check_shape(file, positions, path, error);
    struct array *array;

    if (status != PETAL_OK)
        return status;
    array = mem_zalloc(like->env.allocator, sizeof *array);
    if (array == NULL)
        return error_no_memory(error);
    array->bloom = *like;
    array->file = filter_take_file(file);
    set_lines(array, &(struct filter_lines){.count = file->body_bytes / BLOOM_LINE_BYTES,
                                            .probes = (unsigned)file->head.parameters[PROBES],
                                            .positions = positions,
                                            .words = (filter_word *)array->file.body});
    *bloom = &array->bloom;
    return PETAL_OK;
}

/* ---- the two kinds ---- */

const struct filter_kind filter_blocked = {
    .plan = array_plan,
    .create = array_create,
    .free = array_free,
    .add_hashes = blocked_add_hashes,
    .may_contain_hash = blocked_may_contain_hash,
    .may_contain_hashes = blocked_may_contain_hashes,
    .extent = array_extent,
    .expected_rate = array_expected_rate,
    .present_rate = array_present_rate,
    .count = array_count,
    .unite = blocked_unite,
    .save = array_save,
    .open = array_open,
};

const struct filter_kind filter_counting = {
    .plan = array_plan,
    .create = array_create,
    .free = array_free,
    .add_hashes = counting_add_hashes,
    .remove_hash = counting_remove_hash,
    .may_contain_hash = counting_may_contain_hash,
    .may_contain_hashes = counting_may_contain_hashes,
    .extent = array_extent,
    .expected_rate = array_expected_rate,
    .present_rate = array_present_rate,
    .count = array_count,
    .unite = counting_unite,
    .save = array_save,
    .open = array_open,
};
