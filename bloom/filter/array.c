/* array.c -- see array.h. */
#include "bloom/filter/array.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* ---- memory ---- */

filter_word *
filter_words_new(const struct env *env, uint64_t bytes)
{
    size_t alignment = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : BLOOM_LINE_BYTES;
    void *memory;

    assert(bytes > 0 && bytes % 8 == 0 && bytes <= SIZE_MAX / 2);
    memory = mem_alloc_aligned(env->allocator, alignment, (size_t)bytes);
    if (memory != NULL)
        memset(memory, 0, (size_t)bytes);
    return memory;
}

void
filter_words_free(const struct env *env, filter_word *words, uint64_t bytes)
{
    mem_free(env->allocator, words, (size_t)bytes);
}

static void
array_init(struct filter_array *array, const struct filter_shape *shape)
{
    array->shape = *shape;
    array->bytes = filter_shape_bytes(shape);
    array->lines = shape->line_positions == 0 ? 0 : shape->positions / shape->line_positions;
    array->bloom.bits = shape->positions * shape->position_bits;
    array->bloom.probes = shape->probes;
}

enum petal_status
filter_array_plan(const petal_bloom_options *options, petal_bloom_plan *plan, petal_error *error)
{
    struct filter_shape shape;
    enum petal_status status = filter_shape_init(&shape, options, error);

    if (status != PETAL_OK)
        return status;
    plan->bits = shape.positions * shape.position_bits;
    plan->probes = shape.probes;
    plan->bits_per_key = options->keys == 0 ? 0 : (double)plan->bits / (double)options->keys;
    plan->rate = filter_shape_rate(&shape, options->keys);
    plan->bytes = filter_shape_bytes(&shape);
    plan->build_bytes = plan->bytes;
    return PETAL_OK;
}

enum petal_status
filter_array_create(const petal_bloom_options *options, petal_bloom **bloom, petal_error *error)
{
    struct filter_shape shape;
    struct filter_array *array;
    struct env env;
    enum petal_status status = filter_shape_init(&shape, options, error);

    if (status != PETAL_OK)
        return status;
    env_init(&env, options->env);
    array = mem_zalloc(env.allocator, sizeof *array);
    if (array == NULL)
        return error_no_memory(error);
    filter_init(&array->bloom, options);
    array_init(array, &shape);
    array->words = filter_words_new(&env, array->bytes);
    if (array->words == NULL) {
        status =
            error_set(error, PETAL_NO_MEMORY,
                      "out of memory: a filter of %" PRIu64 " bytes was asked for", array->bytes);
        mem_free(env.allocator, array, sizeof *array);
        return status;
    }
    *bloom = &array->bloom;
    return PETAL_OK;
}

void
filter_array_free(petal_bloom *bloom)
{
    struct filter_array *array = filter_array_of(bloom);
    const petal_allocator *allocator = bloom->env.allocator; /* outlives the env's copy */

    if (array->file.body != NULL)
        set_file_close(&array->file);
    else
        filter_words_free(&bloom->env, array->words, array->bytes);
    mem_free(allocator, array, sizeof *array);
}

void
filter_array_clear(petal_bloom *bloom)
{
    struct filter_array *array = filter_array_of(bloom);

    memset((void *)array->words, 0, (size_t)array->bytes);
}

/* ---- numbers ---- */

void
filter_array_extent(const petal_bloom *bloom, struct filter_extent *extent)
{
    const struct filter_array *array = filter_array_of_const(bloom);

    *extent = (struct filter_extent){bloom->bits, array->bytes, 1};
}

double
filter_array_expected_rate(const petal_bloom *bloom, uint64_t keys)
{
    return filter_shape_rate(&filter_array_of_const(bloom)->shape, keys);
}

/* ---- two of them ---- */

void
filter_array_unite(petal_bloom *bloom, const petal_bloom *other)
{
    struct filter_array *to = filter_array_of(bloom);
    const struct filter_array *from = filter_array_of_const(other);

    assert(to->bytes == from->bytes);
    for (uint64_t i = 0; i < to->bytes / 8; i++) {
        uint64_t bits = atomic_load_explicit(&from->words[i], memory_order_relaxed) |
                        atomic_load_explicit(&to->words[i], memory_order_relaxed);

        atomic_store_explicit(&to->words[i], bits, memory_order_relaxed);
    }
}

void
filter_array_intersect(petal_bloom *bloom, const petal_bloom *other)
{
    struct filter_array *to = filter_array_of(bloom);
    const struct filter_array *from = filter_array_of_const(other);

    assert(to->bytes == from->bytes);
    for (uint64_t i = 0; i < to->bytes / 8; i++) {
        uint64_t bits = atomic_load_explicit(&from->words[i], memory_order_relaxed) &
                        atomic_load_explicit(&to->words[i], memory_order_relaxed);

        atomic_store_explicit(&to->words[i], bits, memory_order_relaxed);
    }
}

/* ---- files ---- */

/* Parameters of the head. */
enum { POSITIONS = FILTER_OWN_PARAMETERS, PROBES, UNUSED };

enum petal_status
filter_array_save(const petal_bloom *bloom, struct set_file_writer *writer,
                  struct set_file_head *head, petal_error *error)
{
    const struct filter_array *array = filter_array_of_const(bloom);

    head->parameters[POSITIONS] = array->shape.positions;
    head->parameters[PROBES] = array->shape.probes;
    return set_file_append(writer, (const void *)array->words, (size_t)array->bytes, error);
}

/* What the head says against what can be, and against the bytes that are there. */
static enum petal_status
check_shape(const struct filter_shape *shape, const struct set_file *file, const char *path,
            petal_error *error)
{
    uint64_t probes = file->head.parameters[PROBES];

    if (probes < 1 || probes > PETAL_BLOOM_MAX_PROBES)
        return filter_bad_parameter(error, path, PROBES, "the number of probes is not 1 to 30");
    if (shape->positions == 0 || shape->positions > UINT64_MAX / 8)
        return filter_bad_parameter(error, path, POSITIONS, "the number of bits is impossible");
    if (shape->line_positions != 0 && shape->positions % shape->line_positions != 0)
        return filter_bad_parameter(error, path, POSITIONS,
                                    "the bits are not a whole number of lines");
    if (filter_shape_bytes(shape) != file->body_bytes)
        return error_corrupt(error, path, SET_FILE_PAGE_BYTES,
                             "the body has %" PRIu64 " bytes, its bits need %" PRIu64,
                             file->body_bytes, filter_shape_bytes(shape));
    return filter_check_unused(file, path, UNUSED, error);
}

enum petal_status
filter_array_open(const char *path, const petal_bloom *like, struct set_file *file,
                  petal_bloom **bloom, petal_error *error)
{
    struct filter_shape shape;
    struct filter_array *array;
    enum petal_status status;

    filter_shape_of_kind(&shape, like->kind);
    shape.positions = file->head.parameters[POSITIONS];
    shape.probes = (unsigned)file->head.parameters[PROBES];
    status = check_shape(&shape, file, path, error);
    if (status != PETAL_OK)
        return status;
    array = mem_zalloc(like->env.allocator, sizeof *array);
    if (array == NULL)
        return error_no_memory(error);
    array->bloom = *like;
    array_init(array, &shape);
    array->file = filter_take_file(file);
    array->words = (filter_word *)array->file.body;
    *bloom = &array->bloom;
    return PETAL_OK;
}
