/*
 * ycsb.c -- `kv-bench ycsb`: YCSB's core workloads, mixes of operations on records of ten fields. A
 * record is a row of ten cells, or ten keys in stores without rows (tools/bench/keys/fields.h).
 *
 * Record n is the n-th inserted; its row is "user" and the hash of n. Operations choose a record by
 * a scrambled zipf over all, in workload D by the latest. Reads read all fields, updates write one,
 * scans begin at a record and read 1 to 100, all lengths equally likely. A record counts as present
 * when it and all inserted before it are written.
 *
 * Every read must return all fields with values of the right size; other answers are wrong.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/keys/distribution.h"
#include "tools/bench/keys/fields.h"
#include "tools/bench/workloads/job.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS         10
#define FIELD_BYTES    100
#define VALUES         10000 /* that fields draw from */
#define ROW_BYTES      32
#define MOST_SCAN_ROWS 100
#define MOST_MIXES     63
#define USUAL_MIXES    "A,B,C,F,D,E"

enum kind { READ, UPDATE, INSERT, SCAN, MODIFY /* read and update one record */, KINDS };

static const char *const kind_names[KINDS] = {"read", "update", "insert", "scan",
                                              "read-modify-write"};

static const char *const field_names[FIELDS] = {"field0", "field1", "field2", "field3", "field4",
                                                "field5", "field6", "field7", "field8", "field9"};

struct mix {
    const char *name;
    unsigned percent[KINDS];
    bool latest; /* else zipf */
};

/* The first loads. */
static const struct mix mixes[] = {
    {"ycsb-load", {[INSERT] = 100}, false},
    {"ycsb-a", {[READ] = 50, [UPDATE] = 50}, false},
    {"ycsb-b", {[READ] = 95, [UPDATE] = 5}, false},
    {"ycsb-c", {[READ] = 100}, false},
    {"ycsb-d", {[READ] = 95, [INSERT] = 5}, true},
    {"ycsb-e", {[SCAN] = 95, [INSERT] = 5}, false},
    {"ycsb-f", {[READ] = 50, [MODIFY] = 50}, false},
};

struct settings {
    struct bench_settings common;
    const char *list;
    uint64_t records, operations;
    double ratio; /* of a value's size after compression */
    const struct mix *mixes[MOST_MIXES];
    size_t mix_count;
};

/* An open store, the records in it, and the mix that runs. */
struct ycsb {
    const struct bench_store *store;
    void *opened;
    uint8_t values[VALUES][FIELD_BYTES];
    unsigned threads;
    uint64_t seed, stream; /* the mix's place in the run */
    const struct mix *mix;
    uint64_t items;                /* that a zipf draws from: records, and those still to come */
    _Atomic(uint64_t) next_record; /* to be inserted */
    _Atomic(uint64_t) live_bytes;  /* rows, names, values */
    /* For each thread a lower bound of the record it is inserting; UINT64_MAX: it inserts none. */
    _Atomic(uint64_t) inserting[BENCH_MOST_THREADS];
};

/* Of a thread. */
struct hand {
    struct ycsb *ycsb;
    struct bench_random random;
    struct bench_distribution distribution;
    struct bench_record record;
};

/* ---- which record ---- */

/* Records 0 .. this - 1 are written. A thread publishes its bound before it takes a number, so none
 * is missed. */
static uint64_t
records_there(const struct ycsb *ycsb)
{
    uint64_t there = atomic_load(&ycsb->next_record);

    for (unsigned i = 0; i < ycsb->threads; i++) {
        uint64_t bound = atomic_load(&ycsb->inserting[i]);

        if (bound < there)
            there = bound;
    }
    return there;
}

static petal_slice
row_of(uint64_t number, char row[ROW_BYTES])
{
    int size = snprintf(row, ROW_BYTES, "user%" PRIu64, bench_fnv(number));

    return (petal_slice){row, (size_t)size};
}

static uint64_t
choose(struct hand *hand)
{
    uint64_t there = records_there(hand->ycsb), number;

    if (hand->ycsb->mix->latest)
        return bench_distribution_next(&hand->distribution, &hand->random, there);
    do
        number = bench_distribution_next(&hand->distribution, &hand->random, hand->ycsb->items);
    while (number >= there);
    return number;
}

/* ---- operations ---- */

/* Random bytes, then copies of them. */
static void
make_values(struct ycsb *ycsb, double ratio)
{
    size_t noise = (size_t)fmax(ratio * FIELD_BYTES + 0.5, 1);
    struct bench_random random = {bench_scramble(1)};

    for (size_t i = 0; i < VALUES; i++) {
        uint8_t *value = ycsb->values[i];

        for (size_t j = 0; j < FIELD_BYTES; j++)
            value[j] = j < noise ? (uint8_t)bench_random_next(&random) : value[j - noise];
    }
}

