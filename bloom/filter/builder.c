/*
 * builder.c -- filters of kind RIBBON, built once of all keys: petal_bloom_builder of the public
 * header.  Hashes wait in memory, sorted and each once where memory would grow; beyond
 * memory_bytes in runs on disk (spill.h).  They come back range by range, ascending, and are cut
 * into parts (parts.h), which are built one after the other.
 *
 * MEMORY, of M = memory_bytes: while keys are added M / 16 hashes and as much to sort them with;
 * while parts are built M / 16 hashes of a range, with as much to sort them, then one part's work.
 */
#include "base/argument.h"
#include "base/mem.h"
#include "base/options.h"
#include "bloom/filter/parts.h"
#include "bloom/filter/spill.h"
#include "bloom/hash_sort.h"

#include <assert.h>
#include <inttypes.h>

/* Of hashes: the first memory that is taken. */
#define FIRST_CAPACITY ((size_t)1 << 16)

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Parts of a filter's bytes: memory grows by one, and so little may be left over. */
#define GROWTH_PART  128
#define SURPLUS_PART 1024

/* For all that a builder has in memory. */
#define DEFAULT_MEMORY_BYTES ((size_t)64 << 20)
#define MIN_MEMORY_BYTES     ((size_t)8 << 20)

/* Hashes are evenly spread: no part has more keys. */
#define MOST_PART_KEYS (UINT32_C(1) << 30)

#define FOOTER_BYTES BLOOM_RIBBON_FOOTER_BYTES

struct petal_bloom_builder {
    petal_bloom like; /* the filter to be made: rate, salt, env */
    size_t most;      /* hashes in memory, if the others can be spilled */
    uint64_t *hashes;
    size_t count, capacity;
    struct spill spill; /* without a directory if there is none */
    bool is_over;       /* it was built, or something failed */
};

/* ---- making and freeing ---- */

static enum petal_status
resolve_options(const petal_bloom_builder_options *given, petal_bloom_builder_options *options,
                petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_bloom_builder_options", error);
    petal_bloom_options filter = options->filter;

    if (status != PETAL_OK)
        return status;
    if (filter.kind == PETAL_BLOOM_KIND_DEFAULT)
        filter.kind = PETAL_BLOOM_KIND_RIBBON;
    status = filter_options_resolve(&options->filter, &filter, error);
    if (status != PETAL_OK)
        return status;
    if (filter.kind != PETAL_BLOOM_KIND_RIBBON)
        return error_set(error, PETAL_INVALID,
                         "a filter of kind %s needs no builder: petal_bloom_create makes it, and "
                         "keys are added to it",
                         filter_kind_name(filter.kind));
    if (options->memory_bytes == 0)
        options->memory_bytes = DEFAULT_MEMORY_BYTES;
    if (options->memory_bytes < MIN_MEMORY_BYTES)
        return error_set(error, PETAL_INVALID, "memory_bytes is %zu; it must be at least %zu",
                         options->memory_bytes, MIN_MEMORY_BYTES);
    if (options->directory != NULL && options->directory[0] == '\0')
        return error_set(error, PETAL_INVALID, "directory is empty; it must be a path, or NULL");
    return PETAL_OK;
}

