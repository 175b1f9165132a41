/* parts.c -- see parts.h. */
#include "bloom/filter/parts.h"

#include "base/coding.h"
#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

struct part {
    const uint8_t *bytes;
    struct bloom_ribbon ribbon;
};

struct parts {
    petal_bloom bloom;
    struct part *parts;
    uint64_t count; /* 0: there are no keys */
    double rate;    /* by theory */
    uint8_t *body;
    uint64_t body_bytes;
    uint64_t memory_bytes; /* of the body that was built; 0: it is the file's */
    struct set_file file;
};

static const struct parts *
parts_of(const petal_bloom *bloom)
{
    return (const struct parts *)bloom;
}

/* ---- how it is cut ---- */

uint64_t
filter_parts_for(uint64_t keys)
{
    return keys / FILTER_PART_KEYS + (keys % FILTER_PART_KEYS != 0);
}

/* Besides the filter, in one piece: hashes, and what sorts them or a part is built with. */
static uint64_t
waiting_bytes(uint64_t keys, const struct bloom_ribbon *ribbon)
{
    uint64_t hashes = keys * sizeof(uint64_t);
    uint64_t part = bloom_ribbon_work_bytes(ribbon) + bloom_ribbon_bytes(ribbon);

    return hashes + (part > hashes ? part : hashes);
}

static enum petal_status
parts_plan(const petal_bloom_options *options, petal_bloom_plan *plan, petal_error *error)
{
    uint64_t count = filter_parts_for(options->keys);
    uint64_t keys = options->keys / count + (options->keys % count != 0);
    struct bloom_ribbon ribbon = bloom_ribbon_shape(keys, options->rate, 0);

    if (count > SIZE_MAX / 2 / bloom_ribbon_bytes(&ribbon) || options->keys > SIZE_MAX / 64)
        return error_set(error, PETAL_INVALID,
                         "keys is %" PRIu64
                         "; at a rate of %g they need more memory than can be addressed",
                         options->keys, options->rate);
    plan->bytes = count * bloom_ribbon_bytes(&ribbon);
    plan->bits = (plan->bytes - count * BLOOM_RIBBON_FOOTER_BYTES) * 8;
    plan->bits_per_key = (double)plan->bits / (double)options->keys;
    plan->rate = bloom_ribbon_expected_rate(&ribbon);
    plan->build_bytes = plan->bytes + waiting_bytes(options->keys, &ribbon);
    return PETAL_OK;
}

/* ---- making and freeing ---- */

/* Find each part, by what the footers say, which may be anything. */
static enum petal_status
read_footers(struct parts *made, const char *path, petal_error *error)
{
    uint64_t footers_at = made->body_bytes - made->count * BLOOM_RIBBON_FOOTER_BYTES;
    uint64_t at = 0, keys = 0;
    double rates = 0;

    for (uint64_t i = 0; i < made->count; i++) {
        uint64_t footer_at = footers_at + i * BLOOM_RIBBON_FOOTER_BYTES, bytes;
        struct part *part = &made->parts[i];

        if (!bloom_ribbon_read_footer(&part->ribbon, made->body + footer_at))
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + footer_at,
                                 "part %" PRIu64 " of %" PRIu64 " is not a part of kind RIBBON", i,
                                 made->count);
        bytes = bloom_ribbon_bytes(&part->ribbon) - BLOOM_RIBBON_FOOTER_BYTES;
        if (bytes > footers_at - at)
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + footer_at,
                                 "part %" PRIu64 " of %" PRIu64 " has %" PRIu64
                                 " bytes; only %" PRIu64 " are left",
                                 i, made->count, bytes, footers_at - at);
        part->bytes = made->body + at;
        at += bytes;
        keys += get_le32(made->body + footer_at);
        rates += bloom_ribbon_expected_rate(&part->ribbon);
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

static void
free_parts(struct parts *parts)
{
    const petal_allocator *allocator = parts->bloom.env.allocator;

    mem_free(allocator, parts->parts, parts->count * sizeof *parts->parts);
    mem_free(allocator, parts, sizeof *parts);
}

