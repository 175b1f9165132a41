/* kind.c -- see kind.h. */
#include "bloom/filter/kind.h"

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
