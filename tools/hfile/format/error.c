/* error.c -- see error.h. */
/* The strerror_r that returns an int. */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L

#include "tools/hfile/format/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
hfile_error_clear(petal_error *error)
{
    if (error == NULL)
        return;
    error->status = PETAL_OK;
    error->os_error = 0;
    error->offset = 0;
    error->file[0] = '\0';
    error->text[0] = '\0';
}

/* The end of the path, where it is too long. */
static void
set_file(petal_error *error, const char *file)
{
    size_t length = strlen(file);

    if (length >= sizeof error->file)
        file += length - (sizeof error->file - 1);
    memcpy(error->file, file, strlen(file) + 1);
}

static enum petal_status
fill(petal_error *error, enum petal_status status, const char *file, const char *format,
     va_list arguments)
{
    char text[sizeof error->text];

    assert(status != PETAL_OK);
    if (error == NULL)
        return status;
    hfile_error_clear(error);
    error->status = status;
    set_file(error, file);
    vsnprintf(text, sizeof text, format, arguments);
    if (error->file[0] == '\0' || strstr(text, error->file) != NULL)
        memcpy(error->text, text, sizeof error->text);
    else if ((size_t)snprintf(error->text, sizeof error->text, "%s: %s", error->file, text) >=
             sizeof error->text)
        error->text[sizeof error->text - 1] = '\0';
    return status;
}

enum petal_status
hfile_error_set(petal_error *error, enum petal_status status, const char *file, const char *format,
                ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(error, status, file, format, arguments);
    va_end(arguments);
    return status;
}

enum petal_status
hfile_error_corrupt(petal_error *error, const char *file, uint64_t offset, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(error, PETAL_CORRUPT, file, format, arguments);
    va_end(arguments);
    if (error != NULL)
        error->offset = offset;
    return PETAL_CORRUPT;
}

enum petal_status
hfile_error_io(petal_error *error, const char *file, int os_error, const char *action)
{
    enum petal_status status = PETAL_IO;
    char reason[128];

    assert(os_error != 0);
    if (os_error == ENOSPC || os_error == EDQUOT)
        status = PETAL_NO_SPACE;
    else if (os_error == ENOENT)
        status = PETAL_NOT_FOUND;
    if (strerror_r(os_error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", os_error);
    hfile_error_set(error, status, file, "cannot %s %s: %s", action, file, reason);
    if (error != NULL)
        error->os_error = os_error;
    return status;
}

enum petal_status
hfile_error_no_memory(petal_error *error)
{
    return hfile_error_set(error, PETAL_NO_MEMORY, "", "out of memory");
}

enum petal_status
hfile_error_null(petal_error *error, const char *name)
{
    return hfile_error_set(error, PETAL_INVALID, "", "%s is NULL", name);
}

enum petal_status
hfile_error_no_bytes(petal_error *error, const char *name, size_t size)
{
    return hfile_error_set(error, PETAL_INVALID, "", "%s has a size of %zu, but its data is NULL",
                           name, size);
}

const char *
hfile_error_quote(petal_slice bytes, char *text, size_t text_bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    const uint8_t *from = bytes.data;
    size_t used = 0;

    assert(text_bytes >= 8);
    for (size_t i = 0; i < bytes.size; i++) {
        if (used + 8 > text_bytes) {
            memcpy(text + used, "...", 3);
            used += 3;
            break;
        }
        if (from[i] >= 0x20 && from[i] < 0x7f && from[i] != '\\') {
            text[used++] = (char)from[i];
        } else {
            text[used++] = '\\';
            text[used++] = 'x';
            text[used++] = digits[from[i] >> 4];
            text[used++] = digits[from[i] & 15];
        }
    }
    text[used] = '\0';
    return text;
}