enum petal_status
petal_bloom_builder_create(const petal_bloom_builder_options *given, petal_bloom_builder **builder,
                           petal_error *error)
{
    RETURN_IF_NULL(builder, error);
    *builder = NULL;

    petal_bloom_builder_options options;
    petal_bloom_builder *made;
    enum petal_status status;
    struct env env;

    error_clear(error);
    status = resolve_options(given, &options, error);
    if (status != PETAL_OK)
        return status;
    env_init(&env, options.filter.env);
    made = mem_zalloc(env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    filter_init(&made->like, &options.filter);
    made->like.functions = &filter_ribbon;
    made->most = options.memory_bytes / 16;
    if (made->most > UINT32_MAX)
        made->most = UINT32_MAX;
    if (options.directory != NULL)
        status = spill_begin(&made->spill, &made->like.env, options.directory, error);
    if (status != PETAL_OK) {
        mem_free(env.allocator, made, sizeof *made);
        return status;
    }
    *builder = made;
    return PETAL_OK;
}

static void
free_hashes(petal_bloom_builder *builder)
{
    mem_free(builder->like.env.allocator, builder->hashes,
             builder->capacity * sizeof *builder->hashes);
    builder->hashes = NULL;
    builder->count = builder->capacity = 0;
}

void
petal_bloom_builder_free(petal_bloom_builder *builder)
{
    if (builder == NULL)
        return;
    free_hashes(builder);
    spill_end(&builder->spill);
    mem_free(builder->like.env.allocator, builder, sizeof *builder);
}

/* ---- hashes in memory ---- */

static bool
can_spill(const petal_bloom_builder *builder)
{
    return builder->spill.directory != NULL;
}

static enum petal_status
no_memory(const petal_bloom_builder *builder, petal_error *error)
{
    return error_set(error, PETAL_NO_MEMORY, "out of memory: %zu hashes are in memory%s",
                     builder->count,
                     can_spill(builder) ? "" : "; with options.directory they need not be");
}

static enum petal_status
set_capacity(petal_bloom_builder *builder, size_t capacity, petal_error *error)
{
    const petal_allocator *allocator = builder->like.env.allocator;
    uint64_t *hashes;

    assert(capacity >= builder->count);
    if (capacity > SIZE_MAX / sizeof *hashes)
        return no_memory(builder, error);
    hashes = mem_alloc(allocator, capacity * sizeof *hashes);
    if (hashes == NULL)
        return no_memory(builder, error);
    if (builder->count > 0)
        memcpy(hashes, builder->hashes, builder->count * sizeof *hashes);
    mem_free(allocator, builder->hashes, builder->capacity * sizeof *hashes);
    builder->hashes = hashes;
    builder->capacity = capacity;
    return PETAL_OK;
}

/* Sort the hashes from `first` on, each once. */
static enum petal_status
sort_hashes(petal_bloom_builder *builder, size_t first, unsigned shared_bits, petal_error *error)
{
    const petal_allocator *allocator = builder->like.env.allocator;
    size_t count = builder->count - first;
    uint64_t *spare;

    if (count == 0)
        return PETAL_OK;
    spare = mem_alloc(allocator, count * sizeof *spare);
    if (spare == NULL)
        return no_memory(builder, error);
    builder->count = first + bloom_hash_sort(builder->hashes + first, count, spare, shared_bits);
    mem_free(allocator, spare, count * sizeof *spare);
    return PETAL_OK;
}

/* Room for at least one more. Keys that are added again and again take none, and where half of the
 * memory comes back by that it is enough. */
static enum petal_status
make_room(petal_bloom_builder *builder, petal_error *error)
{
    size_t capacity = builder->capacity == 0 ? FIRST_CAPACITY : 2 * builder->capacity;
    enum petal_status status;

    if (builder->capacity > 0) {
        status = sort_hashes(builder, 0, 0, error);
        if (status != PETAL_OK || builder->count <= builder->capacity / 2)
            return status;
    }
    if (!can_spill(builder))
        return set_capacity(builder, capacity, error);
    if (builder->capacity < builder->most)
        return set_capacity(builder, capacity < builder->most ? capacity : builder->most, error);
    status = spill_add(&builder->spill, builder->hashes, builder->count, error);
    builder->count = 0;
    return status;
}

/* ---- adding ---- */

static enum petal_status
check_not_over(const petal_bloom_builder *builder, petal_error *error)
{
    error_clear(error);
    if (!builder->is_over)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID,
                     "the builder has built its filter, or has failed: it can only be freed");
}

