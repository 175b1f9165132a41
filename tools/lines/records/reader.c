/* reader.c -- see reader.h. */
#include "tools/lines/records/reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEAST_BLOCK = 16 << 10,
    MOST_BLOCK = 256 << 10,
    WORTH_A_THREAD = 1 << 20, /* bytes */
    WAIT_MILLISECONDS = 500,  /* a signal that comes just before poll is seen after it */
};

/* ---- Opening --------------------------------------------------------------------------------- */

static bool
open_blocks(struct reader *reader)
{
    struct job *job = reader->job;
    size_t share = job->memory_bytes / 128;
    struct block_source *source = &reader->source;

    source->bytes = share < LEAST_BLOCK ? LEAST_BLOCK : share > MOST_BLOCK ? MOST_BLOCK : share;
    source->longest = job->memory_bytes / 8;
    source->delimiter = job->zero_terminated ? '\0' : '\n';
    source->is_file = reader->is_file;
    source->salt = job->salt;
    for (size_t i = 0; i < READER_BLOCKS; i++) {
        if (!block_open(&reader->blocks[i], source)) {
            reader_close(reader);
            return job_fail(job, "out of memory: no buffer for %s", reader->name);
        }
    }
    return true;
}

/* A directory opens as a file does, and fails at its first read: too late for who opens an
 * output. */
static bool
is_readable(const struct reader *reader)
{
    struct stat about;

    return fstat(reader->source.descriptor, &about) != 0 || !S_ISDIR(about.st_mode) ||
           job_fail(reader->job, "cannot read %s: %s", reader->name, strerror(EISDIR));
}

/* A regular file: where it is read on from, and that it can be read again. */
static uint64_t
look_at_file(struct reader *reader)
{
    int descriptor = reader->source.descriptor;
    struct stat about;
    off_t at;

    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    at = lseek(descriptor, 0, SEEK_CUR);
    if (at < 0)
        return 0;
    reader->is_file = true;
    reader->size = (uint64_t)about.st_size;
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    return (uint64_t)at;
}

bool
reader_open(struct reader *reader, struct job *job, const char *path)
{
    bool is_standard = strcmp(path, "-") == 0;
    uint64_t from;

    *reader = (struct reader){.job = job,
                              .name = is_standard ? "the standard input" : path,
                              .owns_descriptor = !is_standard,
                              .source = {.descriptor = STDIN_FILENO, .limit = UINT64_MAX}};
    if (!is_standard) {
        reader->source.descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (reader->source.descriptor < 0)
            return job_fail(job, "cannot open %s: %s", path, strerror(errno));
    }
    if (!is_readable(reader)) {
        reader_close(reader);
        return false;
    }
    from = look_at_file(reader);
    if (!open_blocks(reader))
        return false;
    reader->blocks[0].offset = from;
    return true;
}

bool
reader_open_part(struct reader *reader, struct job *job, const char *name, int descriptor,
                 uint64_t from, uint64_t to)
{
    assert(from <= to);
    *reader = (struct reader){.job = job,
                              .name = name,
                              .is_file = true,
                              .size = to,
                              .source = {.descriptor = descriptor, .limit = to}};
    if (!open_blocks(reader))
        return false;
    reader->blocks[0].offset = from;
    return true;
}

void
reader_want_hashes(struct reader *reader)
{
    assert(reader->number == 0);
    reader->source.wants_hashes = true;
}

static void
stop_thread(struct reader *reader)
{
    (void)pthread_mutex_lock(&reader->lock);
    reader->stop = true;
    (void)pthread_cond_signal(&reader->changed);
    (void)pthread_mutex_unlock(&reader->lock);
    (void)pthread_join(reader->thread, NULL);
    (void)pthread_mutex_destroy(&reader->lock);
    (void)pthread_cond_destroy(&reader->changed);
    reader->has_thread = false;
}

