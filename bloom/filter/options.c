/* options.c -- see options.h. */
#include "bloom/filter/options.h"

#include "base/options.h"
#include "bloom/filter/kind.h"

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
