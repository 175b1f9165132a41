/* source.c -- see source.h. */
#include "tools/lines/numbers/source.h"

#include "tools/lines/records/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 32 << 10, SHOWN = 40 };

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Where lines are read. */
struct lines {
    struct reader reader;
    const struct number_form *form;
    const struct source_taker *taker;
};

static bool
refuse_line(const struct lines *lines, petal_slice line, uint64_t number)
{
    const struct number_form *form = lines->form;
    char shown[SHOWN], least[NUMBER_TEXT_BYTES], greatest[NUMBER_TEXT_BYTES];
    const char *bytes = line.data;
    size_t size = 0;

    /* Nothing of the input reaches a terminal as it is. */
    for (; size < line.size && size < sizeof shown; size++)
        shown[size] = bytes[size] >= ' ' && bytes[size] <= '~' ? bytes[size] : '?';
    return job_fail(lines->reader.job,
                    "%s:%" PRIu64 ": \"%.*s%s\" is no whole number from %.*s to %.*s",
                    lines->reader.name, number, (int)size, shown, size < line.size ? "..." : "",
                    (int)number_write_text(form, number_least(form), least), least,
                    (int)number_write_text(form, number_greatest(form), greatest), greatest);
}

static bool
take_lines(void *argument, struct batch *batch)
{
    struct lines *lines = argument;
    uint64_t keys[READER_BATCH];

    for (size_t i = 0; i < batch->count; i++) {
        if (!number_read_text(lines->form, batch->records[i].data, batch->records[i].size,
                              &keys[i]))
            return refuse_line(lines, batch->records[i], batch->first + i + 1);
    }
    return lines->taker->take(lines->taker->argument, keys, batch->count);
}

static bool
read_lines(struct job *job, const struct number_form *form, const char *path,
           const struct source_taker *taker)
{
    struct lines lines = {.form = form, .taker = taker};
    bool done;

    if (!reader_open(&lines.reader, job, path))
        return false;
    done = reader_each(&lines.reader, take_lines, &lines);
    reader_close(&lines.reader);
    return done;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Some more bytes after the *held ones; *held stays what it is at the end of the file. */
static bool
fill(struct job *job, int descriptor, const char *name, uint64_t offset, uint8_t *buffer,
     size_t *held)
{
    ssize_t got;

    do {
        if (!job_go_on(job, offset, 0))
            return job_fail(job, "interrupted: %" PRIu64 " bytes of %s were read", offset, name);
        got = read(descriptor, buffer + *held, BUFFER_BYTES - *held);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return job_fail(job, "cannot read %s: %s", name, strerror(errno));
    *held += (size_t)got;
    return true;
}

static bool
take_bytes(struct job *job, const struct number_form *form, int descriptor, const char *name,
           const struct source_taker *taker)
{
    uint8_t buffer[BUFFER_BYTES];
    uint64_t keys[BUFFER_BYTES / 4], offset = 0;
    size_t held = 0;

    for (;;) {
        size_t before = held, count;

        if (!fill(job, descriptor, name, offset, buffer, &held))
            return false;
        if (held == before)
            break;
        count = held / form->bytes;
        for (size_t i = 0; i < count; i++)
            keys[i] = number_read_bytes(form, buffer + i * form->bytes);
        if (!taker->take(taker->argument, keys, count))
            return false;
        offset += count * form->bytes;
        held -= count * form->bytes;
        memmove(buffer, buffer + count * form->bytes, held);
    }
    return held == 0 ||
           job_fail(job, "%s: at %" PRIu64 ", %zu bytes are too few for a number of %u", name,
                    offset, held, form->bytes);
}

static bool
read_bytes(struct job *job, const struct number_form *form, const char *path,
           const struct source_taker *taker)
{
    int descriptor;
    bool done;

    if (strcmp(path, "-") == 0)
        return take_bytes(job, form, STDIN_FILENO, "the standard input", taker);
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return job_fail(job, "cannot open %s: %s", path, strerror(errno));
    done = take_bytes(job, form, descriptor, path, taker);
    (void)close(descriptor);
    return done;
}

bool
source_read(struct job *job, const struct number_form *form, const char *path,
            const struct source_taker *taker)
{
    return form->bytes == 0 ? read_lines(job, form, path, taker)
                            : read_bytes(job, form, path, taker);
}
