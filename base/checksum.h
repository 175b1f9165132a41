/*
 * checksum.h -- the one checksum of all formats: XXH3-64 under a seed that binds the bytes to their
 * place, so that a stale or misplaced block does not pass.
 */
#ifndef PETAL_BASE_CHECKSUM_H
#define PETAL_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of `size` bytes that stand at `offset` of the file with the random identity `file_identity`. */
uint64_t checksum_at(uint64_t file_identity, uint64_t offset, const void *bytes, size_t size);

#endif