enum petal_status
petal_bloom_builder_add_hashes(petal_bloom_builder *builder, const uint64_t *hashes, size_t count,
                               petal_error *error)
{
    RETURN_IF_NULL(builder, error);
    RETURN_IF_NO_ARRAY(hashes, count, error);

    enum petal_status status = check_not_over(builder, error);

    while (status == PETAL_OK && count > 0) {
        size_t room = builder->capacity - builder->count;
        size_t taken = count < room ? count : room;

        if (taken > 0) {
            memcpy(builder->hashes + builder->count, hashes, taken * sizeof *hashes);
            builder->count += taken;
            hashes += taken;
            count -= taken;
        } else {
            status = make_room(builder, error);
            builder->is_over = status != PETAL_OK;
        }
    }
    return status;
}

enum petal_status
petal_bloom_builder_add(petal_bloom_builder *builder, petal_slice key, petal_error *error)
{
    RETURN_IF_NULL(builder, error);
    RETURN_IF_NO_BYTES(key, error);

    uint64_t hash = petal_bloom_hash(key, builder->like.salt);

    return petal_bloom_builder_add_hashes(builder, &hash, 1, error);
}

/* ---- where parts go ---- */

/* The body that is made, in a file or in memory. */
struct body {
    const petal_allocator *allocator;
    struct set_file_writer *writer; /* NULL: in memory */
    uint8_t *memory;
    uint64_t capacity;
    uint64_t bytes;
};

/* Room in memory for so many bytes in all. */
static enum petal_status
body_reserve(struct body *body, uint64_t bytes, petal_error *error)
{
    size_t alignment = bytes < HUGE_PAGE_BYTES ? CACHE_LINE_BYTES : HUGE_PAGE_BYTES;
    uint8_t *memory;

    if (body->writer != NULL || bytes <= body->capacity)
        return PETAL_OK;
    memory =
        bytes > SIZE_MAX / 2 ? NULL : mem_alloc_aligned(body->allocator, alignment, (size_t)bytes);
    if (memory == NULL)
        return error_set(error, PETAL_NO_MEMORY,
                         "out of memory: a filter of %" PRIu64 " bytes was to be built", bytes);
    if (body->bytes > 0)
        memcpy(memory, body->memory, body->bytes);
    mem_free(body->allocator, body->memory, body->capacity);
    body->memory = memory;
    body->capacity = bytes;
    return PETAL_OK;
}

/* Give back what was reserved for nothing, if it is more than a small part: by a copy, for which
 * there may be no memory; then it stays. */
static void
body_shrink(struct body *body)
{
    struct body exact = {.allocator = body->allocator};

    if (body->capacity - body->bytes <= body->bytes / SURPLUS_PART ||
        body_reserve(&exact, body->bytes, NULL) != PETAL_OK)
        return;
    memcpy(exact.memory, body->memory, body->bytes);
    mem_free(body->allocator, body->memory, body->capacity);
    exact.bytes = body->bytes;
    *body = exact;
}

/* `all`: about how many bytes there will be in the end. */
static enum petal_status
body_append(struct body *body, const void *bytes, size_t size, uint64_t all, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (body->writer != NULL) {
        body->bytes += size;
        return set_file_append(body->writer, bytes, size, error);
    }
    if (body->bytes + size > body->capacity)
        status = body_reserve(body, body->bytes == 0 ? all : body->bytes + size + all / GROWTH_PART,
                              error);
    if (status != PETAL_OK)
        return status;
    memcpy(body->memory + body->bytes, bytes, size);
    body->bytes += size;
    return PETAL_OK;
}

/* ---- building ---- */

/* A builder at work. */
struct building {
    petal_bloom_builder *builder;
    struct body body;
    uint64_t part_count, parts_built;
    uint64_t keys;    /* in those */
    uint8_t *footers; /* of part_count parts */
    uint8_t *scratch; /* a part's work, and then its bytes */
    size_t scratch_bytes;
};

static void
free_scratch(struct building *building)
{
    mem_free(building->body.allocator, building->scratch, building->scratch_bytes);
    building->scratch = NULL;
    building->scratch_bytes = 0;
}

static enum petal_status
reserve_scratch(struct building *building, size_t bytes, petal_error *error)
{
    if (bytes <= building->scratch_bytes)
        return PETAL_OK;
    free_scratch(building);
    building->scratch = mem_alloc(building->body.allocator, bytes);
    if (building->scratch == NULL)
        return error_no_memory(error);
    building->scratch_bytes = bytes;
    return PETAL_OK;
}

