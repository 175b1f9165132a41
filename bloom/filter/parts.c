/* parts.c -- see parts.h. */
#include "bloom/filter/parts.h"

#include "base/coding.h"
#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>

/* ---- how it is cut ---- */

uint64_t
filter_parts_for(const struct filter_part_kind *kind, uint64_t keys, size_t memory_bytes)
{
    uint64_t part_keys = kind->keys_in(memory_bytes);

    assert(part_keys > 0);
    return keys / part_keys + (keys % part_keys != 0);
}

enum petal_status
filter_parts_check(const struct filter_part_kind *kind, double rate, petal_error *error)
{
    if (rate >= kind->least_rate)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID, "rate is %g; with kind %s it must be at least %g", rate,
                     filter_kind_name(kind->kind), kind->least_rate);
}

/* Besides the filter, in one piece: hashes, and what sorts them or a part is built with. */
static uint64_t
waiting_bytes(const struct filter_part_kind *kind, uint64_t keys,
              const union filter_part_shape *shape)
{
    uint64_t hashes = keys * sizeof(uint64_t);
    uint64_t part = kind->work_bytes(shape) + kind->bytes(shape);

    return hashes + (part > hashes ? part : hashes);
}

enum petal_status
filter_parts_plan(const struct filter_part_kind *kind, const petal_bloom_options *options,
                  petal_bloom_plan *plan, petal_error *error)
{
    uint64_t count = filter_parts_for(kind, options->keys, FILTER_PARTS_DEFAULT_MEMORY_BYTES), keys;
    enum petal_status status = filter_parts_check(kind, options->rate, error);
    union filter_part_shape shape;

    if (status != PETAL_OK)
        return status;
    keys = options->keys / count + (options->keys % count != 0);
    shape = kind->shape(keys, options->rate, 0);
    if (count > SIZE_MAX / 2 / kind->bytes(&shape) || options->keys > SIZE_MAX / 64)
        return error_set(error, PETAL_INVALID,
                         "keys is %" PRIu64
                         "; at a rate of %g they need more memory than can be addressed",
                         options->keys, options->rate);
    plan->bytes = count * kind->bytes(&shape);
    plan->bits = (plan->bytes - count * FILTER_FOOTER_BYTES) * 8;
    plan->bits_per_key = (double)plan->bits / (double)options->keys;
    plan->rate = kind->rate(&shape);
    plan->build_bytes = plan->bytes + waiting_bytes(kind, options->keys, &shape);
    return PETAL_OK;
}

/* ---- making and freeing ---- */

/* Where each part is, and what it is, of what the footers say, which may be anything. */
static enum petal_status
read_footers(struct filter_parts *made, const char *path, petal_error *error)
{
    uint64_t footers_at = made->body_bytes - made->count * FILTER_FOOTER_BYTES, at = 0, keys = 0;
    const struct filter_part_kind *kind = made->part_kind;
    double rates = 0;

    for (uint64_t i = 0; i < made->count; i++) {
        uint64_t footer_at = footers_at + i * FILTER_FOOTER_BYTES, bytes;
        struct filter_part *part = &made->parts[i];

        if (!kind->read_footer(&part->shape, made->body + footer_at))
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + footer_at,
                                 "part %" PRIu64 " of %" PRIu64 " is not a part of kind %.40s", i,
                                 made->count, filter_kind_name(kind->kind));
        bytes = kind->bytes(&part->shape) - FILTER_FOOTER_BYTES;
        if (bytes > footers_at - at)
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + footer_at,
                                 "part %" PRIu64 " of %" PRIu64 " has %" PRIu64
                                 " bytes; only %" PRIu64 " are left",
                                 i, made->count, bytes, footers_at - at);
        part->bytes = made->body + at;
        at += bytes;
        keys += get_le32(made->body + footer_at);
        rates += kind->rate(&part->shape);
    }
    if (at != footers_at)
        return error_corrupt(error, path, SET_FILE_PAGE_BYTES + at,
                             "%" PRIu64 " bytes belong to no part", footers_at - at);
    if (keys != made->bloom.keys)
        return error_corrupt(error, path, 0, "the parts have %" PRIu64 " keys, the filter %" PRIu64,
                             keys, made->bloom.keys);
    made->bloom.bits = footers_at * 8;
    made->rate = made->count == 0 ? 0 : rates / (double)made->count;
    return PETAL_OK;
}

