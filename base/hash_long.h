/* hash_long.h -- the hash of the one checksum (base/checksum.h), for inputs of more than a few
 * hundred bytes. */
#ifndef PETAL_BASE_HASH_LONG_H
#define PETAL_BASE_HASH_LONG_H

#include <stddef.h>
#include <stdint.h>

/* XXH3-64 with a seed, as wide as the processor at hand. */
uint64_t hash_long(const void *bytes, size_t size, uint64_t seed);

#endif