static struct bench_field
field_of(struct hand *hand, size_t index)
{
    return (struct bench_field){
        bench_text(field_names[index]),
        {hand->ycsb->values[bench_random_below(&hand->random, VALUES)], FIELD_BYTES}};
}

static uint64_t
bytes_of(const struct bench_field *fields, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += fields[i].name.size + fields[i].value.size;
    return bytes;
}

static void
insert(struct bench_worker *worker)
{
    struct hand *hand = worker->own;
    struct ycsb *ycsb = hand->ycsb;
    struct bench_field fields[FIELDS];
    char text[ROW_BYTES];
    petal_slice row;
    uint64_t bytes;

    atomic_store(&ycsb->inserting[worker->index], atomic_load(&ycsb->next_record));
    row = row_of(atomic_fetch_add(&ycsb->next_record, 1), text);
    for (size_t i = 0; i < FIELDS; i++)
        fields[i] = field_of(hand, i);
    bench_record_put(&hand->record, row, fields, FIELDS);
    atomic_store(&ycsb->inserting[worker->index], UINT64_MAX);
    bytes = row.size + bytes_of(fields, FIELDS);
    worker->given += bytes;
    atomic_fetch_add(&ycsb->live_bytes, bytes);
}

static void
update(struct bench_worker *worker, petal_slice row)
{
    struct hand *hand = worker->own;
    struct bench_field field = field_of(hand, (size_t)bench_random_below(&hand->random, FIELDS));

    bench_record_put(&hand->record, row, &field, 1);
    worker->given += row.size + bytes_of(&field, 1);
}

static void
read_all(struct bench_worker *worker, petal_slice row)
{
    struct hand *hand = worker->own;
    struct bench_field fields[BENCH_MOST_FIELDS];
    size_t count = bench_record_get(&hand->record, row, fields, BENCH_MOST_FIELDS);
    bool right = count == FIELDS;

    for (size_t i = 0; right && i < count; i++)
        right = fields[i].value.size == FIELD_BYTES &&
                fields[i].name.size == strlen(field_names[i]) &&
                memcmp(fields[i].name.data, field_names[i], fields[i].name.size) == 0;
    worker->found += count > 0;
    worker->wrong += !right;
    if (count > 0)
        worker->answered += row.size + bytes_of(fields, count);
}

/* The bytes that a scan answers follow from its number of fields: a row is about as long as the
 * first. */
static void
scan(struct bench_worker *worker, petal_slice row)
{
    struct hand *hand = worker->own;
    size_t rows = 1 + (size_t)bench_random_below(&hand->random, MOST_SCAN_ROWS);
    size_t fields = bench_record_scan(&hand->record, row, rows);

    worker->found += fields > 0;
    worker->wrong += fields < FIELDS || fields > rows * FIELDS || fields % FIELDS != 0;
    worker->answered +=
        fields * (strlen(field_names[0]) + FIELD_BYTES) + fields / FIELDS * row.size;
}

static uint64_t
operate(struct bench_worker *worker, uint64_t position)
{
    struct hand *hand = worker->own;
    uint64_t chance = bench_random_below(&hand->random, 100);
    unsigned kind = 0;
    char text[ROW_BYTES];
    petal_slice row;

    (void)position;
    while (chance >= hand->ycsb->mix->percent[kind])
        chance -= hand->ycsb->mix->percent[kind++];
    worker->kind = kind;
    if (kind == INSERT) {
        insert(worker);
        return 1;
    }
    row = row_of(choose(hand), text);
    if (kind == READ || kind == MODIFY)
        read_all(worker, row);
    if (kind == UPDATE || kind == MODIFY)
        update(worker, row);
    if (kind == SCAN)
        scan(worker, row);
    return 1;
}

/* ---- in the child ---- */

static void *
begin(void *argument, unsigned index)
{
    struct ycsb *ycsb = argument;
    struct hand *hand = bench_alloc(sizeof *hand);

    hand->ycsb = ycsb;
    hand->random.state = bench_scramble(ycsb->seed ^ bench_scramble(ycsb->stream * 1024 + index));
    bench_distribution_init(&hand->distribution,
                            ycsb->mix->latest ? BENCH_LATEST : BENCH_SCRAMBLED);
    bench_record_init(&hand->record, ycsb->store, ycsb->store->attach(ycsb->opened));
    return hand;
}

static void
end(void *own)
{
    struct hand *hand = own;

    hand->ycsb->store->detach(hand->record.session);
    bench_record_free(&hand->record);
    free(hand);
}

