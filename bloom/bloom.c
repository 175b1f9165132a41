/*
 * bloom.c -- see bloom.h for the layouts.
 *
 * Filters are read and written byte by byte, so neither byte order nor alignment matters.  A probe
 * uses no floating point.
 *
 * THE ERROR RATE, exactly, for L lines of b bits with n keys and k independent positions a key: let
 * X of the keys fall into the line of an absent key, whose positions are D different bits.  By
 * inclusion and exclusion over those bits, all of them are set with probability
 *
 *     sum over i of (-1)^i C(D, i) (1 - i/b)^(k X)
 *
 * X is binomial (n, 1/L), for which the mean of r^(k X) is (1 - (1 - r^k) / L)^n.  So
 *
 *     rate = sum over i of (-1)^i E[C(D, i)] (1 - (1 - r_i^k) / L)^n,    r_i = 1 - i/b
 *
 * k + 1 terms, and no sum over loads.  STANDARD is one line of m bits.  The textbook's (1 -
 * e^(-kn/m))^k forgets that k positions may coincide and that the number of bits set varies: taken
 * for each load of a line it is 1 % low at a rate of 0.01, 3 % at 0.001.  The terms alternate and
 * grow with 2^k: good to 1e-10 for k <= 20, to 1e-6 for k = 30.
 */
#include "bloom/bloom.h"

#include "bloom/little_endian.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Above so many bits the textbook's formula for STANDARD is within 0.1 %, and rounds better. */
#define TEXTBOOK_BITS 65536

/* No rate in range wants more positions in a line of 512 bits, nor more bits a key. */
#define BLOCKED_MAX_PROBES       20
#define BLOCKED_MAX_BITS_PER_KEY 64.0

/* How far whole lines may move the expected rate up, as a part of it, and down: few lines are
 * crowded more evenly than many, and a line that is asked is worth some bits too many. */
#define MOST_ABOVE_RATE 0.04
#define MOST_BELOW_RATE 0.15

/* A number of lines at which binomial loads are Poisson loads. */
#define MANY_LINES 1e9

/* ---- error rates ---- */

struct rate_terms {
    unsigned probes;
    double line_bits;
    double terms[BLOOM_MAX_PROBES + 1]; /* (-1)^i E[C(D, i)] */
};

static void
rate_terms_init(struct rate_terms *rate, unsigned probes, double line_bits)
{
    double distinct[BLOOM_MAX_PROBES + 2] = {1.0}; /* P(D = j) after some of the positions */

    assert(probes >= 1 && probes <= BLOOM_MAX_PROBES && line_bits >= 1);
    rate->probes = probes;
    rate->line_bits = line_bits;
    for (unsigned i = 0; i < probes; i++) {
        for (unsigned j = i + 1; j > 0; j--)
            distinct[j] =
                (distinct[j] * j + distinct[j - 1] * fmax(line_bits - (j - 1), 0)) / line_bits;
        distinct[0] = 0;
    }
    memset(rate->terms, 0, sizeof rate->terms);
    for (unsigned j = 0; j <= probes; j++) {
        double signed_binomial = 1;

        for (unsigned i = 0; i <= j; i++) {
            rate->terms[i] += distinct[j] * signed_binomial;
            signed_binomial *= -(double)(j - i) / (i + 1);
        }
    }
}

static double
rate_of(const struct rate_terms *rate, double lines, double keys)
{
    double sum = rate->terms[0];

    for (unsigned i = 1; i <= rate->probes && i < rate->line_bits; i++) {
        double all_pass = pow(1 - i / rate->line_bits, rate->probes);

        sum += rate->terms[i] * exp(keys * log1p(-(1 - all_pass) / lines));
    }
    return fmin(fmax(sum, 0), 1);
}

double
bloom_expected_rate(const struct bloom_shape *shape, uint64_t keys)
{
    double bits = (double)shape->bits;
    double probes = shape->probes;
    struct rate_terms terms;

    assert(shape->layout != BLOOM_RIBBON);
    if (keys == 0)
        return 0;
    if (shape->layout == BLOOM_STANDARD && shape->bits > TEXTBOOK_BITS)
        return pow(-expm1(probes * (double)keys * log1p(-1 / bits)), probes);
    if (shape->layout == BLOOM_STANDARD) {
        rate_terms_init(&terms, shape->probes, bits);
        return rate_of(&terms, 1, (double)keys);
    }
    return bloom_lines_rate(BLOOM_LINE_BITS, shape->probes, shape->bits / BLOOM_LINE_BITS, keys);
}

