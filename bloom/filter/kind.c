/* kind.c -- see kind.h. */
#include "bloom/filter/kind.h"

#include "base/options.h"

#include <assert.h>
#include <string.h>

const char *
filter_kind_name(enum petal_bloom_kind kind)
{
    switch (kind) {
    case PETAL_BLOOM_KIND_BLOCKED:
        return "BLOCKED";
    case PETAL_BLOOM_KIND_COUNTING:
        return "COUNTING";
    case PETAL_BLOOM_KIND_GROWING:
        return "GROWING";
    case PETAL_BLOOM_KIND_RIBBON:
        return "RIBBON";
    case PETAL_BLOOM_KIND_DEFAULT:
    case PETAL_BLOOM_KIND_STANDARD: /* within store files only */
        break;
    }
    return NULL;
}

/* ---- options ---- */

static enum petal_status
check_rate(double rate, petal_error *error)
{
    if (!(rate > 0 && rate < 1)) /* not a number, too */
        return error_set(error, PETAL_INVALID, "rate is %g; it must lie between 0 and 1", rate);
    if (rate < PETAL_BLOOM_MIN_RATE || rate > PETAL_BLOOM_MAX_RATE)
        return error_set(error, PETAL_INVALID, "rate is %g; it must be %g to %g", rate,
                         PETAL_BLOOM_MIN_RATE, PETAL_BLOOM_MAX_RATE);
    return PETAL_OK;
}

enum petal_status
filter_options_resolve(petal_bloom_options *options, const petal_bloom_options *given,
                       petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_bloom_options", error);

    options->size = sizeof *options;
    if (status == PETAL_OK)
        status = env_check(options->env, error);
    if (status != PETAL_OK)
        return status;
    if (options->kind == PETAL_BLOOM_KIND_DEFAULT)
        options->kind = PETAL_BLOOM_KIND_BLOCKED;
    if (filter_kind_name(options->kind) == NULL)
        return error_set(error, PETAL_INVALID, "kind is %d; there is no such kind of filter",
                         (int)options->kind);
    if (options->rate == 0)
        options->rate = PETAL_BLOOM_DEFAULT_RATE;
    return check_rate(options->rate, error);
}

void
filter_init(petal_bloom *bloom, const petal_bloom_options *options)
{
    bloom->kind = options->kind;
    bloom->keys = options->keys;
    bloom->salt = options->salt;
    bloom->rate = options->rate;
    env_init(&bloom->env, options->env);
}

/* ---- files ---- */

/* In the header of a file (bloom/FORMAT.md). */
#define PARAMETERS_AT 32

enum petal_status
filter_bad_parameter(petal_error *error, const char *path, unsigned parameter, const char *text)
{
    return error_corrupt(error, path, PARAMETERS_AT + UINT64_C(8) * parameter, "%.200s", text);
}

enum petal_status
filter_check_unused(const struct set_file *file, const char *path, unsigned first,
                    petal_error *error)
{
    for (unsigned i = first; i < SET_FILE_PARAMETERS; i++)
        if (file->head.parameters[i] != 0)
            return filter_bad_parameter(error, path, i, "an unused parameter is not 0");
    return PETAL_OK;
}

void
filter_describe(const petal_bloom *bloom, struct set_file_head *head)
{
    *head = (struct set_file_head){.type = PETAL_BLOOM_FILE_FILTER,
                                   .kind = (uint8_t)bloom->kind,
                                   .layout = FILTER_LAYOUT,
                                   .salt = bloom->salt};
    static_assert(sizeof head->parameters[0] == sizeof bloom->rate, "a rate is a parameter");
    head->parameters[FILTER_KEYS] = bloom->keys;
    memcpy(&head->parameters[FILTER_RATE], &bloom->rate, sizeof bloom->rate);
}
