/* writer.c -- see writer.h. */
#include "tools/lines/records/writer.h"
#include "tools/lines/records/temporary.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST_BUFFER = 16 << 10, MOST_BUFFER = 256 << 10 };

static const char *
output_of(const struct job *job)
{
    return job->output != NULL && strcmp(job->output, "-") != 0 ? job->output : NULL;
}

static bool
cannot_write(const struct writer *writer)
{
    return job_fail(writer->job, "cannot write to %s: %s", writer->name, strerror(errno));
}

/* "DIR/NAME" + suffix of the output's own; NULL: no memory. */
static char *
beside(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = malloc(size);

    if (name != NULL)
        (void)snprintf(name, size, "%s%s", path, suffix);
    return name;
}

/* The folder that a path lies in; NULL: no memory. */
static char *
folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* With the permissions that a new file of the user gets, or those of the one that is replaced. */
static void
set_permissions(int descriptor, const char *path)
{
    struct stat about;
    mode_t mask = umask(0);

    (void)umask(mask);
    (void)fchmod(descriptor, stat(path, &about) == 0 ? about.st_mode & 0777 : 0666 & ~mask);
}

/* A file that takes the place of `path` in the end; where that is a link, of what it points to. */
static bool
open_replacement(struct writer *writer, const char *path)
{
    char *real = realpath(path, NULL), *folder;

    writer->target = real != NULL ? real : strdup(path);
    folder = writer->target != NULL ? folder_of(writer->target) : NULL;
    if (folder == NULL)
        return job_fail(writer->job, "out of memory");
    writer->descriptor = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(folder);
    if (writer->descriptor < 0) {
        writer->temporary = beside(writer->target, ".XXXXXX");
        if (writer->temporary == NULL)
            return job_fail(writer->job, "out of memory");
        writer->descriptor = mkostemp(writer->temporary, O_CLOEXEC);
        if (writer->descriptor < 0) {
            free(writer->temporary);
            writer->temporary = NULL;
            return cannot_write(writer);
        }
    }
    set_permissions(writer->descriptor, writer->target);
    return true;
}

static bool
open_output(struct writer *writer, bool append)
{
    const char *path = output_of(writer->job);
    struct stat about;
    bool is_there;

    if (path == NULL) {
        writer->descriptor = STDOUT_FILENO;
        return true;
    }
    writer->owns_descriptor = true;
    is_there = stat(path, &about) == 0;
    if (!append && (!is_there || S_ISREG(about.st_mode)))
        return open_replacement(writer, path);
    writer->is_new = append && !is_there;
    writer->descriptor = open(path, O_WRONLY | O_CLOEXEC | (append ? O_CREAT | O_APPEND : 0), 0666);
    return writer->descriptor >= 0 || cannot_write(writer);
}

static bool
open_buffer(struct writer *writer)
{
    size_t share = writer->job->memory_bytes / 64;

    writer->capacity = share < LEAST_BUFFER  ? LEAST_BUFFER
                       : share > MOST_BUFFER ? MOST_BUFFER
                                             : share;
    writer->buffer = malloc(writer->capacity);
    if (writer->buffer != NULL)
        return true;
    writer_close(writer);
    return job_fail(writer->job, "out of memory: no buffer for %s", writer->name);
}

static bool
open_any(struct writer *writer, struct job *job, bool append)
{
    const char *path = output_of(job);

    *writer = (struct writer){
        .job = job, .name = path != NULL ? path : "the standard output", .descriptor = -1};
    if (open_output(writer, append))
        return open_buffer(writer);
    writer_close(writer);
    return false;
}

bool
writer_open(struct writer *writer, struct job *job)
{
    return open_any(writer, job, false);
}

bool
writer_open_append(struct writer *writer, struct job *job)
{
    return open_any(writer, job, true);
}

bool
writer_open_temporary(struct writer *writer, struct job *job)
{
    *writer = (struct writer){.job = job,
                              .name = "a temporary file",
                              .descriptor = temporary_open(job),
                              .owns_descriptor = true};
    return writer->descriptor >= 0 && open_buffer(writer);
}

static bool
put(struct writer *writer, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t put = write(writer->descriptor, bytes, size);

        if (put < 0 && errno != EINTR)
            return cannot_write(writer);
        if (put < 0 && job_is_interrupted())
            return job_fail(writer->job, "interrupted while %s was written", writer->name);
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
        }
    }
    return true;
}

