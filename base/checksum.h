/*
 * checksum.h -- the one checksum of all formats: XXH3-64 under a seed that binds the bytes to their
 * place, so that a stale or misplaced block does not pass.
 */
#ifndef PETAL_BASE_CHECKSUM_H
#define PETAL_BASE_CHECKSUM_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

/* Of `size` bytes that stand at `offset` of the file with the random identity `file_identity`. */
uint64_t checksum_at(uint64_t file_identity, uint64_t offset, const void *bytes, size_t size);

/* The same with identity and offset 0, XXH3-64 with the seed 0, of bytes that come in pieces. */
struct checksum_stream {
    alignas(64) unsigned char state[576];
};

void checksum_begin(struct checksum_stream *stream);
void checksum_update(struct checksum_stream *stream, const void *bytes, size_t size);
uint64_t checksum_end(const struct checksum_stream *stream); /* of all until here; more may come */

#endif
