/* sweep.c -- see sweep.h. */
#include "tests/damage/sweep.h"

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- a mutant that hangs ---- */

#define MOST_CALLS 20000 /* of the file layer, by one mutant */

static char at_hand[160]; /* the mutant, for who asks why the test ended */
static uint64_t tried;    /* how many it makes */

static void
hangs(int signal_number)
{
    static const char text[] = "a mutant takes more than its time: ";

    (void)signal_number;
    if (write(2, text, sizeof text - 1) < 0 || write(2, at_hand, strlen(at_hand)) < 0 ||
        write(2, "\n", 1) < 0)
        _exit(3);
    _exit(2);
}

/* Processor time, which other processes do not take away. */
static void
watch(bool on)
{
    struct itimerval second = {.it_value = {.tv_sec = !on ? 0 : test_short() ? 60 : 1}};

    signal(SIGVTALRM, hangs);
    setitimer(ITIMER_VIRTUAL, &second, NULL);
}

/* ---- what is the matter with an answer ---- */

static bool may_be_newer; /* a mutant with right checksums may seem to be of a newer version */

static bool
names_the_file(const struct sweep_file *file, const petal_error *error, bool of_family)
{
    return (error->status == PETAL_CORRUPT ||
            (error->status == PETAL_UNSUPPORTED && may_be_newer)) &&
           strcmp(error->file, file->path) == 0 && strstr(error->text, file->path) != NULL &&
           (!of_family || strstr(error->text, "column family") != NULL);
}

static void
fail_mutant(const struct question *question, const petal_error *error)
{
    print_error("mutant %" PRIu64 ": %s\n", tried, at_hand);
    if (question != NULL)
        question_print(question);
    if (error != NULL)
        print_error("  status %d, file \"%s\", text \"%s\"\n", (int)error->status, error->file,
                    error->text);
    fail();
}

static bool
concerns_file(const struct sweep_file *file, const struct question *question)
{
    if (file->kind != STORE_FILE || file->family == GALLERY_FAMILIES)
        return false;
    if (question->way >= WAY_OF_TABLE)
        return strcmp(gallery_families[question->family].table,
                      gallery_families[file->family].table) == 0;
    return question->family == file->family;
}

/* Does the question concern what is damaged? */
static bool
concerns(const struct sweep *sweep, const struct sweep_file *file, const struct question *question)
{
    return concerns_file(file, question) ||
           (sweep->other != NULL && concerns_file(sweep->other, question));
}

/* Is the error one that the damage may cause? */
static bool
is_told_of(const struct sweep *sweep, const struct sweep_file *file,
           const struct question *question, const petal_error *error)
{
    return (concerns_file(file, question) && names_the_file(file, error, true)) ||
           (sweep->other != NULL && concerns_file(sweep->other, question) &&
            names_the_file(sweep->other, error, true));
}

/* Returns whether it was refused. */
static bool
ask(struct sweep *sweep, const struct sweep_file *file, const struct question *question,
    struct visit *visit)
{
    petal_error error;

    sweep->counts[file->kind].questions++;
    switch (answers_compare(question, visit, &error)) {
    case SAME:
        if (question->way == WAY_VERIFY && sweep->all_is_told && concerns(sweep, file, question))
            fail_mutant(question, NULL); /* it should have found the damage */
        return false;
    case FAILED:
        if (!is_told_of(sweep, file, question, &error))
            fail_mutant(question, &error);
        return true;
    default:
        if (!sweep->lies || !concerns(sweep, file, question))
            fail_mutant(question, NULL);
        sweep->told = true;
        return true;
    }
}

/* ---- the files ---- */

struct owner_search {
    struct sweep *sweep;
    size_t family;
};

static bool
note_owner(void *argument, const petal_file_info *info)
{
    struct owner_search *search = argument;
    char name[40];

    if (!slice_equal(info->family, slice_from_text(gallery_families[search->family].family)))
        return true;
    snprintf(name, sizeof name, FIXTURE_DIRECTORY "/%06" PRIu64 ".sst", info->number);
    for (size_t i = 0; i < search->sweep->file_count; i++) {
        if (strcmp(search->sweep->files[i].path, name) == 0)
            search->sweep->files[i].family = search->family;
    }
    return true;
}