static enum petal_status
new_parts(const petal_bloom *like, const char *path, uint8_t *body, uint64_t body_bytes,
          uint64_t count, struct parts **parts, petal_error *error)
{
    const petal_allocator *allocator = like->env.allocator;
    struct parts *made;
    enum petal_status status;

    if (count > body_bytes / BLOOM_RIBBON_FOOTER_BYTES || (count == 0) != (like->keys == 0))
        return error_corrupt(
            error, path, 0, "%" PRIu64 " parts of %" PRIu64 " keys cannot lie in %" PRIu64 " bytes",
            count, like->keys, body_bytes);
    made = mem_zalloc(allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->bloom = *like;
    made->count = count;
    made->body = body;
    made->body_bytes = body_bytes;
    if (count > 0)
        made->parts = mem_alloc(allocator, count * sizeof *made->parts);
    if (count > 0 && made->parts == NULL)
        status = error_no_memory(error);
    else
        status = read_footers(made, path, error);
    if (status != PETAL_OK)
        free_parts(made);
    else
        *parts = made;
    return status;
}

enum petal_status
filter_parts_new(const petal_bloom *like, uint8_t *body, uint64_t body_bytes, uint64_t body_memory,
                 uint64_t count, petal_bloom **bloom, petal_error *error)
{
    struct parts *parts;
    enum petal_status status = new_parts(like, "", body, body_bytes, count, &parts, error);

    if (status != PETAL_OK)
        return status;
    parts->memory_bytes = body_memory;
    *bloom = &parts->bloom;
    return PETAL_OK;
}

static void
parts_free(petal_bloom *bloom)
{
    struct parts *parts = (struct parts *)bloom;

    if (parts->memory_bytes > 0)
        mem_free(bloom->env.allocator, parts->body, parts->memory_bytes);
    else
        set_file_close(&parts->file);
    free_parts(parts);
}

/* ---- questions ---- */

/* So many questions are under way at a time, of two or three cache lines each. */
#define AHEAD 16

static inline const struct part *
part_of(const struct parts *parts, uint64_t hash)
{
    return &parts->parts[filter_part_of(hash, parts->count)];
}

static bool
parts_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct parts *parts = parts_of(bloom);
    const struct part *part;

    if (parts->count == 0)
        return false;
    part = part_of(parts, hash);
    return bloom_ribbon_may_contain(&part->ribbon, part->bytes, hash);
}

static void
begin(struct bloom_ribbon_question *question, const struct parts *parts, uint64_t hash)
{
    const struct part *part = part_of(parts, hash);

    bloom_ribbon_begin(question, &part->ribbon, part->bytes, hash);
}

static size_t
parts_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                         bool *answers)
{
    const struct parts *parts = parts_of(bloom);
    struct bloom_ribbon_question ring[AHEAD];
    size_t passed = 0;

    if (parts->count == 0) {
        memset(answers, 0, count * sizeof *answers);
        return 0;
    }
    for (size_t i = 0; i < count && i < AHEAD; i++)
        begin(&ring[i], parts, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        answers[i] = bloom_ribbon_answer(&ring[i % AHEAD]);
        passed += answers[i];
        if (count - i > AHEAD)
            begin(&ring[i % AHEAD], parts, hashes[i + AHEAD]);
    }
    return passed;
}

/* ---- numbers ---- */

static void
parts_extent(const petal_bloom *bloom, struct filter_extent *extent)
{
    const struct parts *parts = parts_of(bloom);
    uint64_t bytes = parts->memory_bytes > 0 ? parts->memory_bytes : parts->body_bytes;

    *extent = (struct filter_extent){bloom->bits, bytes, (unsigned)parts->count};
}

static double
parts_expected_rate(const petal_bloom *bloom, uint64_t keys)
{
    (void)keys;
    return parts_of(bloom)->rate;
}

static double
parts_present_rate(const petal_bloom *bloom)
{
    return parts_of(bloom)->rate;
}

static uint64_t
parts_count(const petal_bloom *bloom)
{
    return bloom->keys;
}

/* ---- files ---- */

static enum petal_status
parts_save(const petal_bloom *bloom, struct set_file_writer *writer, struct set_file_head *head,
           petal_error *error)
{
    const struct parts *parts = parts_of(bloom);

    head->parameters[FILTER_PARTS] = parts->count;
    return set_file_append(writer, parts->body, (size_t)parts->body_bytes, error);
}

static enum petal_status
parts_open(const char *path, const petal_bloom *like, struct set_file *file, petal_bloom **bloom,
           petal_error *error)
{
    struct parts *parts;
    enum petal_status status = filter_check_unused(file, path, FILTER_PARTS + 1, error);

    if (status == PETAL_OK)
        status = new_parts(like, path, file->body, file->body_bytes,
                           file->head.parameters[FILTER_PARTS], &parts, error);
    if (status != PETAL_OK)
        return status;
    parts->file = filter_take_file(file);
    *bloom = &parts->bloom;
    return PETAL_OK;
}

const struct filter_kind filter_ribbon = {
    .plan = parts_plan,
    .free = parts_free,
    .may_contain_hash = parts_may_contain_hash,
    .may_contain_hashes = parts_may_contain_hashes,
    .extent = parts_extent,
    .expected_rate = parts_expected_rate,
    .present_rate = parts_present_rate,
    .count = parts_count,
    .save = parts_save,
    .open = parts_open,
};
