/* reader.c -- see reader.h. */
#include "tools/filter/records/reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEAST_BUFFER = 16 << 10,
    MOST_BUFFER = 256 << 10,
    WAIT_MILLISECONDS = 500, /* a signal that comes just before poll is seen behind it */
};

static char
delimiter_of(const struct reader *reader)
{
    return reader->job->zero_terminated ? '\0' : '\n';
}

static size_t
longest_record(const struct reader *reader)
{
    return reader->job->memory_bytes / 8;
}

static bool
start(struct reader *reader)
{
    size_t share = reader->job->memory_bytes / 64;

    reader->capacity = share < LEAST_BUFFER  ? LEAST_BUFFER
                       : share > MOST_BUFFER ? MOST_BUFFER
                                             : share;
    reader->buffer = malloc(reader->capacity);
    if (reader->buffer != NULL)
        return true;
    return job_fail(reader->job, "out of memory: no buffer for %s", reader->name);
}

/* A regular file: where it is read on from, and that it can be read again. */
static void
look_at_file(struct reader *reader)
{
    struct stat about;
    off_t at;

    if (fstat(reader->descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    at = lseek(reader->descriptor, 0, SEEK_CUR);
    if (at < 0)
        return;
    reader->is_file = true;
    reader->offset = (uint64_t)at;
    reader->size = (uint64_t)about.st_size;
    (void)posix_fadvise(reader->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
}

bool
reader_open(struct reader *reader, struct job *job, const char *path)
{
    bool is_standard = strcmp(path, "-") == 0;

    *reader = (struct reader){.job = job,
                              .name = is_standard ? "the standard input" : path,
                              .descriptor = STDIN_FILENO,
                              .owns_descriptor = !is_standard,
                              .limit = UINT64_MAX};
    if (!is_standard) {
        reader->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (reader->descriptor < 0)
            return job_fail(job, "cannot open %s: %s", path, strerror(errno));
    }
    look_at_file(reader);
    if (start(reader))
        return true;
    reader_close(reader);
    return false;
}

bool
reader_open_part(struct reader *reader, struct job *job, const char *name, int descriptor,
                 uint64_t from, uint64_t to)
{
    assert(from <= to);
    *reader = (struct reader){.job = job,
                              .name = name,
                              .descriptor = descriptor,
                              .is_file = true,
                              .offset = from,
                              .size = to,
                              .limit = to};
    return start(reader);
}

void
reader_close(struct reader *reader)
{
    if (reader->owns_descriptor && reader->descriptor >= 0)
        (void)close(reader->descriptor);
    free(reader->buffer);
    reader->descriptor = -1;
    reader->buffer = NULL;
}

uint64_t
reader_position(const struct reader *reader)
{
    assert(reader->is_file);
    return reader->offset - (reader->end - reader->begin);
}

uint64_t
reader_rest(const struct reader *reader)
{
    uint64_t at = reader->is_file ? reader_position(reader) : 0;

    return reader->size > at ? reader->size - at : 0;
}

static bool
tell_interrupted(const struct reader *reader)
{
    return job_fail(reader->job, "interrupted: %" PRIu64 " records of %s were read",
                    reader->records, reader->name);
}

/* Until there is something to read, or Ctrl-C. */
static bool
wait_for_bytes(struct reader *reader)
{
    struct pollfd wanted = {.fd = reader->descriptor, .events = POLLIN};
    bool told_idle = false;

    if (reader->is_file)
        return job_go_on(reader->job, reader->offset, reader->size) || tell_interrupted(reader);
    for (;;) {
        int ready;

        if (!job_go_on(reader->job, reader->offset, 0))
            return tell_interrupted(reader);
        ready = poll(&wanted, 1, told_idle ? WAIT_MILLISECONDS : 0);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; /* if it is an error, the read says which */
        if (!told_idle && reader->idle != NULL && !reader->idle(reader->idle_argument))
            return false;
        told_idle = true;
    }
}

/* Bytes of a record that goes on go to the front; one that fills the buffer gets a larger one. One
 * byte stays free for a delimiter. */
static bool
make_room(struct reader *reader)
{
    size_t held = reader->end - reader->begin;

    if (reader->begin > 0) {
        memmove(reader->buffer, reader->buffer + reader->begin, held);
        reader->begin = 0;
        reader->end = held;
    }
    if (held > longest_record(reader))
        return job_fail(reader->job,
                        "record %" PRIu64 " of %s has more than %zu bytes, an eighth of --memory",
                        reader->records + 1, reader->name, longest_record(reader));
    if (held + 1 < reader->capacity - reader->capacity / 4)
        return true;
    char *grown = realloc(reader->buffer, 2 * reader->capacity);

    if (grown == NULL)
        return job_fail(reader->job, "out of memory: record %" PRIu64 " of %s is long",
                        reader->records + 1, reader->name);
    reader->buffer = grown;
    reader->capacity *= 2;
    return true;
}

/* More bytes behind those that are held; at the end of all the delimiter that is missing. */
static bool
fill(struct reader *reader)
{
    size_t room;
    ssize_t got;

    if (!make_room(reader))
        return false;
    room = reader->capacity - reader->end - 1;
    if (room > reader->limit - reader->offset)
        room = (size_t)(reader->limit - reader->offset);
    do {
        if (!wait_for_bytes(reader))
            return false;
        got = reader->is_file ? pread(reader->descriptor, reader->buffer + reader->end, room,
                                      (off_t)reader->offset)
                              : read(reader->descriptor, reader->buffer + reader->end, room);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0)
        return job_fail(reader->job, "cannot read %s: %s", reader->name, strerror(errno));
    if (got == 0 && reader->limit != UINT64_MAX && reader->offset < reader->limit)
        return job_fail(reader->job, "%s became shorter while it was read", reader->name);
    reader->offset += (uint64_t)got;
    reader->end += (size_t)got;
    if (got > 0)
        return true;
    reader->ended = true;
    if (reader->end > reader->begin)
        reader->buffer[reader->end++] = delimiter_of(reader);
    return true;
}

/* Those that are whole in the buffer. */
static size_t
cut(struct reader *reader, petal_slice *records)
{
    const char delimiter = delimiter_of(reader);
    size_t count = 0;

    while (count < READER_BATCH && reader->begin < reader->end) {
        const char *from = reader->buffer + reader->begin;
        const char *to = memchr(from, delimiter, reader->end - reader->begin);

        if (to == NULL)
            break;
        records[count++] = (petal_slice){from, (size_t)(to - from)};
        reader->begin += (size_t)(to - from) + 1;
    }
    return count;
}

bool
reader_next(struct reader *reader, petal_slice *records, size_t *count)
{
    for (;;) {
        *count = cut(reader, records);
        reader->records += *count;
        if (*count > 0 || reader->ended)
            return true;
        if (!fill(reader))
            return false;
    }
}