static void
take_files(struct sweep *sweep)
{
    struct gallery_files paths = gallery_files_of(sweep->vfs, FIXTURE_DIRECTORY);
    petal_error error;

    sweep->files = test_allocate(paths.count * sizeof *sweep->files);
    sweep->file_count = paths.count;
    for (size_t i = 0; i < paths.count; i++) {
        struct sweep_file *file = &sweep->files[i];

        *file = (struct sweep_file){.path = test_strdup(paths.paths[i]),
                                    .kind = gallery_file_kind(paths.paths[i]),
                                    .family = GALLERY_FAMILIES};
        assert_int_equal(memory_vfs_read_file(sweep->vfs, file->path, &file->bytes, &file->size),
                         0);
    }
    for (size_t i = 0; i < GALLERY_FAMILIES; i++) {
        struct owner_search search = {sweep, i};

        must(petal_table_files(sweep->hot.tables[i], note_owner, &search, &error), &error);
    }
    gallery_files_free(&paths);
}

/* ---- lives ---- */

struct life {
    struct visit visit;
    bool unwritten[GALLERY_FAMILIES], uncompacted[GALLERY_FAMILIES];
};

/* Write, flush and compact what can be; a family that is damaged may refuse each. */
static void
write_all(struct sweep *sweep, const struct sweep_file *file, struct life *life, bool compact)
{
    struct visit *visit = &life->visit;

    for (size_t i = 0; i < GALLERY_FAMILIES; i++) {
        petal_error error;
        bool own = file != NULL && file->family == i;
        enum petal_status status = petal_put(
            visit->families[i], gallery_row(i, 2),
            slice_from_text(gallery_families[i].plain || gallery_families[i].long_rows ? "" : "q0"),
            PETAL_LATEST, slice_from_text("written in a life"), NULL, &error);

        life->unwritten[i] = status != PETAL_OK;
        if (status != PETAL_OK && (!own || !names_the_file(file, &error, true)))
            fail_mutant(NULL, &error);
    }
    for (size_t i = 0; i < GALLERY_FAMILIES; i++) {
        petal_error error;
        bool own = file != NULL && file->family == i;
        bool table = file != NULL && file->family < GALLERY_FAMILIES &&
                     visit->tables[file->family] == visit->tables[i];
        enum petal_status status = petal_flush(visit->fixture.db, visit->tables[i], &error);

        if (status != PETAL_OK && (!table || !names_the_file(file, &error, true)))
            fail_mutant(NULL, &error);
        life->uncompacted[i] = !compact;
        if (!compact)
            continue;
        status = petal_compact(visit->tables[i], visit->families[i], &error);
        life->uncompacted[i] = status != PETAL_OK;
        if (status != PETAL_OK && (!own || !names_the_file(file, &error, true)))
            fail_mutant(NULL, &error);
    }
    (void)sweep;
}

/* Consumes nothing: lives in `files`.  Returns the status of opening. */
static enum petal_status
live(struct sweep *sweep, const struct sweep_file *file, struct memory_vfs *files,
     struct life *life, bool compact)
{
    petal_error error;
    enum petal_status status;

    visit_init(&life->visit, &sweep->gallery, files);
    status = visit_open(&life->visit, FIXTURE_DIRECTORY, &error);
    if (status == PETAL_OK) {
        write_all(sweep, file, life, compact);
        status = visit_close(&life->visit, &error);
    }
    if (status != PETAL_OK && (file == NULL || !names_the_file(file, &error, false)))
        fail_mutant(NULL, &error);
    visit_fini(&life->visit);
    return status;
}

static void
open_to_read(struct sweep *sweep, struct visit *visit, struct memory_vfs *files)
{
    petal_error error;
    enum petal_status status;

    visit_init(visit, &sweep->gallery, files);
    visit->fixture.options.read_only = true;
    visit->quiet = sweep->lies;
    status = visit_open(visit, FIXTURE_DIRECTORY, &error);
    if (status != PETAL_OK)
        fail_mutant(NULL, &error);
}

