/* lines.c -- see lines.h. */
#include "bloom/filter/lines.h"

#include "bloom/bits.h"

#include <assert.h>
#include <math.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* No rate in range wants more positions in a line. */
#define MOST_PROBES 20

/* ---- shapes ---- */

double
filter_lines_rate(const struct filter_lines *lines, uint64_t keys)
{
    return bloom_lines_rate(lines->positions, lines->probes, lines->count, keys);
}

void
filter_lines_shape(struct filter_lines *lines, uint64_t keys, double rate)
{
    unsigned best_probes = 0;
    uint64_t best = 16 * keys;

    assert(keys >= 1 && keys <= FILTER_MOST_KEYS);
    /* Each number of probes is asked only to beat the best before it. */
    for (unsigned probes = 1; probes <= MOST_PROBES && best > 1; probes++) {
        uint64_t too_few = 0, enough = best - 1;

        if (bloom_lines_rate(lines->positions, probes, enough, keys) > rate)
            continue;
        while (enough - too_few > 1) {
            uint64_t middle = too_few + (enough - too_few) / 2;

            if (bloom_lines_rate(lines->positions, probes, middle, keys) > rate)
                too_few = middle;
            else
                enough = middle;
        }
        best = enough;
        best_probes = probes;
    }
    assert(best_probes > 0);
    lines->count = best;
    lines->probes = best_probes;
}

/* ---- words ---- */

bool
filter_lines_allocate(struct filter_lines *lines, const struct env *env)
{
    size_t bytes = (size_t)filter_lines_bytes(lines);
    size_t alignment = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : BLOOM_LINE_BYTES;

    assert(lines->count > 0 && filter_lines_bytes(lines) <= SIZE_MAX / 2);
    lines->words = mem_alloc_aligned(env->allocator, alignment, bytes);
    if (lines->words == NULL)
        return false;
    memset((void *)lines->words, 0, bytes);
    return true;
}

void
filter_lines_free(struct filter_lines *lines, const struct env *env)
{
    mem_free(env->allocator, lines->words, (size_t)filter_lines_bytes(lines));
}

static unsigned
count_set(const struct filter_lines *lines, const filter_word *line)
{
    unsigned set = 0;

    for (unsigned i = 0; i < FILTER_LINE_WORDS; i++) {
        uint64_t word = filter_word_load(&line[i]);

        set += count_bits(lines->positions == BLOOM_LINE_BITS ? word : filter_counters_set(word));
    }
    return set;
}

struct filter_fill
filter_lines_fill(const struct filter_lines *lines)
{
    uint64_t with_set[BLOOM_LINE_BITS + 1] = {0}; /* lines, by how many of their positions are */
    double positions = lines->positions, passing = 0, keys = 0;

    for (uint64_t i = 0; i < lines->count; i++)
        with_set[count_set(lines, lines->words + FILTER_LINE_WORDS * i)]++;
    for (unsigned set = 1; set <= lines->positions; set++) {
        /* Of what is full nobody can say how many: what left half a position free. */
        double clear = fmax(positions - set, 0.5), count = (double)with_set[set];

        passing += count * pow(set / positions, lines->probes);
        keys += count * log(clear / positions) / (lines->probes * log1p(-1 / positions));
    }
    return (struct filter_fill){passing / (double)lines->count, keys};
}