enum petal_status
filter_parts_new(const struct filter_part_kind *kind, const petal_bloom *like, const char *path,
                 uint8_t *body, uint64_t body_bytes, uint64_t count, struct filter_parts **parts,
                 petal_error *error)
{
    const petal_allocator *allocator = like->env.allocator;
    struct filter_parts *made;
    enum petal_status status;

    *parts = NULL;
    if (count > body_bytes / FILTER_FOOTER_BYTES || (count == 0) != (like->keys == 0))
        return error_corrupt(
            error, path, 0, "%" PRIu64 " parts of %" PRIu64 " keys cannot lie in %" PRIu64 " bytes",
            count, like->keys, body_bytes);
    made = mem_zalloc(allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->bloom = *like;
    made->part_kind = kind;
    made->count = count;
    made->body = body;
    made->body_bytes = body_bytes;
    if (count > 0)
        made->parts = mem_alloc(allocator, count * sizeof *made->parts);
    if (count > 0 && made->parts == NULL)
        status = error_no_memory(error);
    else
        status = read_footers(made, path, error);
    if (status != PETAL_OK) {
        filter_parts_free(&made->bloom);
        return status;
    }
    *parts = made;
    return PETAL_OK;
}

void
filter_parts_free(petal_bloom *bloom)
{
    struct filter_parts *parts = (struct filter_parts *)bloom;
    const petal_allocator *allocator = bloom->env.allocator;

    mem_free(allocator, parts->parts, parts->count * sizeof *parts->parts);
    if (parts->memory_bytes > 0)
        mem_free(allocator, parts->body, parts->memory_bytes);
    else
        set_file_close(&parts->file);
    mem_free(allocator, parts, sizeof *parts);
}

/* ---- numbers ---- */

void
filter_parts_extent(const petal_bloom *bloom, struct filter_extent *extent)
{
    const struct filter_parts *parts = filter_parts_of(bloom);

    uint64_t bytes = parts->memory_bytes > 0 ? parts->memory_bytes : parts->body_bytes;

    *extent = (struct filter_extent){bloom->bits, bytes, (unsigned)parts->count};
}

double
filter_parts_expected_rate(const petal_bloom *bloom, uint64_t keys)
{
    (void)keys;
    return filter_parts_of(bloom)->rate;
}

double
filter_parts_present_rate(const petal_bloom *bloom)
{
    return filter_parts_of(bloom)->rate;
}

uint64_t
filter_parts_count(const petal_bloom *bloom)
{
    return bloom->keys;
}

/* ---- files ---- */

enum petal_status
filter_parts_save(const petal_bloom *bloom, struct set_file_writer *writer,
                  struct set_file_head *head, petal_error *error)
{
    const struct filter_parts *parts = filter_parts_of(bloom);

    head->parameters[FILTER_PARTS] = parts->count;
    return set_file_append(writer, parts->body, (size_t)parts->body_bytes, error);
}

enum petal_status
filter_parts_open(const struct filter_part_kind *kind, const char *path, const petal_bloom *like,
                  struct set_file *file, petal_bloom **bloom, petal_error *error)
{
    struct filter_parts *parts;
    enum petal_status status = filter_check_unused(file, path, FILTER_PARTS + 1, error);

    if (status == PETAL_OK)
        status = filter_parts_new(kind, like, path, file->body, file->body_bytes,
                                  file->head.parameters[FILTER_PARTS], &parts, error);
    if (status != PETAL_OK)
        return status;
    parts->file = filter_take_file(file);
    *bloom = &parts->bloom;
    return PETAL_OK;
}