static void
record_life(struct sweep *sweep, struct answers *answers, bool compact)
{
    struct memory_vfs *files = memory_vfs_clone(sweep->vfs);
    struct life life = {.unwritten = {false}};
    struct visit visit;

    assert_int_equal(live(sweep, NULL, files, &life, compact), PETAL_OK);
    open_to_read(sweep, &visit, files);
    answers_record(answers, &visit);
    visit_fini(&visit);
    memory_vfs_free(files);
}

/* ---- the whole ---- */

void
sweep_init(struct sweep *sweep, uint64_t seed, unsigned scale)
{
    petal_error error;

    /* Nothing goes back to the system and is asked for again by every opening. */
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    *sweep = (struct sweep){.turn = 0};
    gallery_make(&sweep->gallery, seed, scale);
    sweep->vfs = memory_vfs_clone(sweep->gallery.vfs);
    visit_init(&sweep->hot, &sweep->gallery, sweep->vfs);
    sweep->hot.fixture.options.read_only = true;
    sweep->hot.fixture.options.cache_bytes = PETAL_NO_CACHE;
    sweep->hot.fixture.options.open_files = 64;
    must(visit_open(&sweep->hot, FIXTURE_DIRECTORY, &error), &error);
    answers_record(&sweep->answers, &sweep->hot);
    take_files(sweep);
    record_life(sweep, &sweep->after_life, true);
    record_life(sweep, &sweep->after_life_uncompacted, false);
}

void
sweep_fini(struct sweep *sweep)
{
    watch(false);
    visit_fini(&sweep->hot);
    assert_int_equal(memory_vfs_open_files(sweep->vfs), 0);
    answers_free(&sweep->answers);
    answers_free(&sweep->after_life);
    answers_free(&sweep->after_life_uncompacted);
    for (size_t i = 0; i < sweep->file_count; i++) {
        free(sweep->files[i].path);
        free(sweep->files[i].bytes);
    }
    free(sweep->files);
    memory_vfs_free(sweep->vfs);
    gallery_free(&sweep->gallery);
}

struct sweep_share
sweep_usual_share(void)
{
    return test_long() ? (struct sweep_share){1, 23} : (struct sweep_share){16, 331};
}

void
sweep_begin(struct sweep *sweep, const struct sweep_file *file, const char *what, uint64_t at,
            const uint8_t *bytes, size_t size)
{
    snprintf(at_hand, sizeof at_hand, "%s: %s at %" PRIu64, file->path, what, at);
    assert_int_equal(memory_vfs_write_file(sweep->vfs, file->path, bytes, size), 0);
    tried++;
    sweep->turn++;
    sweep->counts[file->kind].tried++;
    watch(true);
}

void
sweep_end(struct sweep *sweep, const struct sweep_file *file)
{
    assert_int_equal(memory_vfs_write_file(sweep->vfs, file->path, file->bytes, file->size), 0);
    sweep->all_is_told = false;
    sweep->other = NULL;
    sweep->lies = false;
    may_be_newer = false;
}

static void
count(struct sweep *sweep, const struct sweep_file *file, bool refused)
{
    sweep->counts[file->kind].refused += refused;
    sweep->counts[file->kind].harmless += !refused;
}

/* A database that was given anything takes so much and no more. */
static void
check_bounds(struct visit *visit, uint64_t calls_before)
{
    uint64_t refused = test_allocator_failures(&visit->fixture.allocator);

    if (refused > 0 || memory_vfs_calls(visit->fixture.vfs) - calls_before > MOST_CALLS) {
        print_error("  %" PRIu64 " allocations beyond the limit, %" PRIu64 " file calls\n", refused,
                    memory_vfs_calls(visit->fixture.vfs) - calls_before);
        fail_mutant(NULL, NULL);
    }
}

/* Those of the questions whose turn it is. */
static bool
ask_share(struct sweep *sweep, const struct sweep_file *file, const struct answers *answers,
          struct visit *visit, struct sweep_share share)
{
    uint64_t calls = memory_vfs_calls(visit->fixture.vfs);
    bool refused = false;

    for (size_t i = 0; i < answers->count; i++) {
        const struct question *question = &answers->questions[i];
        unsigned every = concerns(sweep, file, question) ? share.own : share.others;

        if (every > 0 && (i + sweep->turn) % every == 0)
            refused |= ask(sweep, file, question, visit);
    }
    check_bounds(visit, calls);
    return refused;
}

