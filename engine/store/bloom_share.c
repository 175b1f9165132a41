/* bloom_share.c -- see bloom_share.h. */
#include "engine/store/bloom_share.h"

#include "bloom/bloom.h"
#include "engine/state/progress.h"

#include <math.h>

/* What is found is that close to the rate at BLOOM_SHARE_MOST_BITS, as a part of it; and never
 * below it. */
#define RATE_PRECISION 0.001

/* Bits a key that a filter of many keys takes in the layout that most store files have; in another
 * one none takes more. */
static double
bits_at(double rate)
{
    struct bloom_plan plan;

    bloom_plan_init(&plan, BLOOM_BLOCKED, rate);
    return plan.blocked.bits_per_key;
}

/* `rate`, or the least one above it that takes no more than BLOOM_SHARE_MOST_BITS. */
static double
within_most_bits(double rate)
{
    double low = rate, high = BLOOM_MAX_RATE;

    if (bits_at(rate) <= BLOOM_SHARE_MOST_BITS)
        return rate;
    while (high > low * (1 + RATE_PRECISION)) {
        double middle = sqrt(low * high);

        if (bits_at(middle) <= BLOOM_SHARE_MOST_BITS)
            high = middle;
        else
            low = middle;
    }
    return high;
}

double
bloom_share_rate(const petal_family_options *family, enum file_origin origin)
{
    double half = family->bloom_error_rate / 2;

    if (family->bloom_rate_per_file)
        return family->bloom_error_rate;
    if (origin == FILE_ORIGIN_ALL_FILES)
        return within_most_bits(half);
    return within_most_bits(half / (STORE_MOST_RUNS - 1));
}

unsigned
bloom_share_layout(const petal_family_options *family, enum file_origin origin)
{
    bool ribbon = family->bloom_kind == PETAL_BLOOM_KIND_RIBBON && origin == FILE_ORIGIN_ALL_FILES;

    return ribbon ? BLOOM_RIBBON : BLOOM_BLOCKED;
}
