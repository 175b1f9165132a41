/* error.c -- see error.h. */
/* The strerror_r that returns an int. */
#undef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
set_file(petal_error *error, const char *file)
{
    size_t length = strlen(file);

    if (length >= sizeof error->file)
        file += length - (sizeof error->file - 1);
    memcpy(error->file, file, strlen(file) + 1);
}

/* A text that does not name its file gets the name in front: the line is complete by itself. Only a
 * %s without a precision can name it: other words may be what a file is called, "a" or "in". */
static void
name_file(petal_error *error, const char *format)
{
    size_t name_bytes = strlen(error->file), text_bytes = strlen(error->text);
    size_t room = sizeof error->text - 1;

    if (name_bytes == 0)
        return;
    if (strstr(format, "%s") != NULL && strstr(error->text, error->file) != NULL)
        return;
    assert(name_bytes + 2 <= room);
    if (text_bytes > room - name_bytes - 2)
        text_bytes = room - name_bytes - 2;
    memmove(error->text + name_bytes + 2, error->text, text_bytes);
    error->text[name_bytes + 2 + text_bytes] = '\0';
    memcpy(error->text, error->file, name_bytes);
    memcpy(error->text + name_bytes, ": ", 2);
}

static enum petal_status
fill(petal_error *error, enum petal_status status, const char *file, const char *format,
     va_list arguments)
{
    assert(status != PETAL_OK);
    if (error == NULL)
        return status;
    error_clear(error);
    error->status = status;
    set_file(error, file);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    name_file(error, format);
    return status;
}

enum petal_status
error_set(petal_error *error, enum petal_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(error, status, "", format, arguments);
    va_end(arguments);
    return status;
}

enum petal_status
error_file(petal_error *error, enum petal_status status, const char *file, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fill(error, status, file, format, arguments);
    va_end(arguments);
    return status;
}

static enum petal_status
fill_io(petal_error *error, enum petal_status status, const char *file, int os_error,
        const char *action)
{
    char reason[128];

    assert(os_error != 0);
    if (strerror_r(os_error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", os_error);
    error_file(error, status, file, "cannot %s %s: %s", action, file, reason);
    if (error != NULL)
        error->os_error = os_error;
    return status;
}

bool
error_passes(const petal_error *error)
{
    return error->status == PETAL_NO_SPACE || error->status == PETAL_NO_MEMORY ||
           (error->status == PETAL_IO &&
            (error->os_error == EMFILE || error->os_error == ENFILE || error->os_error == ENOMEM));
}

enum petal_status
error_io(petal_error *error, const char *file, int os_error, const char *action)
{
    bool full = os_error == ENOSPC || os_error == EDQUOT;

    return fill_io(error, full ? PETAL_NO_SPACE : PETAL_IO, file, os_error, action);
}

enum petal_status
error_unknown(petal_error *error, const char *file, int os_error, const char *action)
{
    return fill_io(error, PETAL_IO, file, os_error, action);
}

enum petal_status
error_corrupt(petal_error *error, const char *file, uint64_t offset, const char *format, ...)
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
error_no_memory(petal_error *error)
{
    return error_set(error, PETAL_NO_MEMORY, "out of memory");
}

enum petal_status
error_null(petal_error *error, const char *name)
{
    return error_set(error, PETAL_INVALID, "%.100s is NULL", name);
}

enum petal_status
error_no_bytes(petal_error *error, const char *name, size_t size)
{
    return error_set(error, PETAL_INVALID, "%.100s has a size of %zu, but its data is NULL", name,
                     size);
}

enum petal_status
error_no_array(petal_error *error, const char *name, const char *count_name, size_t count)
{
    return error_set(error, PETAL_INVALID, "%.100s is NULL, but %.100s is %zu", name, count_name,
                     count);
}

enum petal_status
error_copy(petal_error *error, const petal_error *cause)
{
    assert(cause->status != PETAL_OK);
    if (error != NULL)
        *error = *cause;
    return cause->status;
}

const char *
error_quote(petal_slice bytes, char *text, size_t text_bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    const uint8_t *from = bytes.data;
    size_t used = 0;

    assert(text_bytes >= sizeof "...");
    for (size_t i = 0; i < bytes.size; i++) {
        bool printable = from[i] >= 0x20 && from[i] < 0x7f && from[i] != '\\';

        if (used + 8 > text_bytes) {
            memcpy(text + used, "...", 3);
            used += 3;
            break;
        }
        if (printable) {
            text[used++] = (char)from[i];
        } else {
            text[used++] = '\\';
            text[used++] = 'x';
            text[used++] = digits[from[i] >> 4];
            text[used++] = digits[from[i] & 15];
        }
    }
    assert(used < text_bytes);
    text[used] = '\0';
    return text;
}