void
sweep_ask_open(struct sweep *sweep, const struct sweep_file *file, const size_t *questions,
               size_t question_count, struct sweep_share share)
{
    uint64_t calls = memory_vfs_calls(sweep->vfs);
    bool refused = false;

    for (size_t i = 0; i < question_count; i++) {
        if ((i + sweep->turn) % share.own == 0)
            refused |= ask(sweep, file, &sweep->answers.questions[questions[i]], &sweep->hot);
    }
    if (share.others > 0) {
        size_t other = (size_t)(sweep->turn * 7919 % sweep->answers.count);

        refused |= ask(sweep, file, &sweep->answers.questions[other], &sweep->hot);
    }
    check_bounds(&sweep->hot, calls);
    count(sweep, file, refused);
}

static enum petal_status
open_cold(struct sweep *sweep, const struct sweep_file *file, petal_error *error)
{
    struct visit *visit = &sweep->cold;

    sweep->counts[file->kind].openings++;
    visit_init(visit, &sweep->gallery, sweep->vfs);
    visit->fixture.options.read_only = true;
    visit->fixture.options.map_files = sweep->turn % 4 == 3;
    visit->quiet = sweep->lies;
    may_be_newer = sweep->lies;
    return visit_open(visit, FIXTURE_DIRECTORY, error);
}

/* Opened for writing, what is refused is refused as well, and all files are as they were. */
static void
check_refused_changes_nothing(struct sweep *sweep, enum petal_status refused)
{
    struct memory_vfs *files = memory_vfs_clone(sweep->vfs);
    bool locked = memory_vfs_exists(files, FIXTURE_DIRECTORY "/LOCK");
    uint64_t before = memory_vfs_hash(files);
    struct visit visit;
    petal_error error;
    enum petal_status status;

    visit_init(&visit, &sweep->gallery, files);
    visit.quiet = true;
    status = petal_open(FIXTURE_DIRECTORY, &visit.fixture.options, &visit.fixture.db, &error);
    if (status != refused)
        fail_mutant(NULL, &error);
    if (!locked && memory_vfs_exists(files, FIXTURE_DIRECTORY "/LOCK"))
        assert_int_equal(vfs_remove(memory_vfs_table(files), FIXTURE_DIRECTORY "/LOCK"), 0);
    if (memory_vfs_hash(files) != before) {
        print_error("  an opening that is refused has changed files\n");
        fail_mutant(NULL, &error);
    }
    sweep->refused_unchanged++;
    visit_fini(&visit);
    memory_vfs_free(files);
}

void
sweep_expect_refusal(struct sweep *sweep, const struct sweep_file *file)
{
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = open_cold(sweep, file, &error);

    if (status == PETAL_OK || !names_the_file(file, &error, false))
        fail_mutant(NULL, &error);
    check_bounds(&sweep->cold, memory_vfs_calls(sweep->vfs));
    visit_fini(&sweep->cold);
    check_refused_changes_nothing(sweep, status);
    count(sweep, file, true);
}

void
sweep_expect_answers(struct sweep *sweep, const struct sweep_file *file, enum petal_status expected,
                     const struct answers *answers, struct sweep_share share)
{
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = open_cold(sweep, file, &error);
    bool refused = status != PETAL_OK;

    if (status != expected)
        fail_mutant(NULL, &error);
    for (size_t i = sweep->turn % share.own; !refused && i < answers->count; i += share.own) {
        const struct question *question = &answers->questions[i];
        enum verdict verdict = answers_compare(question, &sweep->cold, &error);

        sweep->counts[file->kind].questions++;
        if (verdict != (question->failed ? FAILED : SAME))
            fail_mutant(question, verdict == FAILED ? &error : NULL);
    }
    check_bounds(&sweep->cold, memory_vfs_calls(sweep->vfs));
    if (refused && sweep->cold.fixture.db == NULL)
        check_refused_changes_nothing(sweep, status);
    visit_fini(&sweep->cold);
    count(sweep, file, refused);
}

/* A lie was told: does verify find it? */
static void
look_through(struct sweep *sweep, const struct sweep_file *file, struct visit *visit)
{
    petal_error error;

    sweep->lies_told++;
    if (petal_table_verify(visit->tables[file->family], &error) == PETAL_OK)
        sweep->lies_unfound++;
}

