/*
 * error.h -- errors are born here. Each call fills *error (may be NULL) and returns the status; the
 * file is put in front of a text that does not name it.
 */
#ifndef PETAL_HFILE_FORMAT_ERROR_H
#define PETAL_HFILE_FORMAT_ERROR_H

#include "engine/petal.h"

#if defined(__GNUC__)
#define HFILE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define HFILE_PRINTF(text, first)
#endif

/* Bytes of `file` at `offset` are wrong. */
enum petal_status hfile_error_corrupt(petal_error *error, const char *file, uint64_t offset,
                                      const char *format, ...) HFILE_PRINTF(4, 5);

/* Any other status; `file` may be "". */
enum petal_status hfile_error_set(petal_error *error, enum petal_status status, const char *file,
                                  const char *format, ...) HFILE_PRINTF(4, 5);

/* The file is fine, but not for this library. */
#define hfile_error_unsupported(error, file, ...)                                                  \
    hfile_error_set(error, PETAL_UNSUPPORTED, file, __VA_ARGS__)

/* A system call on `file` failed with `os_error`; PETAL_NO_SPACE for a full disk, PETAL_NOT_FOUND
 * for a file that is not there, else PETAL_IO. */
enum petal_status hfile_error_io(petal_error *error, const char *file, int os_error,
                                 const char *action);

enum petal_status hfile_error_no_memory(petal_error *error);

/* What a caller must give is not there (tools/hfile/format/argument.h): PETAL_INVALID. */
enum petal_status hfile_error_null(petal_error *error, const char *name);
enum petal_status hfile_error_no_bytes(petal_error *error, const char *name, size_t size);

/* Nothing has failed. */
void hfile_error_clear(petal_error *error);

/* `bytes` as text for a message: printable ASCII kept, the rest as \xHH, cut to fit; returns
 * `text`. */
const char *hfile_error_quote(petal_slice bytes, char *text, size_t text_bytes);

#endif
