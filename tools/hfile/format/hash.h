/*
 * hash.h -- the hashes of HBase's Bloom filters, bit for bit: 32 bits, which a filter takes as a
 * signed number.
 */
#ifndef PETAL_HFILE_FORMAT_HASH_H
#define PETAL_HFILE_FORMAT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is it one of HFILE_HASH_JENKINS and the two after it (format.h)? */
bool hfile_hash_is_known(int64_t type);

/*
 * JENKINS: hashlittle() of Jenkins' lookup3. MURMUR: MurmurHash2, but for the last one to three
 * bytes, which Java extends by their sign. MURMUR3: MurmurHash3_x86_32.
 * REQUIRES: the type is known.
 */
uint32_t hfile_hash(int type, const void *bytes, size_t size, uint32_t seed);

#endif