enum petal_status
sweep_ask_anew(struct sweep *sweep, const struct sweep_file *file, struct sweep_share share)
{
    struct visit *visit = &sweep->cold;
    petal_error error;
    enum petal_status status;
    bool refused;

    status = open_cold(sweep, file, &error);
    refused = status != PETAL_OK;
    if (refused && (file->kind == STORE_FILE || !names_the_file(file, &error, false)))
        fail_mutant(NULL, &error);
    sweep->told = false;
    if (!refused)
        refused = ask_share(sweep, file, &sweep->answers, visit, share);
    if (sweep->told)
        look_through(sweep, file, visit);
    check_bounds(visit, memory_vfs_calls(sweep->vfs));
    if (status != PETAL_OK && visit->fixture.db == NULL)
        check_refused_changes_nothing(sweep, status);
    visit_fini(visit);
    count(sweep, file, refused);
    return status;
}

/* The right bytes are back after a life in which the family was not compacted: nothing is refused,
 * and all is there that was not refused then. */
static void
ask_healed(struct sweep *sweep, const struct sweep_file *file, const struct life *life,
           struct visit *visit, unsigned share)
{
    bool unwritten = life->unwritten[file->family];
    const struct answers *answers = unwritten ? &sweep->answers : &sweep->after_life_uncompacted;

    for (size_t i = 0; i < answers->count; i++) {
        const struct question *question = &answers->questions[i];
        /* What was in the logs is flushed, without what is surplus. */
        bool raw = question->way == WAY_SCAN_RAW || question->way == WAY_SCAN_RAW_BACK;

        if (question->family == file->family && question->way < WAY_OF_TABLE &&
            !(raw && unwritten) && (i + sweep->turn) % share == 0 &&
            ask(sweep, file, question, visit))
            fail_mutant(question, NULL);
    }
}

/* What lies make fail is refused for what they say, not for what they cost. */
static bool
is_explained(enum petal_status status, const petal_error *error)
{
    bool known = status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED ||
                 status == PETAL_NOT_FOUND || status == PETAL_READ_ONLY || status == PETAL_INVALID;

    return status == PETAL_OK ||
           (known && error->status == status && error->text[0] != '\0' &&
            (status != PETAL_CORRUPT ||
             (error->file[0] != '\0' && strstr(error->text, error->file) != NULL)));
}

static void
explain(enum petal_status status, const petal_error *error)
{
    if (!is_explained(status, error))
        fail_mutant(NULL, error);
}

static void
ask_believing(struct sweep *sweep, const struct sweep_file *file, struct visit *visit,
              unsigned share)
{
    petal_error error;

    for (size_t i = sweep->turn % share; i < sweep->answers.count; i += share) {
        sweep->counts[file->kind].questions++;
        if (answers_compare(&sweep->answers.questions[i], visit, &error) == FAILED)
            explain(error.status, &error);
    }
}

/* A table, a family and a table snapshot, which take new ids. */
static void
change_schema(struct visit *visit)
{
    petal_family_options families[2] = {{.name = slice_from_text("f")},
                                        {.name = slice_from_text("g")}};
    petal_table_options options = {
        .name = slice_from_text("made"), .families = families, .family_count = 1};
    petal_error error = {.status = PETAL_OK};
    petal_table *table;
    enum petal_status status = petal_table_create(visit->fixture.db, &options, &table, &error);

    explain(status, &error);
    options.family_count = 2;
    if (status == PETAL_OK)
        status = petal_table_alter(table, &options, &error);
    explain(status, &error);
    explain(petal_table_snapshot_create(visit->tables[0], slice_from_text("taken"), NULL, &error),
            &error);
}

/* Does all that can be done; gives the status of closing. */
static enum petal_status
live_believing(struct visit *visit)
{
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; i < GALLERY_FAMILIES; i++) {
        status = petal_put(visit->families[i], gallery_row(i, 2), slice_from_text("q0"),
                           PETAL_LATEST, slice_from_text("written in a life"), NULL, &error);
        explain(status, &error);
    }
    explain(petal_increment(visit->families[0], gallery_row(0, 3), slice_from_text("sum"), 1, NULL,
                            NULL, &error),
            &error);
    change_schema(visit);
    explain(petal_flush(visit->fixture.db, NULL, &error), &error);
    for (size_t i = 0; i < GALLERY_FAMILIES; i++)
        explain(petal_compact(visit->tables[i], visit->families[i], &error), &error);
    status = visit_close(visit, &error);
    explain(status, &error);
    return status;
}