double
bloom_lines_rate(unsigned line_bits, unsigned probes, uint64_t lines, uint64_t keys)
{
    struct rate_terms terms;

    if (keys == 0)
        return 0;
    rate_terms_init(&terms, probes, line_bits);
    return rate_of(&terms, (double)lines, (double)keys);
}

/* ---- shapes ---- */

static struct bloom_density
standard_density(double rate)
{
    struct bloom_density best = {0, INFINITY};

    for (unsigned probes = 1; probes <= BLOOM_MAX_PROBES; probes++) {
        double bits_per_key = -(double)probes / log1p(-pow(rate, 1.0 / probes));

        if (bits_per_key < best.bits_per_key)
            best = (struct bloom_density){probes, bits_per_key};
    }
    assert(best.probes > 0);
    return best;
}

/* More positions pay until they crowd the lines; each k is asked only to beat the best before
 * it. */
static struct bloom_density
blocked_density(double rate)
{
    struct bloom_density best = {0, BLOCKED_MAX_BITS_PER_KEY};

    for (unsigned probes = 1; probes <= BLOCKED_MAX_PROBES; probes++) {
        double low = 0.5, high = best.bits_per_key;
        struct rate_terms terms;

        rate_terms_init(&terms, probes, BLOOM_LINE_BITS);
        if (rate_of(&terms, MANY_LINES, MANY_LINES * BLOOM_LINE_BITS / high) >= rate)
            continue;
        for (int step = 0; step < 40; step++) {
            double middle = (low + high) / 2;

            if (rate_of(&terms, MANY_LINES, MANY_LINES * BLOOM_LINE_BITS / middle) > rate)
                low = middle;
            else
                high = middle;
        }
        best = (struct bloom_density){probes, high};
    }
    assert(best.probes > 0);
    return best;
}

/* Plans that the thread has made, in turn: finding one takes a million instructions, far more than
 * writing a small store file does, and there are few rates. */
#define REMEMBERED_PLANS 32

static _Thread_local struct bloom_plan remembered[REMEMBERED_PLANS]; /* rate 0: none */
static _Thread_local uint64_t plans_found;

void
bloom_plan_init(struct bloom_plan *plan, enum bloom_layout layout, double rate)
{
    assert(layout == BLOOM_STANDARD || layout == BLOOM_BLOCKED || layout == BLOOM_RIBBON);
    if (!(rate >= BLOOM_MIN_RATE)) /* not a number, too */
        rate = BLOOM_MIN_RATE;
    if (rate > BLOOM_MAX_RATE)
        rate = BLOOM_MAX_RATE;
    for (size_t i = 0; i < REMEMBERED_PLANS; i++) {
        if (remembered[i].rate == rate && remembered[i].layout == layout) {
            *plan = remembered[i];
            return;
        }
    }
    *plan = (struct bloom_plan){.layout = layout, .rate = rate};
    plan->standard = standard_density(rate);
    if (layout == BLOOM_BLOCKED)
        plan->blocked = blocked_density(rate);
    remembered[plans_found++ % REMEMBERED_PLANS] = *plan;
}

uint64_t
bloom_plans_found(void)
{
    return plans_found;
}

static struct bloom_shape
standard_shape(const struct bloom_plan *plan, uint64_t keys)
{
    struct bloom_shape shape = {BLOOM_STANDARD, plan->standard.probes, 0};

    assert(keys > 0 && plan->rate >= BLOOM_MIN_RATE && plan->rate <= BLOOM_MAX_RATE);
    shape.bits = (uint64_t)ceil((double)keys * plan->standard.bits_per_key);
    /* The density is the textbook's, a few bits short whatever the number of keys. */
    while (shape.bits <= TEXTBOOK_BITS && bloom_expected_rate(&shape, keys) > plan->rate)
        shape.bits++;
    return shape;
}

/* The RIBBON shape, or the STANDARD one if that is not larger. */
static struct bloom_shape
ribbon_shape(const struct bloom_plan *plan, uint64_t keys)
{
    struct bloom_ribbon ribbon = bloom_ribbon_shape(keys, plan->rate, 0);
    size_t bytes = bloom_ribbon_bytes(&ribbon) - BLOOM_FOOTER_BYTES;

    if ((double)bytes * 8 < (double)keys * plan->standard.bits_per_key)
        return (struct bloom_shape){BLOOM_RIBBON, ribbon.columns, (uint64_t)bytes * 8};
    return standard_shape(plan, keys);
}

