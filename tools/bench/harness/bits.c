/* bits.c -- see tools/bench/harness/bits.h. */
#include "tools/bench/harness/bits.h"

#include <math.h>

/* What lines of 512 bits take beyond the bits of theory, by log10(1/p); between these it is about
 * linear. */
double
bench_bits_of_rate(double rate)
{
    static const double extra[] = {0, 0.006, 0.034, 0.08, 0.15};
    double tenths = -log10(rate), share;
    unsigned below = tenths >= 4 ? 3 : (unsigned)tenths;

    share = extra[below] + (tenths - below) * (extra[below + 1] - extra[below]);
    return -log(rate) / (log(2) * log(2)) * (1 + share);
}

double
bench_rate_of_bits(double bits)
{
    double low = 1e-6, high = 0.5;

    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);

        if (bench_bits_of_rate(middle) > bits)
            low = middle;
        else
            high = middle;
    }
    return high;
}
