/*
 * set_file.h -- the file around a set: a header of one page, which says what it is, and a body, the
 * set's own bytes, which can be mapped. bloom/FORMAT.md has both byte by byte.
 *
 * A file is written beside its name, synced, and renamed to it; so it is there whole or not at all.
 */
#ifndef PETAL_BLOOM_FILE_SET_FILE_H
#define PETAL_BLOOM_FILE_SET_FILE_H

#include "bloom/petal_bloom.h"

/* The body begins on such a border of the file, and in memory. */
#define SET_FILE_PAGE_BYTES 4096

#define SET_FILE_PARAMETERS 8

/* What the header says besides checksums and sizes. */
struct set_file_head {
    enum petal_bloom_file_type type;
    uint8_t kind; /* of a filter: enum petal_bloom_kind; else 0 */
    uint16_t
        layout; /* version of the body: how its bytes are read; each type has its own numbers */
    uint64_t salt;
    uint64_t parameters[SET_FILE_PARAMETERS]; /* each type's own; those without use are 0 */
};

/* ---- writing ---- */

/* A file that is being written. Belongs to one thread. */
struct set_file_writer;

enum petal_status set_file_create(const petal_env *env, const char *path,
                                  struct set_file_writer **writer, petal_error *error);

/* More of the body. */
enum petal_status set_file_append(struct set_file_writer *writer, const void *bytes, size_t size,
                                  petal_error *error);

/* Write the header, make the file durable, give it its name. Frees the writer, also on an error;
 * then nothing is left of the file, and one that was there is what it was. */
enum petal_status set_file_finish(struct set_file_writer *writer, const struct set_file_head *head,
                                  petal_error *error);

/* Give it up: nothing is left. NULL: nothing. */
void set_file_abandon(struct set_file_writer *writer);

/* ---- reading ---- */

/* A file that was read or mapped. */
struct set_file {
    struct set_file_head head;
    /* Of the caller where it was read (petal_allocator of the env, SET_FILE_PAGE_BYTES aligned): it
     * may take it away by setting it to NULL, and may write there. */
    uint8_t *body;
    uint64_t body_bytes;
    bool is_mapped;
    const petal_env *env;
};

/*
 * REQUIRES: `type` is what the caller can read; another one in the file is PETAL_INVALID with a
 * text that says what the file holds. What the head's parameters mean for the body is the caller's
 * to check before it believes them: the sizes are those of bytes that are there.
 */
enum petal_status set_file_open(const char *path, const petal_bloom_load_options *options,
                                enum petal_bloom_file_type type, struct set_file *file,
                                petal_error *error);
void set_file_close(struct set_file *file);

#endif
