/* failure_questions.c -- see tests/crash/failure_questions.h. */
#include "tests/crash/failure_questions.h"

#include "tests/damage/answers.h"
#include "tests/support/test.h"

#define SEED      11
#define EVERY_ROW 9 /* of so many one is asked about */

/* Made and asked when nothing fails. */
static struct gallery gallery;
static struct answers answers;

struct memory_vfs *
failure_questions_files(void)
{
    struct visit visit;

    if (gallery.vfs != NULL)
        return gallery.vfs;
    gallery_make(&gallery, SEED, 1);
    visit_init(&visit, &gallery, memory_vfs_clone(gallery.vfs));
    MUST(visit_open(&visit, FIXTURE_DIRECTORY, WHY));
    answers_record(&answers, &visit);
    MUST(visit_close(&visit, WHY));
    visit_fini(&visit);
    memory_vfs_free(visit.fixture.vfs);
    failure_site_now = NULL;
    return gallery.vfs;
}

void
failure_questions_end(void)
{
    if (gallery.vfs == NULL)
        return;
    answers_free(&answers);
    gallery_free(&gallery);
}

static void
ask(struct failure_run *run, const struct question *question, struct visit *visit)
{
    petal_error error = {.status = PETAL_OK};

    switch (answers_compare(question, visit, &error)) {
    case SAME:
        break;
    case FAILED:
        failure_told(run, "a question", error.status, &error);
        break;
    case WRONG:
        failure_problem(run, "way %d, family %zu, row %u: the answer is wrong", (int)question->way,
                        question->family, question->row);
        break;
    }
}

static void
ask_all(struct failure_run *run, enum way first, enum way end)
{
    struct visit visit = {.gallery = &gallery, .fixture = run->fixture, .quiet = true};
    petal_error error;

    if (run->fixture.db == NULL)
        return;
    test_clock_set(&run->fixture.clock, GALLERY_READ_MS);
    if (failure_told(run, "tools for questions", visit_begin(&visit, &error), &error)) {
        for (size_t i = 0; i < answers.count; i++) {
            const struct question *question = &answers.questions[i];

            if (question->way >= first && question->way < end &&
                (question->way >= WAY_OF_FAMILY || question->row % EVERY_ROW == 1))
                ask(run, question, &visit);
        }
    }
    visit_end(&visit);
}

void
failure_step_ask_of_rows(struct failure_run *run)
{
    ask_all(run, WAY_GET_COLUMN, WAY_OF_FAMILY);
}

void
failure_step_ask_of_many(struct failure_run *run)
{
    ask_all(run, WAY_MULTI_COLUMN, WAY_SCAN);
}

void
failure_step_ask_by_scans(struct failure_run *run)
{
    ask_all(run, WAY_SCAN, WAYS);
}
