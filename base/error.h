/*
 * error.h -- errors are born here and nowhere else, so one breakpoint shows every first cause.
 * Each call fills *error (may be NULL) and returns the status, so that a caller writes `return
 * error_corrupt(error, path, offset, "…")`.  The texts name what is wrong, found and expected; the
 * file is put in front of a text that does not name it by a %s. Words that come into it otherwise,
 * and may be what a file is called, have a precision, "%.40s": they are no name.
 */
#ifndef PETAL_BASE_ERROR_H
#define PETAL_BASE_ERROR_H

#include "engine/petal.h"

#if defined(__GNUC__)
#define ERROR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define ERROR_SELDOM              __attribute__((cold)) /* a branch that calls it is not foreseen */
#else
#define ERROR_PRINTF(text, first)
#define ERROR_SELDOM
#endif

/* A system call on `file` failed with `os_error`; PETAL_NO_SPACE for a full disk, else PETAL_IO. */
enum petal_status error_io(petal_error *error, const char *file, int os_error, const char *action);

/* The same where nobody knows what the call has done, as with a sync of a file that others read or
 * of a directory: always PETAL_IO, also of a full disk, since what was written may be there
 * afterwards or not. */
enum petal_status error_unknown(petal_error *error, const char *file, int os_error,
                                const char *action);

/* Bytes of `file` at `offset` are not what was written. */
enum petal_status error_corrupt(petal_error *error, const char *file, uint64_t offset,
                                const char *format, ...) ERROR_PRINTF(4, 5);

enum petal_status error_no_memory(petal_error *error);

/* Any other status. */
enum petal_status error_set(petal_error *error, enum petal_status status, const char *format, ...)
    ERROR_PRINTF(3, 4);

/* The same, about a file. */
enum petal_status error_file(petal_error *error, enum petal_status status, const char *file,
                             const char *format, ...) ERROR_PRINTF(4, 5);

/* What a caller must give is not there (base/argument.h): PETAL_INVALID. `name` is what the public
 * header calls it. */
enum petal_status error_null(petal_error *error, const char *name) ERROR_SELDOM;
enum petal_status error_no_bytes(petal_error *error, const char *name, size_t size) ERROR_SELDOM;
enum petal_status error_no_array(petal_error *error, const char *name, const char *count_name,
                                 size_t count) ERROR_SELDOM;

/* What another call has told is what this one tells; returns its status. */
enum petal_status error_copy(petal_error *error, const petal_error *cause);

/* Want of space, memory or descriptors: what failed may succeed when others have given some back.
 */
bool error_passes(const petal_error *error);

/* Forget what was there: status OK, texts empty. */
static inline void
error_clear(petal_error *error)
{
    if (error == NULL)
        return;
    error->status = PETAL_OK;
    error->os_error = 0;
    error->offset = 0;
    error->file[0] = '\0';
    error->text[0] = '\0';
}

/* `bytes` as text for a message: printable ASCII kept, the rest as \xHH, cut with "…" to fit;
 * returns `text`. */
const char *error_quote(petal_slice bytes, char *text, size_t text_bytes);

#endif
