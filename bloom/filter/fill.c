/* fill.c -- see fill.h. */
#include "bloom/filter/fill.h"

#include <assert.h>
#include <math.h>

void
filter_fill_init(struct filter_fill *fill, const struct filter_shape *shape,
                 const filter_word *words)
{
    uint64_t lines = shape->positions / shape->line_positions;

    assert(shape->line_positions * shape->position_bits == BLOOM_LINE_BITS);
    *fill = (struct filter_fill){(unsigned)shape->line_positions, shape->probes, {0}};
    for (uint64_t line = 0; line < lines; line++, words += FILTER_LINE_WORDS) {
        unsigned set = 0;

        for (unsigned i = 0; i < FILTER_LINE_WORDS; i++) {
            uint64_t word = filter_word_load(&words[i]);

            set += count_bits(shape->position_bits == 1 ? word : filter_counters_set(word));
        }
        fill->lines[set]++;
    }
}

double
filter_fill_rate(const struct filter_fill *fill)
{
    double passing = 0, lines = 0;

    for (unsigned set = 0; set <= fill->line_positions; set++) {
        double part = (double)set / fill->line_positions;

        passing += (double)fill->lines[set] * pow(part, fill->probes);
        lines += (double)fill->lines[set];
    }
    return passing / lines;
}

double
filter_line_keys(double set, double positions, unsigned probes)
{
    /* Of what is full nobody can say how many: what left half a position free. */
    double clear = fmax(positions - set, 0.5);

    if (positions == 1)
        return set;
    return log(clear / positions) / (probes * log1p(-1 / positions));
}

double
filter_fill_keys(const struct filter_fill *fill)
{
    double keys = 0;

    for (unsigned set = 0; set <= fill->line_positions; set++)
        if (fill->lines[set] > 0)
            keys += (double)fill->lines[set] *
                    filter_line_keys(set, fill->line_positions, fill->probes);
    return keys;
}
