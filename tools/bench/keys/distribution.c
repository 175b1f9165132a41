/* distribution.c -- see tools/bench/keys/distribution.h. */
#include "tools/bench/keys/distribution.h"

#include <math.h>

/* Terms that zeta adds one by one; the rest is the Euler-Maclaurin formula, whose next term is then
 * below 1e-14. */
#define ZETA_TERMS 1000

static double
term(double i)
{
    return pow(i, -BENCH_ZIPF_THETA);
}

static double
sum_of_terms(uint64_t terms)
{
    double sum = 0;

    for (uint64_t i = terms; i > 0; i--) /* the small ones first */
        sum += term((double)i);
    return sum;
}

/* `head`: the sum of the first ZETA_TERMS terms. */
static double
zeta_by_formula(double head, uint64_t items)
{
    double from = ZETA_TERMS, to = (double)items;
    double integral, ends, slopes;

    if (items <= ZETA_TERMS)
        return sum_of_terms(items);
    integral =
        (pow(to, 1 - BENCH_ZIPF_THETA) - pow(from, 1 - BENCH_ZIPF_THETA)) / (1 - BENCH_ZIPF_THETA);
    ends = (term(to) - term(from)) / 2;
    slopes = BENCH_ZIPF_THETA / 12 * (term(from) / from - term(to) / to);
    return head + integral + ends + slopes;
}

double
bench_zeta(uint64_t items)
{
    return zeta_by_formula(sum_of_terms(ZETA_TERMS), items);
}

uint64_t
bench_fnv(uint64_t number)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (int i = 0; i < 8; i++) {
        hash ^= number & 0xff;
        hash *= UINT64_C(1099511628211);
        number >>= 8;
    }
    return hash >> 63 != 0 ? -hash : hash;
}

void
bench_distribution_init(struct bench_distribution *distribution, enum bench_distribution_kind kind)
{
    *distribution = (struct bench_distribution){.kind = kind};
    distribution->zeta_head = sum_of_terms(ZETA_TERMS);
}

static void
set_ranks(struct bench_distribution *distribution, uint64_t ranks)
{
    double two = 1 + term(2), n = (double)ranks;

    distribution->ranks = ranks;
    distribution->zeta = zeta_by_formula(distribution->zeta_head, ranks);
    distribution->share_of_two = two;
    distribution->eta = (1 - pow(2 / n, 1 - BENCH_ZIPF_THETA)) / (1 - two / distribution->zeta);
}

static uint64_t
next_rank(struct bench_distribution *distribution, struct bench_random *random, uint64_t ranks)
{
    double u = (double)(bench_random_next(random) >> 11) * 0x1p-53, rank;

    if (distribution->ranks != ranks)
        set_ranks(distribution, ranks);
    if (u * distribution->zeta < 1 || ranks == 1)
        return 0;
    if (u * distribution->zeta < distribution->share_of_two || ranks == 2)
        return 1;
    rank = (double)ranks *
           pow(distribution->eta * u - distribution->eta + 1, 1 / (1 - BENCH_ZIPF_THETA));
    return rank < (double)ranks ? (uint64_t)rank : ranks - 1;
}

uint64_t
bench_distribution_next(struct bench_distribution *distribution, struct bench_random *random,
                        uint64_t items)
{
    if (distribution->kind == BENCH_LATEST)
        return items - 1 - next_rank(distribution, random, items);
    return bench_fnv(next_rank(distribution, random, BENCH_SCRAMBLED_RANKS)) % items;
}