bool
writer_flush(struct writer *writer)
{
    size_t size = writer->used;

    writer->used = 0;
    return put(writer, writer->buffer, size);
}

bool
writer_idle(void *writer)
{
    return writer_flush(writer);
}

bool
writer_add_run(struct writer *writer, const char *bytes, size_t size, size_t records)
{
    writer->records += records;
    writer->bytes += size;
    if (size > writer->capacity - writer->used && !writer_flush(writer))
        return false;
    if (size >= writer->capacity)
        return put(writer, bytes, size);
    memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
    return true;
}

bool
writer_add(struct writer *writer, petal_slice record)
{
    const char delimiter = writer->job->zero_terminated ? '\0' : '\n';

    if (record.size >= writer->capacity - writer->used) {
        return writer_add_run(writer, record.data, record.size, 1) &&
               writer_add_run(writer, &delimiter, 1, 0);
    }
    memcpy(writer->buffer + writer->used, record.data, record.size);
    writer->buffer[writer->used + record.size] = delimiter;
    writer->used += record.size + 1;
    writer->records++;
    writer->bytes += record.size + 1;
    return true;
}

bool
writer_is_file(const struct writer *writer)
{
    struct stat about;

    return writer->owns_descriptor && fstat(writer->descriptor, &about) == 0 &&
           S_ISREG(about.st_mode);
}

bool
writer_sync(struct writer *writer)
{
    if (!writer_flush(writer))
        return false;
    if (fdatasync(writer->descriptor) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP)
        return true; /* a pipe, a terminal, a device: nothing that could be on a disk */
    return cannot_write(writer);
}

/* A file without a name cannot take the place of another: it gets one next to it first. */
static bool
name_it(struct writer *writer)
{
    char own[64];

    if (writer->temporary != NULL)
        return true;
    (void)snprintf(own, sizeof own, ".kv-filter.%ld", (long)getpid());
    writer->temporary = beside(writer->target, own);
    if (writer->temporary == NULL)
        return job_fail(writer->job, "out of memory");
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", writer->descriptor);
    if (linkat(AT_FDCWD, own, AT_FDCWD, writer->temporary, AT_SYMLINK_FOLLOW) == 0)
        return true;
    free(writer->temporary);
    writer->temporary = NULL;
    return cannot_write(writer);
}

static bool
take_place(struct writer *writer)
{
    if (!name_it(writer))
        return false;
    if (rename(writer->temporary, writer->target) != 0)
        return cannot_write(writer);
    free(writer->temporary);
    writer->temporary = NULL;
    return true;
}

bool
writer_finish(struct writer *writer)
{
    int descriptor = writer->descriptor;

    if (!writer_flush(writer) || (writer->target != NULL && !take_place(writer)))
        return false;
    /* Network file systems tell of a full disk only here. */
    if (writer->owns_descriptor) {
        writer->descriptor = -1;
        return close(descriptor) == 0 || cannot_write(writer);
    }
    return true;
}

void
writer_close(struct writer *writer)
{
    if (writer->temporary != NULL)
        (void)unlink(writer->temporary);
    if (writer->is_new && writer->descriptor >= 0 && writer->bytes == 0)
        (void)unlink(writer->name);
    free(writer->temporary);
    free(writer->target);
    if (writer->owns_descriptor && writer->descriptor >= 0)
        (void)close(writer->descriptor);
    free(writer->buffer);
    writer->temporary = writer->target = NULL;
    writer->buffer = NULL;
    writer->descriptor = -1;
}

static bool
write_run(struct writer *writer, const petal_slice *first, size_t records)
{
    const petal_slice *last = first + records - 1;
    const char *bytes = first->data;

    return writer_add_run(writer, bytes,
                          (size_t)((const char *)last->data + last->size + 1 - bytes), records);
}

bool
write_marked(struct writer *writer, const petal_slice *records, size_t count, const bool *marks,
             bool mark, uint64_t *written)
{
    size_t at = 0;

    while (at < count) {
        size_t from;

        while (at < count && marks[at] != mark)
            at++;
        for (from = at; at < count && marks[at] == mark;)
            at++;
        *written += at - from;
        if (writer != NULL && at > from && !write_run(writer, &records[from], at - from))
            return false;
    }
    return true;
}