static void
open_believing(struct sweep *sweep, const struct sweep_file *file, struct memory_vfs *files,
               unsigned share)
{
    struct visit visit;
    petal_error error;
    enum petal_status status;

    visit_init(&visit, &sweep->gallery, files);
    visit.quiet = true;
    status = visit_open(&visit, FIXTURE_DIRECTORY, &error);
    explain(status, &error);
    if (status == PETAL_OK && live_believing(&visit) == PETAL_OK) {
        visit_init(&visit, &sweep->gallery, files);
        visit.fixture.options.read_only = true;
        visit.quiet = true;
        if (visit_open(&visit, FIXTURE_DIRECTORY, &error) != PETAL_OK)
            fail_mutant(NULL, &error);
        ask_believing(sweep, file, &visit, share);
    }
    check_bounds(&visit, memory_vfs_calls(files));
    visit_fini(&visit);
}

void
sweep_believe(struct sweep *sweep, const struct sweep_file *file, unsigned share, bool lives)
{
    petal_error error;
    enum petal_status status;
    uint64_t calls = memory_vfs_calls(sweep->vfs);

    sweep->lies = true;
    status = open_cold(sweep, file, &error);
    explain(status, &error);
    if (status == PETAL_OK)
        ask_believing(sweep, file, &sweep->cold, share);
    check_bounds(&sweep->cold, calls);
    if (status != PETAL_OK && sweep->cold.fixture.db == NULL)
        check_refused_changes_nothing(sweep, status);
    visit_fini(&sweep->cold);
    count(sweep, file, status != PETAL_OK);
    if (lives) {
        struct memory_vfs *files = memory_vfs_clone(sweep->vfs);

        sweep->counts[file->kind].lives++;
        open_believing(sweep, file, files, share);
        memory_vfs_free(files);
    }
}

void
sweep_live(struct sweep *sweep, const struct sweep_file *file, struct sweep_share share)
{
    struct memory_vfs *files = memory_vfs_clone(sweep->vfs);
    struct life life = {.unwritten = {false}};
    struct visit visit;

    sweep->counts[file->kind].lives++;
    sweep->all_is_told = false;
    if (live(sweep, file, files, &life, true) == PETAL_OK) {
        bool uncompacted = file->kind == STORE_FILE && file->family < GALLERY_FAMILIES &&
                           life.uncompacted[file->family];

        open_to_read(sweep, &visit, files);
        if (uncompacted)
            share.own = 0;
        ask_share(sweep, file, &sweep->after_life, &visit, share);
        visit_fini(&visit);
        if (uncompacted) {
            assert_int_equal(memory_vfs_write_file(files, file->path, file->bytes, file->size), 0);
            open_to_read(sweep, &visit, files);
            ask_healed(sweep, file, &life, &visit, 8);
            visit_fini(&visit);
        }
    }
    memory_vfs_free(files);
}

void
sweep_print(const struct sweep *sweep, const char *what, double seconds)
{
    uint64_t all = 0;

    for (unsigned kind = 0; kind < FILE_KINDS; kind++) {
        const struct sweep_count *counts = &sweep->counts[kind];

        if (counts->tried == 0)
            continue;
        all += counts->tried;
        print_message("%s, %s: %" PRIu64 " tried, %" PRIu64 " refused, %" PRIu64
                      " harmless; %" PRIu64 " questions, %" PRIu64 " openings, %" PRIu64
                      " lives of writes\n",
                      what, gallery_kind_text((enum file_kind)kind), counts->tried, counts->refused,
                      counts->harmless, counts->questions, counts->openings, counts->lives);
    }
    test_counted("%s: %" PRIu64 " mutants in %.1f s of the processor, %.0f a second; %" PRIu64
                 " refused openings changed nothing",
                 what, all, seconds, seconds > 0 ? (double)all / seconds : 0,
                 sweep->refused_unchanged);
}
