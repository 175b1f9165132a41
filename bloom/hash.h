/*
 * hash.h -- the keys of filters as 64-bit hashes.  Three domains share one filter and never collide
 * but by chance: a row, a column of a row, and "this row has a family marker".  A key's bytes are
 * hashed once for a get, however many filters are asked; a column's hash is chained on its row's.
 * The salt is a random number of the database, so that nobody can craft keys that pass.
 *
 * HASH VERSION 1: XXH3-64 with seeds.  Stored filters name the version; it changes when one of
 * these changes.
 */
#ifndef PETAL_BLOOM_HASH_H
#define PETAL_BLOOM_HASH_H

#include <stddef.h>
#include <stdint.h>

#define BLOOM_HASH_VERSION 1

uint64_t bloom_hash_row(uint64_t salt, const void *row, size_t size);
uint64_t bloom_hash_column(uint64_t row_hash, const void *qualifier, size_t size);
uint64_t bloom_hash_family_marker(uint64_t row_hash);

#endif