struct bloom_shape
bloom_plan_shape(const struct bloom_plan *plan, uint64_t keys)
{
    struct bloom_shape shape = {BLOOM_BLOCKED, plan->blocked.probes, 0};

    assert(keys <= BLOOM_MAX_KEYS);
    if (keys == 0)
        keys = 1;
    if (plan->layout == BLOOM_RIBBON)
        return ribbon_shape(plan, keys);
    if (plan->layout == BLOOM_BLOCKED) {
        double lines = (double)keys * plan->blocked.bits_per_key / BLOOM_LINE_BITS;

        shape.bits = (uint64_t)(lines + 0.5) * BLOOM_LINE_BITS;
        if (shape.bits > 0) {
            double part = bloom_expected_rate(&shape, keys) / plan->rate;

            if (part <= 1 + MOST_ABOVE_RATE && part >= 1 - MOST_BELOW_RATE)
                return shape;
        }
    }
    return standard_shape(plan, keys);
}

static uint64_t
whole_keys(double keys)
{
    return keys < 1 ? 1 : keys > BLOOM_MAX_KEYS ? BLOOM_MAX_KEYS : (uint64_t)keys;
}

static bool
is_within(const struct bloom_plan *plan, uint64_t keys, size_t bytes)
{
    struct bloom_shape shape = bloom_plan_shape(plan, keys);

    return bloom_bytes(&shape) <= bytes;
}

/* RIBBON filters for fewer keys are larger by one column of a block, at most. */
static uint64_t
ribbon_capacity(const struct bloom_plan *plan, uint64_t least, size_t bytes)
{
    uint64_t high = whole_keys((double)bytes * 8 / -log2(plan->rate)) + 1;

    while (least + 1 < high) {
        uint64_t middle = least + (high - least) / 2;

        if (is_within(plan, middle, bytes - BLOOM_RIBBON_BLOCK_SLOTS / 8))
            least = middle;
        else
            high = middle;
    }
    return least;
}

uint64_t
bloom_plan_capacity(const struct bloom_plan *plan, size_t bytes)
{
    size_t room = bytes > BLOOM_FOOTER_BYTES ? bytes - BLOOM_FOOTER_BYTES : 0;
    uint64_t keys;

    /* A STANDARD filter would take more keys in a few lines; but fewer keys would not fit for
     * certain. */
    if (plan->layout == BLOOM_BLOCKED && room >= BLOOM_LINE_BYTES) {
        double bits = (double)(room / BLOOM_LINE_BYTES) * BLOOM_LINE_BITS;

        return whole_keys(bits / plan->blocked.bits_per_key);
    }
    keys = whole_keys((double)room * 8 / plan->standard.bits_per_key);
    while (keys > 1 && !is_within(plan, keys, bytes))
        keys--;
    assert(keys >= 1);
    if (plan->layout == BLOOM_RIBBON && room > BLOOM_RIBBON_BLOCK_SLOTS / 8)
        return ribbon_capacity(plan, keys, bytes);
    return keys;
}

size_t
bloom_bytes(const struct bloom_shape *shape)
{
    return (size_t)(shape->bits / 8 + (shape->bits % 8 != 0)) + BLOOM_FOOTER_BYTES;
}

/* ---- positions ---- */

/* Bit `position` is the lowest of the result; those above it are others. */
static inline unsigned
bit_at(const uint8_t *bits, uint64_t position)
{
    return (unsigned)bits[position / 8] >> position % 8;
}

static inline void
set_bit(uint8_t *bits, uint64_t position)
{
    bits[position / 8] |= (uint8_t)(1u << position % 8);
}

/* ---- building and opening ---- */

/* Whether such a filter can have been built; said of shapes from disk, so it must not overflow. */
static bool
shape_is_valid(enum bloom_layout layout, uint64_t probes, uint64_t bits)
{
    if (probes < 1 || probes > BLOOM_MAX_PROBES || bits == 0)
        return false;
    return layout == BLOOM_STANDARD || (layout == BLOOM_BLOCKED && bits % BLOOM_LINE_BITS == 0);
}

static void
add_standard(const struct bloom_shape *shape, uint64_t hash, uint8_t *bits)
{
    struct bloom_standard_walk walk = bloom_standard_walk_from(hash);

    for (unsigned i = 0; i < shape->probes; i++)
        set_bit(bits, bloom_standard_next(&walk, shape->bits));
}

