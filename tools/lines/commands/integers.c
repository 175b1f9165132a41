/*
 * integers.c -- kv-filter integers: whole numbers in order, those that come more than once, those
 * that are missing.
 */
#include "tools/lines/commands/commands.h"
#include "tools/lines/numbers/ascend.h"
#include "tools/lines/numbers/source.h"
#include "tools/lines/records/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum question { SORT, DOUBLES, MISSING, QUESTIONS };

static const char *const questions[QUESTIONS] = {
    [SORT] = "sort", [DOUBLES] = "doubles", [MISSING] = "missing"};

struct request {
    enum question question;
    struct number_form form;
    const char *from_text, *to_text; /* NULL: not given */
    uint64_t from, to;               /* numbers outside are passed over */
    bool ranges;
    const char **paths; /* none: the standard input */
    size_t path_count;
};

/* ---- What is written ------------------------------------------------------------------------- */

struct listing {
    struct job *job;
    const struct request *request;
    struct writer *writer;
    bool has_run; /* that is not written yet, since it may go on: with --ranges only */
    uint64_t first, last;
    bool has_next; /* MISSING: the numbers below `next` are settled */
    uint64_t next;
    uint64_t written;
};

enum { NUMBERS_BETWEEN_QUESTIONS = 4096 };

static bool
write_number(struct listing *listing, uint64_t key)
{
    const struct number_form *form = &listing->request->form;
    char text[NUMBER_TEXT_BYTES];
    uint8_t bytes[8];
    size_t size;

    if (++listing->written % NUMBERS_BETWEEN_QUESTIONS == 0 && job_is_interrupted())
        return job_fail(listing->job, "interrupted");
    if (form->bytes > 0) {
        size = number_write_bytes(form, key, bytes);
        return writer_add_run(listing->writer, (const char *)bytes, size, 1);
    }
    size = number_write_text(form, key, text);
    return writer_add(listing->writer, (petal_slice){text, size});
}

static bool
write_range(struct listing *listing)
{
    char line[2 * NUMBER_TEXT_BYTES + 1];
    size_t size;

    if (!listing->has_run)
        return true;
    size = number_write_text(&listing->request->form, listing->first, line);
    line[size++] = ' ';
    size += number_write_text(&listing->request->form, listing->last, line + size);
    return writer_add(listing->writer, (petal_slice){line, size});
}

/* Runs come ascending. */
static bool
list(struct listing *listing, uint64_t first, uint64_t last)
{
    assert(first <= last);
    if (!listing->request->ranges) {
        for (uint64_t key = first;; key++) {
            if (!write_number(listing, key))
                return false;
            if (key == last)
                return true;
        }
    }
    if (!listing->has_run || listing->last + 1 != first) {
        if (!write_range(listing))
            return false;
        listing->first = first;
    }
    listing->has_run = true;
    listing->last = last;
    return true;
}

static bool
list_run(void *argument, uint64_t first, uint64_t last)
{
    return list(argument, first, last);
}

static bool
list_gap(void *argument, uint64_t first, uint64_t last)
{
    struct listing *listing = argument;

    if (listing->has_next && first > listing->next && !list(listing, listing->next, first - 1))
        return false;
    listing->has_next = last < UINT64_MAX;
    listing->next = last + 1;
    return true;
}

/* What is missing after the last number. */
static bool
list_end(struct listing *listing)
{
    const struct request *request = listing->request;

    if (request->question == MISSING && request->to_text != NULL && listing->has_next &&
        listing->next <= request->to && !list(listing, listing->next, request->to))
        return false;
    return write_range(listing);
}

/* ---- What is read ---------------------------------------------------------------------------- */

struct intake {
    const struct request *request;
    struct ascend *ascend;
};

static bool
take_keys(void *argument, const uint64_t *keys, size_t count)
{
    const struct intake *intake = argument;
    const struct request *request = intake->request;

    /* Runs of those that lie inside. */
    for (size_t i = 0, end; i < count; i = end + 1) {
        for (end = i; end < count && keys[end] >= request->from && keys[end] <= request->to; end++)
            ;
        if (end > i && !ascend_add(intake->ascend, keys + i, end - i))
            return false;
    }
    return true;
}