void
reader_close(struct reader *reader)
{
    if (reader->has_thread)
        stop_thread(reader);
    if (reader->owns_descriptor && reader->source.descriptor >= 0)
        (void)close(reader->source.descriptor);
    for (size_t i = 0; i < READER_BLOCKS; i++)
        block_close(&reader->blocks[i]);
    reader->source.descriptor = -1;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static struct block *
block_of(struct reader *reader, uint64_t number)
{
    return &reader->blocks[number % READER_BLOCKS];
}

/* Of what a block of this number got. Always false. */
static bool
tell(const struct reader *reader, enum block_outcome outcome, int error)
{
    struct job *job = reader->job;

    switch (outcome) {
    case BLOCK_FAILED:
        return job_fail(job, "cannot read %s: %s", reader->name, strerror(error));
    case BLOCK_SHORT:
        return job_fail(job, "%s became shorter while it was read", reader->name);
    case BLOCK_TOO_LONG:
        return job_fail(job,
                        "record %" PRIu64 " of %s has more than %zu bytes, an eighth of --memory",
                        reader->records + 1, reader->name, reader->source.longest);
    case BLOCK_NO_MEMORY:
        return job_fail(job, "out of memory: record %" PRIu64 " of %s is too long",
                        reader->records + 1, reader->name);
    default:
        return job_fail(job, "interrupted: %" PRIu64 " records of %s were read", reader->records,
                        reader->name);
    }
}

/* Until there is something to read, or Ctrl-C. */
static bool
wait_for_bytes(struct reader *reader)
{
    struct pollfd wanted = {.fd = reader->source.descriptor, .events = POLLIN};
    bool told_idle = false;

    for (;;) {
        int ready;

        if (!job_go_on(reader->job, reader_position(reader), reader->size))
            return tell(reader, BLOCK_WAITS, 0);
        if (reader->is_file)
            return true;
        ready = poll(&wanted, 1, told_idle ? WAIT_MILLISECONDS : 0);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; /* if it is an error, the read says which */
        if (!told_idle && reader->idle != NULL && !reader->idle(reader->idle_argument))
            return false;
        told_idle = true;
    }
}

/* The next block, by the caller's own thread. */
static bool
read_block(struct reader *reader)
{
    struct block *next = block_of(reader, reader->number + 1);
    enum block_outcome outcome = BLOCK_NO_MEMORY;

    if (block_begin(next, block_of(reader, reader->number), &reader->source)) {
        do {
            if (next->count == 0 && !wait_for_bytes(reader))
                return false;
            outcome = block_fill(next, &reader->source);
        } while (outcome == BLOCK_WAITS);
    }
    return outcome == BLOCK_FILLED || tell(reader, outcome, errno);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Is the block that comes then free? False: the reader is closed. */
static bool
wait_for_release(struct reader *reader, uint64_t number)
{
    bool goes_on;

    (void)pthread_mutex_lock(&reader->lock);
    while (!reader->stop && reader->released + READER_BLOCKS <= number)
        (void)pthread_cond_wait(&reader->changed, &reader->lock);
    goes_on = !reader->stop;
    (void)pthread_mutex_unlock(&reader->lock);
    return goes_on;
}

static void
publish(struct reader *reader, uint64_t number, enum block_outcome outcome, int error)
{
    (void)pthread_mutex_lock(&reader->lock);
    if (outcome == BLOCK_FILLED)
        reader->filled = number;
    reader->outcome = outcome;
    reader->error = error;
    (void)pthread_cond_signal(&reader->changed);
    (void)pthread_mutex_unlock(&reader->lock);
}

static void *
read_ahead(void *argument)
{
    struct reader *reader = argument;
    enum block_outcome outcome = BLOCK_FILLED;
    bool is_last = false;

    for (uint64_t number = 1;
         outcome == BLOCK_FILLED && !is_last && wait_for_release(reader, number); number++) {
        struct block *block = block_of(reader, number);
        int error;

        outcome = BLOCK_NO_MEMORY;
        if (block_begin(block, block_of(reader, number - 1), &reader->source)) {
            do
                outcome = block_fill(block, &reader->source);
            while (outcome == BLOCK_WAITS);
        }
        error = errno;
        is_last = block->is_last;
        publish(reader, number, outcome, error);
    }
    return NULL;
}

/* The thread takes no signals: they are to interrupt the calls of the other. Where no thread is to
 * be had, the reader reads itself. */
static void
start_thread(struct reader *reader)
{
    sigset_t all, old;

    if (!reader->is_file || reader_rest(reader) < WORTH_A_THREAD)
        return;
    if (pthread_mutex_init(&reader->lock, NULL) != 0)
        return;
    if (pthread_cond_init(&reader->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&reader->lock);
        return;
    }
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    reader->has_thread = pthread_create(&reader->thread, NULL, read_ahead, reader) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!reader->has_thread) {
        (void)pthread_mutex_destroy(&reader->lock);
        (void)pthread_cond_destroy(&reader->changed);
    }
}

/* The next block, that the thread has filled. */
static bool
take_block(struct reader *reader)
{
    enum block_outcome outcome;
    bool is_there;
    int error;

    if (!job_go_on(reader->job, reader_position(reader), reader->size))
        return tell(reader, BLOCK_WAITS, 0);
    (void)pthread_mutex_lock(&reader->lock);
    reader->released = reader->number + 1;
    (void)pthread_cond_signal(&reader->changed);
    while (reader->filled <= reader->number && reader->outcome == BLOCK_FILLED)
        (void)pthread_cond_wait(&reader->changed, &reader->lock);
    is_there = reader->filled > reader->number;
    outcome = reader->outcome;
    error = reader->error;
    (void)pthread_mutex_unlock(&reader->lock);
    return is_there || tell(reader, outcome, error);
}

/* ---- Records --------------------------------------------------------------------------------- */

static bool
next_records(struct reader *reader, petal_slice *records, size_t *count)
{
    struct block *block = block_of(reader, reader->number);

    if (reader->number == 0)
        start_thread(reader);
    while (reader->taken == block->count && !block->is_last) {
        if (reader->has_thread ? !take_block(reader) : !read_block(reader))
            return false;
        reader->number++;
        reader->taken = 0;
        block = block_of(reader, reader->number);
    }
    *count = block->count - reader->taken;
    if (*count > READER_BATCH)
        *count = READER_BATCH;
    if (*count > 0)
        memcpy(records, block->records + reader->taken, *count * sizeof *records);
    reader->taken += *count;
    reader->records += *count;
    return true;
}

bool
reader_each(struct reader *reader, batch_taker take, void *argument)
{
    petal_slice records[READER_BATCH];
    struct batch batch;

    for (;;) {
        batch = (struct batch){
            .records = records, .from = reader_position(reader), .first = reader->records};
        if (!next_records(reader, records, &batch.count))
            return false;
        if (batch.count == 0)
            return true;
        if (reader->source.wants_hashes)
            batch.hashes = block_of(reader, reader->number)->hashes + reader->taken - batch.count;
        if (!take(argument, &batch))
            return false;
    }
}

uint64_t
reader_position(const struct reader *reader)
{
    const struct block *block = &reader->blocks[reader->number % READER_BLOCKS];

    if (reader->taken < block->count)
        return block->offset +
               (uint64_t)((const char *)block->records[reader->taken].data - block->bytes);
    return block->offset + block->whole - block->added_delimiter;
}

uint64_t
reader_rest(const struct reader *reader)
{
    uint64_t at = reader_position(reader);

    return reader->size > at ? reader->size - at : 0;
}
