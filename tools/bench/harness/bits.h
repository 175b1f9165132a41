/* bits.h -- what a Bloom filter of lines of 512 bits takes and lets pass: bits a key, and the rate
 * of its errors. */
#ifndef PETAL_TOOLS_BENCH_HARNESS_BITS_H
#define PETAL_TOOLS_BENCH_HARNESS_BITS_H

/* The error rate that a filter of so many bits a key has; and the bits that a rate takes. Pure. */
double bench_rate_of_bits(double bits);
double bench_bits_of_rate(double rate);

#endif
