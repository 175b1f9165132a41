/* options.c -- see options.h. */
#include "bloom/filter/options.h"

#include "base/options.h"
#include "bloom/bloom.h"
#include "bloom/filter/kind.h"
#include "bloom/filter/walk_rate.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* No rate in range wants more positions in a line. */
#define MOST_LINE_PROBES 20

/* ---- checks ---- */

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

static enum petal_status
check_bits(const petal_bloom_options *options, petal_error *error)
{
    if (options->bits == 0 && options->probes == 0)
        return PETAL_OK;
    if (options->kind > PETAL_BLOOM_KIND_COUNTING)
        return error_set(error, PETAL_INVALID,
                         "bits and probes are given for kind %s, which computes its own",
                         filter_kind_name(options->kind));
    if (options->probes == 0)
        return error_set(error, PETAL_INVALID,
                         "bits is %" PRIu64 ", but probes is 0; give both or none", options->bits);
    if (options->bits == 0)
        return error_set(error, PETAL_INVALID, "probes is %u, but bits is 0; give both or none",
                         options->probes);
    if (options->probes > PETAL_BLOOM_MAX_PROBES)
        return error_set(error, PETAL_INVALID, "probes is %u; it must be at most %d",
                         options->probes, PETAL_BLOOM_MAX_PROBES);
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
    status = check_bits(options, error);
    if (status != PETAL_OK)
        return status;
    if (options->rate == 0) {
        if (options->bits == 0)
            options->rate = PETAL_BLOOM_DEFAULT_RATE;
        return PETAL_OK;
    }
    return check_rate(options->rate, error);
}

/* ---- shapes ---- */

void
filter_shape_of_kind(struct filter_shape *shape, enum petal_bloom_kind kind)
{
    *shape = (struct filter_shape){.position_bits = kind == PETAL_BLOOM_KIND_COUNTING ? 4 : 1};
    if (kind != PETAL_BLOOM_KIND_STANDARD)
        shape->line_positions = BLOOM_LINE_BITS / shape->position_bits;
}

static uint64_t
whole_lines(const struct filter_shape *shape)
{
    assert(shape->positions % shape->line_positions == 0);
    return shape->positions / shape->line_positions;
}

double
filter_shape_rate(const struct filter_shape *shape, uint64_t keys)
{
    if (shape->line_positions == 0) {
        struct bloom_shape standard = {BLOOM_STANDARD, shape->probes, shape->positions};

        return filter_walk_rate(&standard, keys);
    }
    return bloom_lines_rate((unsigned)shape->line_positions, shape->probes, whole_lines(shape),
                            keys);
}

uint64_t
filter_shape_bytes(const struct filter_shape *shape)
{
    uint64_t a_word = 64 / shape->position_bits;

    return (shape->positions / a_word + (shape->positions % a_word != 0)) * 8;
}

void
filter_shape_lines(struct filter_shape *shape, uint64_t keys, double rate)
{
    unsigned line = (unsigned)shape->line_positions, best_probes = 0;
    uint64_t best = 16 * keys;

    assert(keys >= 1 && keys <= FILTER_MOST_KEYS);
    /* Each number of probes is asked only to beat the best before it. */
    for (unsigned probes = 1; probes <= MOST_LINE_PROBES && best > 1; probes++) {
        uint64_t too_few = 0, enough = best - 1;

        if (bloom_lines_rate(line, probes, enough, keys) > rate)
            continue;
        while (enough - too_few > 1) {
            uint64_t middle = too_few + (enough - too_few) / 2;

            if (bloom_lines_rate(line, probes, middle, keys) > rate)
                too_few = middle;
            else
                enough = middle;
        }
        best = enough;
        best_probes = probes;
    }
    assert(best_probes > 0);
    shape->positions = best * line;
    shape->probes = best_probes;
}

static enum petal_status
too_much(const petal_bloom_options *options, petal_error *error)
{
    if (options->bits != 0)
        return error_set(error, PETAL_INVALID, "bits is %" PRIu64 ", more than can be addressed",
                         options->bits);
    return error_set(error, PETAL_INVALID,
                     "keys is %" PRIu64
                     "; at a rate of %g they need more memory than can be addressed",
                     options->keys, options->rate);
}

static enum petal_status
give_bits(struct filter_shape *shape, const petal_bloom_options *options, petal_error *error)
{
    uint64_t line = shape->line_positions, most = UINT64_MAX / 2 / shape->position_bits;

    if (options->bits > most)
        return too_much(options, error);
    shape->positions = options->bits;
    if (line != 0)
        shape->positions = (options->bits + line - 1) / line * line;
    shape->probes = options->probes;
    return PETAL_OK;
}

static void
find_standard(struct filter_shape *shape, uint64_t keys, double rate)
{
    struct bloom_plan plan;
    struct bloom_shape found;

    bloom_plan_init(&plan, BLOOM_STANDARD, rate);
    found = filter_walk_shape(&plan, keys);
    shape->positions = found.bits;
    shape->probes = found.probes;
}

enum petal_status
filter_shape_init(struct filter_shape *shape, const petal_bloom_options *options,
                  petal_error *error)
{
    enum petal_status status = PETAL_OK;

    filter_shape_of_kind(shape, options->kind);
    if (options->bits != 0)
        status = give_bits(shape, options, error);
    else if (options->keys == 0)
        status = error_set(error, PETAL_INVALID,
                           "keys is 0; kind %s is made for a known number of keys, at least 1",
                           filter_kind_name(options->kind));
    else if (options->keys > FILTER_MOST_KEYS)
        status = too_much(options, error);
    else if (shape->line_positions == 0)
        find_standard(shape, options->keys, options->rate);
    else
        filter_shape_lines(shape, options->keys, options->rate);
    if (status == PETAL_OK && filter_shape_bytes(shape) > SIZE_MAX / 2)
        status = too_much(options, error);
    return status;
}
