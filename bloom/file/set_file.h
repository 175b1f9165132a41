/*
 * set_file.h -- the file around a set: a header of one page that describes it, and a body, the
 * set's bytes, which can be mapped. bloom/FORMAT.md has both byte by byte.
 *
 * A file is written under another name, `.NAME.saving-` and 16 random hexadecimal digits, synced,
 * and renamed to `NAME`, so it is there whole or not at all. It is locked while it is written; a
 * file left by a dead process is not, and the next save of `NAME` removes it.
 *
 * Files are accessed through the petal_vfs of the env, by its rules: the last part of a path is a
 * regular file, not a symbolic link; its directories may be anything.
 */
#ifndef PETAL_BLOOM_FILE_SET_FILE_H
#define PETAL_BLOOM_FILE_SET_FILE_H

#include "base/env.h"
#include "bloom/petal_bloom.h"

/* The body begins on such a border of the file. */
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

/*
 * Zeroed memory for a set's bytes; NULL: there is none. On the border of a cache line, that small
 * sets take little more than their bytes; of a page at least where it has pages of its own anyway
 * (mem_zalloc_aligned).
 */
void *set_memory(const struct env *env, size_t bytes);

/* The error where a directory could not be opened, which `file`, maybe itself, is to lie in; of a
 * number of errno.h. */
enum petal_status set_file_directory_failed(petal_error *error, const char *file,
                                            const char *directory, int failed);

/* ---- writing ---- */

/* A file that is being written. Belongs to one thread. */
struct set_file_writer;

/* PETAL_INVALID: the path can name no file, or something that is no file is there. */
enum petal_status set_file_create(const struct env *env, const char *path,
                                  struct set_file_writer **writer, petal_error *error);

/* More of the body; NULL bytes are zeros. Long runs of zeros take no room on the disk, where that
 * can have holes. */
enum petal_status set_file_append(struct set_file_writer *writer, const void *from, uint64_t size,
                                  petal_error *error);

/*
 * Write the header, make the file durable, give it its name. Frees the writer, also on an error;
 * then nothing is left of the file, and one that was there is what it was. One error comes later:
 * when the directory cannot be synced (PETAL_IO) the file has its name, but after a crash the old
 * one may have it.
 */
enum petal_status set_file_finish(struct set_file_writer *writer, const struct set_file_head *head,
                                  petal_error *error);

/* Give it up: nothing is left. NULL: nothing. */
void set_file_abandon(struct set_file_writer *writer);

/* ---- reading ---- */

/* A file that was read or mapped. */
struct set_file {
    struct set_file_head head;
    /*
     * Read: memory of the env's allocator, body_bytes of it, which the caller may write to, and
     * may take away by setting it to NULL; on the borders of set_memory at least. Mapped:
     * read-only, on a border of 8 bytes at least; of a page with the default vfs. NULL if it has no
     * bytes.
     */
    uint8_t *body;
    uint64_t body_bytes; /* at most SIZE_MAX */
    bool is_mapped;
    struct env env; /* of the load options, resolved */
};

/*
 * `type` is what the caller can read; another one in the file is PETAL_INVALID with a text that
 * says what the file holds. `options` may be NULL. The head was checked, but what its parameters
 * and layout mean for the body is the caller's to check before it believes them; body_bytes is true
 * of the bytes that are there. On an error `file` has nothing to close.
 */
enum petal_status set_file_open(const char *path, const petal_bloom_load_options *options,
                                enum petal_bloom_file_type type, struct set_file *file,
                                petal_error *error);

/* Release the map, or what memory was not taken away. */
void set_file_close(struct set_file *file);

#endif
