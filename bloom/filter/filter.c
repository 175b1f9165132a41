/*
 * filter.c -- the public calls for filters (bloom/petal_bloom.h) of all kinds: each checks its
 * arguments, and calls the kind's function (kind.h).
 */
#include "base/argument.h"
#include "base/options.h"
#include "bloom/file/set_file.h"
#include "bloom/filter/kind.h"
#include "bloom/hash.h"

#include <inttypes.h>
#include <string.h>

static const struct filter_kind *const kinds[] = {
    [PETAL_BLOOM_KIND_BLOCKED] = &filter_blocked,
    [PETAL_BLOOM_KIND_COUNTING] = &filter_counting,
    [PETAL_BLOOM_KIND_GROWING] = &filter_growing,
    [PETAL_BLOOM_KIND_RIBBON] = &filter_ribbon,
};

/* ---- hashes ---- */

uint64_t
petal_bloom_hash(petal_slice key, uint64_t salt)
{
    return bloom_hash_row(salt, key.data, slice_lacks_bytes(key) ? 0 : key.size);
}

/* ---- making ---- */

enum petal_status
petal_bloom_plan_for(const petal_bloom_options *given, petal_bloom_plan *plan, petal_error *error)
{
    RETURN_IF_NULL(plan, error);

    petal_bloom_plan found = {.size = sizeof found};
    petal_bloom_options options;
    enum petal_status status;
    size_t size = plan->size;

    error_clear(error);
    status = options_check_size(size, "petal_bloom_plan", error);
    if (status != PETAL_OK)
        return status;
    if (given == NULL)
        status = error_null(error, "options"); /* there is no default for keys */
    else
        status = filter_options_resolve(&options, given, error);
    if (status == PETAL_OK && options.keys == 0)
        status = error_set(error, PETAL_INVALID, "keys is 0; a plan is made for at least 1");
    if (status == PETAL_OK)
        status = kinds[options.kind]->plan(&options, &found, error);
    if (status != PETAL_OK)
        found = (petal_bloom_plan){.size = sizeof found};
    found.size = size;
    memcpy(plan, &found, size == 0 || size > sizeof found ? sizeof found : size);
    return status;
}

enum petal_status
petal_bloom_create(const petal_bloom_options *given, petal_bloom **bloom, petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    *bloom = NULL;
    if (given == NULL)
        return error_null(error, "options"); /* there is no default for keys */

    const struct filter_kind *functions;
    petal_bloom_options options;
    enum petal_status status;

    error_clear(error);
    status = filter_options_resolve(&options, given, error);
    if (status != PETAL_OK)
        return status;
    functions = kinds[options.kind];
    if (functions->create == NULL)
        return error_set(error, PETAL_INVALID,
                         "a filter of kind %s cannot be made empty: a builder "
                         "(petal_bloom_builder_create) makes it of all its keys",
                         filter_kind_name(options.kind));
    status = functions->create(&options, bloom, error);
    if (status == PETAL_OK)
        (*bloom)->functions = functions;
    return status;
}

void
petal_bloom_free(petal_bloom *bloom)
{
    if (bloom != NULL)
        bloom->functions->free(bloom);
}

/* ---- keys ---- */

static enum petal_status
check_writable(const petal_bloom *bloom, petal_error *error)
{
    if (bloom->functions->add_hashes == NULL)
        return error_set(error, PETAL_READ_ONLY,
                         "the filter is of kind %s, which is built once and takes no keys",
                         filter_kind_name(bloom->kind));
    if (bloom->is_read_only)
        return error_set(error, PETAL_READ_ONLY, "the filter is mapped, and can only be read");
    return PETAL_OK;
}

enum petal_status
petal_bloom_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                       petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    RETURN_IF_NO_ARRAY(hashes, count, error);

    enum petal_status status;

    error_clear(error);
    status = check_writable(bloom, error);
    if (status != PETAL_OK)
        return status;
    return bloom->functions->add_hashes(bloom, hashes, count, were_new, error);
}

enum petal_status
petal_bloom_add(petal_bloom *bloom, petal_slice key, bool *was_new, petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    RETURN_IF_NO_BYTES(key, error);

    uint64_t hash = petal_bloom_hash(key, bloom->salt);

    return petal_bloom_add_hashes(bloom, &hash, 1, was_new, error);
}

enum petal_status
petal_bloom_remove(petal_bloom *bloom, petal_slice key, petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    RETURN_IF_NO_BYTES(key, error);

    enum petal_status status;

    error_clear(error);
    if (bloom->functions->remove_hash == NULL)
        return error_set(error, PETAL_INVALID,
                         "the filter is of kind %s; keys can be removed from kind COUNTING only",
                         filter_kind_name(bloom->kind));
    status = check_writable(bloom, error);
    if (status != PETAL_OK)
        return status;
    if (!bloom->functions->remove_hash(bloom, petal_bloom_hash(key, bloom->salt)))
        return error_set(error, PETAL_NOT_FOUND, "the key is not in the filter");
    return PETAL_OK;
}

/* ---- questions ---- */

bool
petal_bloom_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    return bloom == NULL || bloom->functions->may_contain_hash(bloom, hash);
}

bool
petal_bloom_may_contain(const petal_bloom *bloom, petal_slice key)
{
    return bloom == NULL || slice_lacks_bytes(key) ||
           bloom->functions->may_contain_hash(bloom, petal_bloom_hash(key, bloom->salt));
}