static bool
answer(struct job *job, const struct request *request, struct ascend *ascend, struct writer *writer)
{
    struct intake intake = {.request = request, .ascend = ascend};
    struct listing listing = {.job = job,
                              .request = request,
                              .writer = writer,
                              .has_next = request->from_text != NULL,
                              .next = request->from};
    const struct source_taker taker = {.take = take_keys, .argument = &intake};
    const struct ascend_visitor visitor = {
        .take = request->question == MISSING ? list_gap : list_run, .argument = &listing};

    if (request->path_count == 0 && !source_read(job, &request->form, "-", &taker))
        return false;
    for (size_t i = 0; i < request->path_count; i++) {
        if (!source_read(job, &request->form, request->paths[i], &taker))
            return false;
    }
    job_phase(job, "in order");
    return ascend_finish(ascend, &visitor) && list_end(&listing) && writer_finish(writer);
}

static bool
open_and_answer(struct job *job, const struct request *request)
{
    const enum ascend_mode mode = request->question == DOUBLES ? ASCEND_DOUBLES : ASCEND_DISTINCT;
    struct ascend *ascend;
    struct writer writer;
    bool fine = false;

    if (!writer_open(&writer, job))
        return false;
    if (ascend_create(job, mode, &ascend)) {
        fine = answer(job, request, ascend, &writer);
        ascend_free(ascend);
    }
    writer_close(&writer);
    return fine;
}

/* ---- The command line ------------------------------------------------------------------------ */

static bool
take_width(void *argument, char *value)
{
    unsigned *bytes = argument;

    *bytes = strcmp(value, "32") == 0 ? 4 : strcmp(value, "64") == 0 ? 8 : 0;
    return *bytes != 0;
}

static bool
read_bound(struct job *job, const struct request *request, const char *option, const char *text,
           uint64_t *key)
{
    return text == NULL || number_read_text(&request->form, text, strlen(text), key) ||
           job_fail(job, "%s %s: it must be a whole number that the input can have", option, text);
}

static bool
check_request(struct job *job, struct request *request, const char *name)
{
    enum question question = SORT;

    while (question < QUESTIONS && strcmp(name, questions[question]) != 0)
        question++;
    if (question == QUESTIONS)
        return job_fail(job, "there is no work \"%s\": say sort, doubles or missing", name);
    request->question = question;
    request->from = number_least(&request->form);
    request->to = number_greatest(&request->form);
    if (!read_bound(job, request, "--from", request->from_text, &request->from) ||
        !read_bound(job, request, "--to", request->to_text, &request->to))
        return false;
    if (request->from > request->to)
        return job_fail(job, "--from %s lies above --to %s", request->from_text, request->to_text);
    if (request->ranges && request->form.bytes != 0)
        return job_fail(job, "--ranges writes lines, and --binary has none: leave one of them out");
    return true;
}

static bool
integers(struct job *job, void *argument, const char **places, size_t count)
{
    struct request *request = argument;

    request->paths = places + 1;
    request->path_count = count - 1;
    return check_request(job, request, places[0]) && open_and_answer(job, request);
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {.paths = NULL};
    const struct command_option options[] = {
        {.name = "--from",
         .take = command_take_text,
         .argument = &request.from_text,
         .wants = "a whole number"},
        {.name = "--to",
         .take = command_take_text,
         .argument = &request.to_text,
         .wants = "a whole number"},
        {.name = "--binary",
         .take = take_width,
         .argument = &request.form.bytes,
         .wants = "32 or 64"},
        {.name = "--unsigned", .flag = &request.form.is_unsigned},
        {.name = "--ranges", .flag = &request.ranges}};

    return job_run(command, argc, argv, options, sizeof options / sizeof *options, 1, argc,
                   integers, &request);
}

const struct command filter_integers = {
    .name = "integers",
    .meaning = "whole numbers: in order, those that come twice, those that are missing",
    .usage = "kv-filter integers sort|doubles|missing [options] [FILE...]\n"
             "  sort: each number once, ascending; doubles: those that come more than once;\n"
             "  missing: those between the least and the greatest, or --from and --to, that\n"
             "  do not come. A number a line, signed, of 64 bits.\n"
             "  --from N         numbers below N are passed over\n"
             "  --to N           numbers above N are passed over\n"
             "  --ranges         lines \"FIRST LAST\" for all numbers from FIRST to LAST\n"
             "  --unsigned       no signs: 0 to 18446744073709551615\n"
             "  --binary 32|64   not lines, in and out: numbers of 32 or 64 bits, "
             "little-endian\n" JOB_OPTIONS_HELP,
    .run = run,
};
