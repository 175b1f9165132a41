/*
 * walk_rate.c -- see walk_rate.h.
 *
 * WALKS THAT LIE NEAR EACH OTHER.  Position i of one key lies m (a + i b) bits behind that of the
 * other, where a is the difference of places and b that of steps, both uniform in a circle of
 * length 1.  In units of a bit, a' = m a and b' = m b, they are the same bit with probability
 * p_i = max(0, 1 - |a' + i b'|).  With a part f of the bits set by others, a key for which a' and
 * b' are small passes with probability
 *
 *     product over i of (f + (1 - f) p_i)
 *
 * of which theory has the terms with none, one or two of the p_i: pairs of positions are
 * independent.  The rest, integrated over a' and b', is J; each key adds J / m^2 to the rate.  So
 * does each b near t / q, for q up to k / 3 and t coprime to it, for which every q-th position is
 * near: the q classes of positions have k / q each, and their b' counts q times.
 */
#include "bloom/filter/walk_rate.h"

#include <assert.h>
#include <math.h>

/* Below such a part of the rate it does not matter.  J is less than 1. */
#define MATTERS 0.001

/* A word is taken in any case, and of fewer bits the formula is not good: see walk_rate.h. */
#define LEAST_BITS 64

/* Of a plan: its density is the textbook's, some bits short whatever the number of keys. */
#define ABOVE_RATE 0.000001

/* Of the sums that stand for the integrals: they are within 1 %. */
#define STEPS_OF_B 16
#define STEPS_OF_A 8 /* for each bit */

/* The terms with three p_i or more, of `places` positions of which others set each with
 * probability `fill`; b > 0. */
static double
three_or_more(unsigned places, double fill, double a, double b)
{
    double clear = 1 - fill, all = 1, none = 1, one = 0, two = 0;
    double begin = fmax(ceil((-1 - a) / b), 0), end = fmin((1 - a) / b, places);
    unsigned near = 0;

    for (double i = begin; i < end; i++, near++) {
        double same = clear * fmax(1 - fabs(a + i * b), 0);

        all *= fill + same;
        two = two * fill + one * same;
        one = one * fill + none * same;
        none *= fill;
    }
    if (near < 3)
        return 0;
    return fmax(all - none - one - two, 0) * pow(fill, places - near);
}

/* Integrated over a' and b'; b' below 0 gives as much as above it, and beyond 1 no three positions
 * are near.  Small b' count most: b' = x^2. */
static double
class_integral(unsigned places, double fill)
{
    double sum = 0, a_step = 1.0 / STEPS_OF_A, x_step = 1.0 / STEPS_OF_B;

    for (double x = x_step / 2; x < 1; x += x_step) {
        double b = x * x, over_a = 0;

        for (double a = -1 - b * (places - 1) + a_step / 2; a < 1; a += a_step)
            over_a += three_or_more(places, fill, a, b);
        sum += over_a * a_step * 2 * x * x_step;
    }
    return 2 * sum;
}

static unsigned
count_coprime(unsigned to)
{
    unsigned count = 0;

    for (unsigned t = 1; t <= to; t++) {
        unsigned a = to, b = t;

        while (b != 0) {
            unsigned rest = a % b;

            a = b;
            b = rest;
        }
        count += a == 1;
    }
    return count;
}

/* J, over all classes. */
static double
integral(unsigned probes, double fill)
{
    double sum = 0;

    for (unsigned q = 1; q <= (probes + 2) / 3; q++) {
        unsigned places = probes / q, longer = probes % q;
        double classes = 0;

        if (places >= 3)
            classes = (q - longer) * class_integral(places, fill) * pow(fill, probes - places);
        if (longer > 0 && places >= 2)
            classes += longer * class_integral(places + 1, fill) * pow(fill, probes - places - 1);
        sum += classes * count_coprime(q) / q;
    }
    return sum;
}

static double
with_near_walks(const struct bloom_shape *shape, double keys, double fill, double rate)
{
    double near = keys / (double)shape->bits / (double)shape->bits;

    assert(shape->layout == BLOOM_STANDARD);
    if (near < MATTERS * rate)
        return rate;
    return fmin(rate + near * integral(shape->probes, fill), 1);
}

double
filter_walk_rate_at(const struct bloom_shape *shape, double keys, double fill)
{
    return with_near_walks(shape, keys, fill, pow(fill, shape->probes));
}

double
filter_walk_rate(const struct bloom_shape *shape, uint64_t keys)
{
    double positions = (double)shape->probes * (double)keys;
    double fill = keys == 0 ? 0 : -expm1(positions * log1p(-1 / (double)shape->bits));

    return with_near_walks(shape, (double)keys, fill, bloom_expected_rate(shape, keys));
}

struct bloom_shape
filter_walk_shape(const struct bloom_plan *plan, uint64_t keys)
{
    struct bloom_shape shape = {BLOOM_STANDARD, plan->standard.probes, 0};
    double most = plan->rate * (1 + ABOVE_RATE);
    uint64_t too_few, enough, step;

    assert(keys >= 1);
    enough = (uint64_t)ceil((double)keys * plan->standard.bits_per_key);
    if (keys <= BLOOM_MAX_KEYS)
        enough = bloom_plan_shape(plan, keys).bits;
    if (enough < LEAST_BITS)
        enough = LEAST_BITS;
    too_few = enough - 1;
    for (step = 1 + enough / 256;; step *= 2) {
        shape.bits = enough;
        if (filter_walk_rate(&shape, keys) <= most)
            break;
        too_few = enough;
        enough += step;
    }
    while (enough - too_few > 1) {
        shape.bits = too_few + (enough - too_few) / 2;
        if (filter_walk_rate(&shape, keys) <= most)
            enough = shape.bits;
        else
            too_few = shape.bits;
    }
    shape.bits = enough;
    return shape;
}