size_t
petal_bloom_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                               bool *answers)
{
    if (answers == NULL)
        return 0;
    if (bloom == NULL || hashes == NULL) {
        for (size_t i = 0; i < count; i++)
            answers[i] = true;
        return count;
    }
    return bloom->functions->may_contain_hashes(bloom, hashes, count, answers);
}

static void
describe(const petal_bloom *bloom, petal_bloom_info *info)
{
    struct filter_extent extent;

    bloom->functions->extent(bloom, &extent);
    info->kind = bloom->kind;
    info->keys = bloom->keys;
    info->rate = bloom->rate;
    info->bits = extent.bits;
    info->probes = bloom->probes;
    info->salt = bloom->salt;
    info->bytes = extent.bytes;
    info->segments = extent.segments;
    info->is_read_only = bloom->is_read_only || bloom->functions->add_hashes == NULL;
}

void
petal_bloom_get_info(const petal_bloom *bloom, petal_bloom_info *info)
{
    petal_bloom_info found = {.size = 0};

    if (info == NULL)
        return;
    if (bloom != NULL)
        describe(bloom, &found);
    found.size = info->size;
    memcpy(info, &found, info->size == 0 || info->size > sizeof found ? sizeof found : info->size);
}

double
petal_bloom_expected_rate(const petal_bloom *bloom, uint64_t keys)
{
    return bloom != NULL ? bloom->functions->expected_rate(bloom, keys) : 0;
}

double
petal_bloom_present_rate(const petal_bloom *bloom)
{
    return bloom != NULL ? bloom->functions->present_rate(bloom) : 0;
}

uint64_t
petal_bloom_count(const petal_bloom *bloom)
{
    return bloom != NULL ? bloom->functions->count(bloom) : 0;
}

/* ---- two filters ---- */

static enum petal_status
check_compatible(const petal_bloom *a, const petal_bloom *b, petal_error *error)
{
    const char *name = filter_kind_name(a->kind);

    if (a->kind != b->kind)
        return error_set(error, PETAL_INVALID,
                         "the filters are not compatible: one is of kind %s, the other of %s", name,
                         filter_kind_name(b->kind));
    if (a->functions->unite == NULL)
        return error_set(error, PETAL_INVALID, "filters of kind %s are never compatible", name);
    if (a->bits != b->bits)
        return error_set(error, PETAL_INVALID,
                         "the filters are not compatible: one has %" PRIu64
                         " bits, the other %" PRIu64,
                         a->bits, b->bits);
    if (a->probes != b->probes)
        return error_set(error, PETAL_INVALID,
                         "the filters are not compatible: one has %u probes, the other %u",
                         a->probes, b->probes);
    if (a->salt != b->salt)
        return error_set(error, PETAL_INVALID,
                         "the filters are not compatible: one has salt %" PRIu64
                         ", the other %" PRIu64,
                         a->salt, b->salt);
    return PETAL_OK;
}

enum petal_status
petal_bloom_unite(petal_bloom *bloom, const petal_bloom *other, petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    RETURN_IF_NULL(other, error);

    enum petal_status status;

    error_clear(error);
    status = check_compatible(bloom, other, error);
    if (status == PETAL_OK)
        status = check_writable(bloom, error);
    if (status == PETAL_OK)
        bloom->functions->unite(bloom, other);
    return status;
}

/* ---- files ---- */

enum petal_status
petal_bloom_save(const petal_bloom *bloom, const char *path, petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    RETURN_IF_NULL(path, error);

    struct set_file_writer *writer;
    struct set_file_head head;
    enum petal_status status;

    error_clear(error);
    status = set_file_create(&bloom->env, path, &writer, error);
    if (status != PETAL_OK)
        return status;
    filter_describe(bloom, &head);
    status = bloom->functions->save(bloom, writer, &head, error);
    if (status == PETAL_OK)
        return set_file_finish(writer, &head, error);
    set_file_abandon(writer);
    return status;
}

static enum petal_status
take_head(const char *path, const struct set_file *file, petal_bloom *like, petal_error *error)
{
    const struct set_file_head *head = &file->head;

    *like = (petal_bloom){.functions = kinds[head->kind],
                          .kind = (enum petal_bloom_kind)head->kind,
                          .keys = head->parameters[FILTER_KEYS],
                          .salt = head->salt,
                          .is_read_only = file->is_mapped,
                          .env = file->env};
    memcpy(&like->rate, &head->parameters[FILTER_RATE], sizeof like->rate);
    if (head->layout != FILTER_LAYOUT)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "the filter has layout %u, which this library does not know",
                          head->layout);
    if (!(like->rate > 0 && like->rate < 1)) /* not a number, too */
        return filter_bad_parameter(error, path, FILTER_RATE, "the rate is not between 0 and 1");
    return PETAL_OK;
}

enum petal_status
petal_bloom_load(const char *path, const petal_bloom_load_options *options, petal_bloom **bloom,
                 petal_error *error)
{
    RETURN_IF_NULL(bloom, error);
    *bloom = NULL;
    RETURN_IF_NULL(path, error);

    struct set_file file;
    enum petal_status status;
    petal_bloom like;

    error_clear(error);
    status = set_file_open(path, options, PETAL_BLOOM_FILE_FILTER, &file, error);
    if (status != PETAL_OK)
        return status;
    status = take_head(path, &file, &like, error);
    if (status == PETAL_OK)
        status = like.functions->open(path, &like, &file, bloom, error);
    set_file_close(&file);
    return status;
}
