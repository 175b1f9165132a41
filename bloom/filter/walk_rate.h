/*
 * walk_rate.h -- the rate of STANDARD filters, as their walks (bloom/bloom.h) have it: that of
 * theory, in which a key's k positions are independent, and what two keys have in common by the
 * way a walk is made.
 *
 * Place and step of a walk are two numbers, which fall into m parts each: about one of m^2 keys
 * begins like another and goes like it, and shares not one position with it but all, or every
 * second, or third. With few keys, and so few bits, this is more than what passes by chance: ten
 * times, of one key at a rate of 1e-6; 1 % of 1,000 keys' rate of 1e-6, of 200 keys' of 0.0001.
 */
#ifndef PETAL_BLOOM_FILTER_WALK_RATE_H
#define PETAL_BLOOM_FILTER_WALK_RATE_H

#include "bloom/bloom.h"

/* By theory, with so many different keys: within 5 % from 64 bits on; within 20 % of fewer, where
 * positions are so coarse that it matters where they lie. */
double filter_walk_rate(const struct bloom_shape *shape, uint64_t keys);

/* The same where a part `fill` of the bits is set, by about so many keys. */
double filter_walk_rate_at(const struct bloom_shape *shape, double keys, double fill);

/* The k of the plan, and the fewest bits with it, at least 64, that hold the rate. */
struct bloom_shape filter_walk_shape(const struct bloom_plan *plan, uint64_t keys);

#endif
