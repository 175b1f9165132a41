/* manifest_promise.c -- see manifest_promise.h. */
#include "tests/damage/manifest_promise.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- the page: header, records, promises ---- */

#define HEADER 64
#define RECORD 24

/* The whole record at `at`: its bytes; 0: there is none. */
static size_t
record_at(const uint8_t *bytes, size_t size, size_t at)
{
    uint64_t identity = get_le64(bytes + 32);
    size_t payload, length;

    if (size - at < RECORD)
        return 0;
    payload = get_le32(bytes + at + 16);
    length = (RECORD + payload + 7) / 8 * 8;
    if (length > size - at || get_le64(bytes + at + 8) > at)
        return 0;
    if (get_le64(bytes + at) != checksum_at(identity, at, bytes + at + 8, length - 8))
        return 0;
    return length;
}

static void
raise(uint64_t *promise, uint64_t other)
{
    if (other > *promise)
        *promise = other;
}

struct manifest_reading
manifest_promise_read(const uint8_t *bytes, size_t size)
{
    struct manifest_reading reading = {.refused = true};
    uint64_t promise;
    size_t at = HEADER, length;

    if (size < HEADER || memcmp(bytes, "PETALMAN", 8) != 0 || get_le32(bytes + 8) != 1 ||
        get_le32(bytes + 12) != HEADER || get_le64(bytes + 48) != 0 ||
        get_le64(bytes + 56) != checksum_at(0, 0, bytes, 56))
        return reading;
    promise = get_le64(bytes + 40);
    while (at < size && (length = record_at(bytes, size, at)) > 0) {
        raise(&promise, get_le64(bytes + at + 8));
        at += length;
        if (bytes[at - length + 20] == 1) {
            reading.edits++;
            reading.end = at;
        }
    }
    reading.refused = promise > at;
    for (size_t behind = at; behind + RECORD <= size; behind += 8) {
        if (get_le32(bytes + behind + 16) == 0 && bytes[behind + 20] == 2 &&
            record_at(bytes, size, behind) > 0 && get_le64(bytes + behind + 8) > at)
            reading.refused = true;
    }
    return reading;
}

/* ---- references ---- */

static void
take_answers(struct answers *answers, struct sweep *sweep, struct memory_vfs *files,
             enum petal_status *status, petal_error *error)
{
    struct visit visit;

    *answers = (struct answers){.count = 0};
    visit_init(&visit, &sweep->gallery, files);
    visit.fixture.options.read_only = true;
    *status = visit_open(&visit, FIXTURE_DIRECTORY, error);
    if (*status == PETAL_OK)
        answers_record_what_there_is(answers, &visit);
    visit_fini(&visit);
}

static bool
same_answer(const struct question *a, const struct question *b)
{
    return a->failed == b->failed && a->cells == b->cells &&
           (a->cells == 0 || a->digests[a->cells - 1] == b->digests[b->cells - 1]);
}

/* Each answer is one that was right at some time. */
static void
check_history(const struct answers *answers, const struct answers *stages, size_t stage_count)
{
    for (size_t i = 0; i < answers->count; i++) {
        bool found = answers->questions[i].failed;

        for (size_t stage = 0; !found && stage < stage_count; stage++)
            found = i < stages[stage].count &&
                    same_answer(&answers->questions[i], &stages[stage].questions[i]);
        if (!found) {
            question_print(&answers->questions[i]);
            fail_msg("%s", "an answer that was never right");
        }
    }
}

void
manifest_references_make(struct manifest_references *references, struct sweep *sweep,
                         const struct sweep_file *file)
{
    struct answers stages[GALLERY_STAGES + 1];
    size_t stage_count = 0;
    petal_error error;
    enum petal_status status;

    *references =
        (struct manifest_references){.edits = manifest_promise_read(file->bytes, file->size).edits};
    assert_in_range(references->edits, 3, MANIFEST_MOST_EDITS);
    for (; stage_count < sweep->gallery.stage_count; stage_count++)
        take_answers(&stages[stage_count], sweep, sweep->gallery.stages[stage_count], &status,
                     &error);
    take_answers(&stages[stage_count++], sweep, sweep->gallery.vfs, &status, &error);
    for (size_t size = HEADER, edits = 0; size <= file->size; size += 8) {
        struct manifest_reading reading = manifest_promise_read(file->bytes, size);
        struct manifest_reference *end = &references->ends[reading.edits];
        struct memory_vfs *files;

        if (reading.edits == edits)
            continue;
        edits = reading.edits;
        files = memory_vfs_clone(sweep->gallery.vfs);
        assert_int_equal(memory_vfs_write_file(files, file->path, file->bytes, size), 0);
        take_answers(&end->answers, sweep, files, &end->status, &error);
        if (end->status == PETAL_OK)
            check_history(&end->answers, stages, stage_count);
        else if (end->status == PETAL_NOT_FOUND)
            ; /* some tables are not made yet */
        else
            assert_true(error.status == PETAL_CORRUPT && error.file[0] != '\0');
        memory_vfs_free(files);
    }
    assert_int_equal(references->ends[references->edits].status, PETAL_OK);
    while (stage_count > 0)
        answers_free(&stages[--stage_count]);
}

void
manifest_references_free(struct manifest_references *references)
{
    for (size_t i = 0; i <= references->edits; i++)
        answers_free(&references->ends[i].answers);
}

void
manifest_promise_check(const struct manifest_references *references, struct sweep *sweep,
                       const struct sweep_file *file, const uint8_t *bytes, size_t size,
                       struct sweep_share share)
{
    struct manifest_reading reading = manifest_promise_read(bytes, size);
    const struct manifest_reference *reference = &references->ends[reading.edits];

    if (reading.refused)
        sweep_expect_refusal(sweep, file);
    else if (memcmp(bytes, file->bytes, HEADER) != 0)
        sweep_believe(sweep, file, 13, false); /* an older manifest, whole: what it says may be */
    else
        sweep_expect_answers(sweep, file, reference->status, &reference->answers, share);
}
