/*
 * spill.h -- bytes that do not fit into memory, in parts that are read one by one.
 *
 * All parts lie in one temporary file. It is written in chunks, each after the last one written,
 * and a part is a chain of chunks. So writing is sequential, reading is in pieces of a chunk, and
 * memory holds one chunk a part, while it is written.
 *
 * A chunk: u64 offset of the part's next chunk (0: it is the last), u64 bytes that follow; bytes.
 * Numbers are the machine's own: the file does not outlive the process.
 */
#ifndef PETAL_TOOLS_LINES_RECORDS_SPILL_H
#define PETAL_TOOLS_LINES_RECORDS_SPILL_H

#include "tools/lines/job/job.h"
#include "tools/lines/records/item.h"

struct spill_part;

struct spill {
    struct job *job;
    int descriptor; /* -1: nothing was put */
    unsigned parts; /* a power of two */
    size_t chunk_bytes;
    char *buffers; /* a chunk for each part, mapped; NULL: it is sealed */
    struct spill_part *list;
    uint64_t end; /* of the file */
};

/* About so many bytes of memory for chunks; up to so many parts, and at least two. */
bool spill_open(struct spill *spill, struct job *job, size_t memory_bytes, unsigned most_parts);
/* Of zeros: nothing. */
void spill_close(struct spill *spill);

bool spill_put(struct spill *spill, unsigned part, const void *bytes, size_t size);

/* All is put: gives back the memory of the chunks. */
bool spill_seal(struct spill *spill);

/* Of a part. */
uint64_t spill_bytes(const struct spill *spill, unsigned part);

/* The part of a hash, by the highest bits that were not used above: level 0 is that of a spill by
 * itself, level 1 that of a spill of one of its parts. */
unsigned spill_part_of(const struct spill *spill, uint64_t hash, unsigned level);
/* Are there such bits? Those below are for tables. */
bool spill_has_level(const struct spill *spill, unsigned level);

/* A part of a sealed spill, from its beginning to its end. */
struct spill_stream {
    struct spill *spill;
    char *chunk; /* mapped */
    size_t begin, end;
    uint64_t next;
    char *joined; /* what lies in more than one chunk */
    size_t joined_capacity;
};

bool spill_stream_open(struct spill_stream *stream, struct spill *spill, unsigned part);
void spill_stream_close(struct spill_stream *stream);

/* So many bytes, in one piece, until the next call. *bytes NULL: the part is at its end. */
bool spill_take(struct spill_stream *stream, size_t size, const char **bytes);

/* As many as lie in one piece, at least one; *size 0: the part is at its end. What is put in one
 * size that divides 16 is not cut. */
bool spill_take_some(struct spill_stream *stream, const char **bytes, size_t *size);

/* Stands before the bytes of a record that was put away with them. */
struct spill_record {
    struct item item;
    uint64_t size;
};

/* Into the part of its hash at this level. */
bool spill_put_record(struct spill *spill, unsigned level, const struct spill_record *record,
                      const void *bytes);

/* *bytes NULL: there are no more. */
bool spill_take_record(struct spill_stream *stream, struct spill_record *record,
                       const char **bytes);

/* As `copy` of struct parts_work (parts.h). */
bool spill_copy_record(struct spill_stream *from, struct spill *to, unsigned level, bool *more);

#endif
