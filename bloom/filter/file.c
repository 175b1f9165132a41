/* file.c -- filters in files (bloom/FORMAT.md): what those of all kinds have in common. */
#include "base/argument.h"
#include "bloom/filter/kinds.h"

#include <assert.h>
#include <string.h>

/* ---- saving ---- */

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

/* ---- loading ---- */

static enum petal_status
take_head(const char *path, const struct set_file *file, petal_bloom *like, petal_error *error)
{
    const struct set_file_head *head = &file->head;

    *like = (petal_bloom){.kind = (enum petal_bloom_kind)head->kind,
                          .keys = head->parameters[FILTER_KEYS],
                          .salt = head->salt,
                          .is_read_only = file->is_mapped,
                          .env = file->env};
    memcpy(&like->rate, &head->parameters[FILTER_RATE], sizeof like->rate);
    if (head->layout != FILTER_LAYOUT)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "the filter has layout %u, which this library does not know",
                          head->layout);
    if (!(like->rate >= 0 && like->rate < 1)) /* not a number, too */
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

    const struct filter_kind *functions = NULL;
    struct set_file file;
    enum petal_status status;
    petal_bloom like;

    error_clear(error);
    status = set_file_open(path, options, PETAL_BLOOM_FILE_FILTER, &file, error);
    if (status != PETAL_OK)
        return status;
    status = take_head(path, &file, &like, error);
    if (status == PETAL_OK)
        status = filter_find_kind(&functions, like.kind, error);
    if (status == PETAL_OK)
        status = functions->open(path, &like, &file, bloom, error);
    if (status == PETAL_OK)
        (*bloom)->functions = functions;
    set_file_close(&file);
    return status;
}