static enum petal_status
append_part(struct building *building, const uint8_t *bytes, size_t size, petal_error *error)
{
    uint64_t number = building->parts_built++;

    size -= FOOTER_BYTES;
    memcpy(building->footers + number * FOOTER_BYTES, bytes + size, FOOTER_BYTES);
    /* All parts take about as much as the first one. */
    return body_append(&building->body, bytes, size, building->part_count * (size + FOOTER_BYTES),
                       error);
}

static enum petal_status
build_part(struct building *building, const uint64_t *hashes, size_t count, petal_error *error)
{
    enum petal_status status;

    for (unsigned size = 0; size < BLOOM_RIBBON_SIZES && count <= MOST_PART_KEYS; size++) {
        struct bloom_ribbon shape = bloom_ribbon_shape(count, building->builder->like.rate, size);
        size_t work_bytes = bloom_ribbon_work_bytes(&shape);
        size_t part_bytes = bloom_ribbon_bytes(&shape);

        assert(work_bytes % sizeof(uint64_t) == 0);
        status = reserve_scratch(building, work_bytes + part_bytes, error);
        if (status != PETAL_OK)
            return status;
        if (!bloom_ribbon_build(&shape, hashes, count, building->scratch,
                                building->scratch + work_bytes))
            continue;
        building->keys += count;
        return append_part(building, building->scratch + work_bytes, part_bytes, error);
    }
    return error_set(error, PETAL_INVALID,
                     "part %" PRIu64 " of %" PRIu64
                     ", with %zu keys, cannot be built: their hashes "
                     "are not evenly spread",
                     building->parts_built, building->part_count, count);
}