static void
add_blocked(const struct bloom_shape *shape, uint64_t hash, uint8_t *bits)
{
    uint8_t *line = bits + BLOOM_LINE_BYTES * bloom_line(hash, shape->bits / BLOOM_LINE_BITS);
    uint64_t walk = hash;

    assert(line + BLOOM_LINE_BYTES <= bits + shape->bits / 8);
    for (unsigned i = 0; i < shape->probes; i++)
        set_bit(line, bloom_line_next(&walk));
}

void
bloom_build(const struct bloom_shape *shape, const uint64_t *hashes, size_t count, uint8_t *bytes)
{
    size_t size = bloom_bytes(shape);
    uint8_t *footer = bytes + size - BLOOM_FOOTER_BYTES;

    assert(count <= BLOOM_MAX_KEYS && (count == 0 || hashes != NULL));
    assert(shape_is_valid(shape->layout, shape->probes, shape->bits));
    memset(bytes, 0, size);
    if (shape->layout == BLOOM_STANDARD) {
        for (size_t i = 0; i < count; i++)
            add_standard(shape, hashes[i], bytes);
    } else {
        for (size_t i = 0; i < count; i++)
            add_blocked(shape, hashes[i], bytes);
    }
    store_little_endian(footer, 4, count);
    footer[4] = (uint8_t)shape->layout;
    footer[5] = (uint8_t)shape->probes;
    store_little_endian(footer + 8, 8, shape->bits);
}

static bool
open_ribbon(struct bloom_filter *filter, const uint8_t *bytes, size_t size)
{
    _Static_assert(BLOOM_RIBBON_FOOTER_BYTES == BLOOM_FOOTER_BYTES, "one footer");
    if (!bloom_ribbon_open(&filter->ribbon, bytes, size))
        return false;
    size -= BLOOM_FOOTER_BYTES;
    filter->bits = bytes;
    filter->shape = (struct bloom_shape){BLOOM_RIBBON, filter->ribbon.columns, (uint64_t)size * 8};
    filter->keys = load_le32(bytes + size);
    return true;
}

bool
bloom_open(struct bloom_filter *filter, const uint8_t *bytes, size_t size)
{
    const uint8_t *footer;
    uint64_t bits;

    if (size < BLOOM_FOOTER_BYTES)
        return false;
    size -= BLOOM_FOOTER_BYTES;
    footer = bytes + size;
    bits = load_le64(footer + 8);
    if (footer[4] != BLOOM_STANDARD && footer[4] != BLOOM_BLOCKED)
        return footer[4] == BLOOM_RIBBON && open_ribbon(filter, bytes, size + BLOOM_FOOTER_BYTES);
    if (!shape_is_valid((enum bloom_layout)footer[4], footer[5], bits))
        return false;
    if ((footer[6] | footer[7]) != 0 || bits / 8 + (bits % 8 != 0) != size)
        return false;
    filter->bits = bytes;
    filter->shape = (struct bloom_shape){(enum bloom_layout)footer[4], footer[5], bits};
    filter->keys = load_le32(footer);
    return true;
}

/* ---- asking ---- */

/* Two probes, then the others, without a branch between them: see bloom_line_may_contain.  A probe
 * costs more here, so it pays to look sooner. */
bool
bloom_standard_may_contain(const uint8_t *bits, uint64_t bit_count, unsigned probes, uint64_t hash)
{
    struct bloom_standard_walk walk = bloom_standard_walk_from(hash);
    unsigned set = bit_at(bits, bloom_standard_next(&walk, bit_count));

    assert(probes >= 1);
    if (probes > 1)
        set &= bit_at(bits, bloom_standard_next(&walk, bit_count));
    if ((set & 1) == 0)
        return false;
    for (unsigned left = probes > 1 ? probes - 2 : 0; left > 0; left--)
        set &= bit_at(bits, bloom_standard_next(&walk, bit_count));
    return (set & 1) != 0;
}

bool
bloom_may_contain(const struct bloom_filter *filter, uint64_t hash)
{
    const struct bloom_shape *shape = &filter->shape;

    if (shape->layout == BLOOM_BLOCKED)
        return bloom_line_may_contain(
            filter->bits + BLOOM_LINE_BYTES * bloom_line(hash, shape->bits / BLOOM_LINE_BITS),
            shape->probes, hash);
    if (shape->layout == BLOOM_RIBBON)
        return bloom_ribbon_may_contain(&filter->ribbon, filter->bits, hash);
    return bloom_standard_may_contain(filter->bits, shape->bits, shape->probes, hash);
}