static void
run_mix(struct bench_job *job, struct ycsb *ycsb, const struct mix *mix, uint64_t operations)
{
    struct bench_outcome *outcome = bench_job_begin(job, mix->name, ycsb->threads);
    struct bench_driven *driven = bench_alloc(sizeof *driven);
    const struct bench_drive drive = {.argument = ycsb,
                                      .threads = ycsb->threads,
                                      .operations = operations,
                                      .sample = 1,
                                      .begin = begin,
                                      .end = end,
                                      .operate = operate};

    ycsb->mix = mix;
    ycsb->stream++;
    /* As YCSB: twice the insertions expected. */
    ycsb->items = atomic_load(&ycsb->next_record) + 2 * operations * mix->percent[INSERT] / 100;
    bench_drive_run(&drive, driven);
    bench_outcome_set_rate(outcome, operations, driven->seconds, &driven->latencies);
    bench_outcome_set_answers(outcome, driven);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct bench_histogram *latencies = &driven->kinds[kind];

        if (latencies->total > 0 && latencies->total < operations)
            bench_job_add_part(job, outcome, kind_names[kind], latencies);
    }
    bench_job_end(job, outcome, atomic_load(&ycsb->live_bytes));
    free(driven);
}

static void
run_store(struct bench_job *job)
{
    const struct settings *settings = job->plan->settings;
    struct ycsb *ycsb = bench_alloc(sizeof *ycsb);

    ycsb->store = job->store;
    ycsb->threads = (unsigned)settings->common.threads.values[0];
    ycsb->seed = settings->common.seed;
    for (size_t i = 0; i < BENCH_MOST_THREADS; i++)
        atomic_store(&ycsb->inserting[i], UINT64_MAX);
    make_values(ycsb, settings->ratio);
    ycsb->opened = job->store->open(job->directory, &job->config);
    run_mix(job, ycsb, &mixes[0], settings->records);
    for (size_t i = 0; i < settings->mix_count; i++)
        run_mix(job, ycsb, settings->mixes[i], settings->operations);
    job->store->close(ycsb->opened);
    bench_job_finish(job, atomic_load(&ycsb->live_bytes));
    free(ycsb);
}

/* ---- the command ---- */

static void
usage(void)
{
    fputs("usage: kv-bench ycsb [options]\n"
          "YCSB's core workloads: records of ten fields of 100 bytes each, loaded once.\n"
          "  --workloads LIST       A,B,C,F,D,E: run in that order; D and E insert, and\n"
          "                         what they insert stays\n"
          "  --records N            loaded first; 100k\n"
          "  --operations N         of each workload, of all threads together; 100k\n"
          "  --compression-ratio R  of a value's size after compression; 1\n"
          "  --threads N            1\n"
          "  --repeats N            1; the stores by turns, medians and ratios at the end\n"
          "Of petal alone, or with\n",
          stderr);
    bench_settings_usage();
}

/* "A,B" or "AB", of either case. */
static bool
read_mixes(struct settings *settings)
{
    for (const char *at = settings->list; *at != '\0'; at++) {
        int letter = (*at | 0x20) - 'a';

        if (*at == ',')
            continue;
        if (bench_refused(letter < 0 || letter > 'f' - 'a' || settings->mix_count == MOST_MIXES,
                          "--workloads is a list of A to F"))
            return false;
        settings->mixes[settings->mix_count++] = &mixes[1 + letter];
    }
    return true;
}

int
bench_ycsb_main(int argc, char **argv)
{
    struct settings settings = {.common = bench_settings_default(),
                                .list = USUAL_MIXES,
                                .records = 100000,
                                .operations = 100000,
                                .ratio = 1}; /* YCSB's values are random letters */
    const struct bench_option options[] = {
        {"--workloads", BENCH_TEXT, &settings.list},
        {"--records", BENCH_COUNT, &settings.records},
        {"--operations", BENCH_COUNT, &settings.operations},
        {"--compression-ratio", BENCH_NUMBER, &settings.ratio},
        BENCH_SETTINGS_OPTIONS(settings.common),
    };
    const size_t count = sizeof options / sizeof *options;
    struct bench_plan plan;

    if (!bench_options_read(options, count, argc, argv))
        return bench_options_explain(usage);
    if (bench_refused(settings.records == 0 || settings.operations == 0,
                      "--records and --operations are above 0") ||
        bench_refused(!(settings.ratio >= 0 && settings.ratio <= 1),
                      "--compression-ratio is a number from 0 to 1") ||
        !bench_settings_apply(&settings.common, 1) || !read_mixes(&settings))
        return 2;
    plan = bench_plan_of(&settings.common, bench_file_of("ycsb", argc, argv, options, count),
                         &settings);
    plan.file.kind = "workloads";
    plan.work = run_store;
    return bench_plan_run(&plan);
}