/* How many of the hashes, which are ascending, belong to parts before `part`. */
static size_t
count_before(const petal_bloom_builder *builder, uint64_t part, uint64_t part_count)
{
    size_t low = 0, high = builder->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (filter_part_of(builder->hashes[middle], part_count) < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Build the parts before `end`, all of whose hashes are in memory, and drop these. */
static enum petal_status
build_parts(struct building *building, uint64_t end, petal_error *error)
{
    petal_bloom_builder *builder = building->builder;
    enum petal_status status = PETAL_OK;
    size_t from = 0;

    while (status == PETAL_OK && building->parts_built < end) {
        size_t to = count_before(builder, building->parts_built + 1, building->part_count);

        status = build_part(building, builder->hashes + from, to - from, error);
        from = to;
    }
    builder->count -= from;
    if (from > 0 && builder->count > 0)
        memmove(builder->hashes, builder->hashes + from, builder->count * sizeof *builder->hashes);
    return status;
}

/* Cut so many keys into parts. */
static enum petal_status
cut_parts(struct building *building, uint64_t keys, petal_error *error)
{
    building->part_count = filter_parts_for(keys);
    building->footers = mem_alloc(building->body.allocator, building->part_count * FOOTER_BYTES);
    return building->footers == NULL ? error_no_memory(error) : PETAL_OK;
}

/* The hashes up to `last`, of which the highest `bits` bits are the same, after those that are left
 * of the ranges before. */
static enum petal_status
read_range(petal_bloom_builder *builder, uint64_t last, unsigned bits, petal_error *error)
{
    size_t left = builder->count;
    uint64_t count;
    enum petal_status status = spill_find(&builder->spill, last, &count, error);

    if (status == PETAL_OK && left + count > builder->capacity)
        status = set_capacity(builder, left + (size_t)count, error);
    if (status == PETAL_OK)
        status = spill_read(&builder->spill, builder->hashes + left, error);
    if (status != PETAL_OK)
        return status;
    builder->count += (size_t)count;
    return sort_hashes(builder, left, bits, error);
}

/*
 * Hashes are evenly spread: all ranges of highest bits have about as many, and the first range
 * tells how many different hashes there are in all. If hashes are not spread, a range may take more
 * memory.
 */
static enum petal_status
build_from_disk(struct building *building, petal_error *error)
{
    petal_bloom_builder *builder = building->builder;
    /* With room for what is left of a part, and for what chance adds. */
    uint64_t most = (builder->most - FILTER_PART_KEYS) / 16 * 15;
    unsigned bits = 0;
    enum petal_status status = spill_add(&builder->spill, builder->hashes, builder->count, error);

    builder->count = 0;
    while (builder->spill.count >> bits > most)
        bits++;
    for (uint64_t range = 0; status == PETAL_OK && range >> bits == 0; range++) {
        uint64_t last = bits == 0 ? UINT64_MAX : ((range + 1) << (64 - bits)) - 1, end;

        status = read_range(builder, last, bits, error);
        if (status == PETAL_OK && range == 0)
            status = cut_parts(building, ((uint64_t)builder->count << bits) + 1, error);
        if (status != PETAL_OK)
            return status;
        end = last == UINT64_MAX ? building->part_count
                                 : filter_part_of(last + 1, building->part_count);
        status = build_parts(building, end, error);
        free_scratch(building);
    }
    return status;
}

static enum petal_status
build_all(struct building *building, petal_error *error)
{
    petal_bloom_builder *builder = building->builder;
    enum petal_status status = sort_hashes(builder, 0, 0, error);

    if (status != PETAL_OK)
        return status;
    if (builder->spill.count > 0) {
        status = build_from_disk(building, error);
    } else if (builder->count > 0) {
        status = cut_parts(building, builder->count, error);
        if (status == PETAL_OK)
            status = build_parts(building, building->part_count, error);
    }
    if (status == PETAL_OK && building->part_count > 0)
        status = body_append(&building->body, building->footers,
                             building->part_count * FOOTER_BYTES, 0, error);
    builder->like.keys = building->keys;
    return status;
}

static enum petal_status
begin(struct building *building, petal_bloom_builder *builder, petal_error *error)
{
    enum petal_status status = check_not_over(builder, error);

    builder->is_over = true;
    *building = (struct building){.builder = builder};
    building->body.allocator = builder->like.env.allocator;
    return status;
}

static void
end(struct building *building)
{
    const petal_allocator *allocator = building->body.allocator;

    free_scratch(building);
    mem_free(allocator, building->footers, building->part_count * FOOTER_BYTES);
    mem_free(allocator, building->body.memory, building->body.capacity);
    set_file_abandon(building->body.writer);
}

enum petal_status
petal_bloom_builder_finish(petal_bloom_builder *builder, petal_bloom **bloom, petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    *bloom = NULL;
    RETURN_IF_NULL(builder, error);

    struct building building;
    enum petal_status status = begin(&building, builder, error);

    if (status == PETAL_OK)
        status = build_all(&building, error);
    free_hashes(builder);
    free_scratch(&building);
    if (status == PETAL_OK)
        body_shrink(&building.body);
    if (status == PETAL_OK)
        status = filter_parts_new(&builder->like, building.body.memory, building.body.bytes,
                                  building.body.capacity, building.part_count, bloom, error);
    if (status == PETAL_OK)
        building.body.memory = NULL;
    end(&building);
    return status;
}

enum petal_status
petal_bloom_builder_save(petal_bloom_builder *builder, const char *path, petal_error *error)
{
    RETURN_IF_NULL(builder, error);
    RETURN_IF_NULL(path, error);

    struct set_file_head head;
    struct building building;
    enum petal_status status = begin(&building, builder, error);

    if (status == PETAL_OK)
        status = set_file_create(&builder->like.env, path, &building.body.writer, error);
    if (status == PETAL_OK)
        status = build_all(&building, error);
    if (status == PETAL_OK) {
        struct set_file_writer *writer = building.body.writer;

        building.body.writer = NULL;
        filter_describe(&builder->like, &head);
        head.parameters[FILTER_PARTS] = building.part_count;
        status = set_file_finish(writer, &head, error);
    }
    end(&building);
    return status;
}
