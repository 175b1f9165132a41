/* workload.c -- see tools/bench/workloads/workload.h. */
#include "tools/bench/workloads/workload.h"

#include "tools/bench/harness/permutation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREPARED 512 /* keys that are made at a time */

/* What a thread holds, and the keys that were made for it. */
struct bench_hand {
    const struct bench_bed *bed;
    const struct bench_workload *workload;
    void *session, *iterator; /* NULL: each seek makes one */
    struct bench_random random;
    struct bench_permutation order; /* the same for all threads of the workload */
    uint64_t numbers[BENCH_MOST_BATCH];
    petal_slice keys[BENCH_MOST_BATCH];
    char *bytes;    /* of the keys */
    uint8_t *value; /* room for one */
    uint8_t sink;   /* a byte of each value: so that it is read */
};

/* ---- which key ---- */

static uint64_t
choose_in_order(struct bench_hand *hand, uint64_t position)
{
    return position % hand->bed->load.keys;
}

static uint64_t
choose_once(struct bench_hand *hand, uint64_t position)
{
    return bench_permutation_at(&hand->order, position % hand->bed->load.keys);
}

static uint64_t
choose_any(struct bench_hand *hand, uint64_t position)
{
    (void)position;
    return bench_random_below(&hand->random, hand->bed->load.keys);
}

/* Keys of the operations from `position` on. */
static void
prepare(struct bench_worker *worker, uint64_t position, unsigned count)
{
    struct bench_hand *hand = worker->own;
    const struct bench_bed *bed = hand->bed;
    uint64_t keys = hand->workload->many ? bed->load.batch : count;

    assert(keys <= BENCH_MOST_BATCH && (!hand->workload->many || count == 1));
    for (uint64_t i = 0; i < keys; i++) {
        hand->numbers[i] = hand->workload->choose(hand, position + i);
        hand->keys[i] = bench_pairs_key(bed->pairs, hand->numbers[i], hand->workload->absent,
                                        hand->bytes + i * bed->pairs->key_bytes);
    }
}

/* ---- writes ---- */

static uint64_t
put(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    const struct bench_bed *bed = hand->bed;
    uint64_t number = hand->workload->choose(hand, position);
    petal_slice key = bench_pairs_key(bed->pairs, number, false, hand->bytes);
    petal_slice value = bench_pairs_value(bed->pairs, number, hand->value);

    bed->store->put(hand->session, key, value);
    worker->given += key.size + value.size;
    return 1;
}

/* ---- reads ---- */

/* The answer about the i-th key that was made. */
static void
judge(struct bench_worker *worker, uint64_t i, bool found, petal_slice value)
{
    struct bench_hand *hand = worker->own;
    const struct bench_pairs *pairs = hand->bed->pairs;
    bool there = !hand->workload->absent && hand->numbers[i] < hand->bed->there;

    if (!found) {
        worker->wrong += there;
        return;
    }
    worker->found++;
    worker->answered += pairs->key_bytes + value.size;
    worker->wrong += !there || !bench_pairs_is_right(pairs, hand->numbers[i], value);
}

static uint64_t
get(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    petal_slice value;
    bool found = hand->bed->store->get(hand->session, hand->keys[worker->slot], &value);

    (void)position;
    judge(worker, worker->slot, found, value);
    return 1;
}

static uint64_t
get_many(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    const struct bench_store *store = hand->bed->store;
    uint64_t batch = hand->bed->load.batch;
    petal_slice values[BENCH_MOST_BATCH];

    (void)position;
    if (store->get_many != NULL) {
        store->get_many(hand->session, hand->keys, batch, values);
        for (uint64_t i = 0; i < batch; i++)
            judge(worker, i, values[i].data != NULL, values[i]);
        return batch;
    }
    for (uint64_t i = 0; i < batch; i++) {
        bool found = store->get(hand->session, hand->keys[i], &values[i]);

        judge(worker, i, found, values[i]);
    }
    return batch;
}

static void
take(struct bench_worker *worker, const struct bench_pair *pair)
{
    worker->answered += pair->key.size + pair->value.size;
    if (pair->value.size > 0)
        ((struct bench_hand *)worker->own)->sink ^= *(const uint8_t *)pair->value.data;
}

/* Found: the key itself, not one after it. */
static uint64_t
seek(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    const struct bench_store *store = hand->bed->store;
    petal_slice key = hand->keys[worker->slot];
    void *iterator = hand->iterator != NULL ? hand->iterator : store->iterate(hand->session);
    struct bench_pair pair;
    bool there = store->seek(iterator, key, &pair);
    bool found =
        there && pair.key.size == key.size && memcmp(pair.key.data, key.data, key.size) == 0;

    (void)position;
    judge(worker, worker->slot, found, pair.value);
    if (there && !found) {
        take(worker, &pair);
        if (pair.key.size != key.size || memcmp(pair.key.data, key.data, key.size) < 0)
            worker->wrong++;
    }
    for (uint64_t i = 0; there && i < hand->bed->load.nexts; i++) {
        there = store->next(iterator, &pair);
        if (there)
            take(worker, &pair);
    }
    if (iterator != hand->iterator)
        store->end_iterate(iterator);
    return 1;
}

/* Up to load.reads pairs. */
static uint64_t
sweep(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    const struct bench_bed *bed = hand->bed;
    void *iterator = bed->store->iterate(hand->session);
    uint64_t seen = 0, wanted = bed->there < bed->load.reads ? bed->there : bed->load.reads;
    struct bench_pair pair;

    (void)position;
    for (bool more = bed->store->seek(iterator, (petal_slice){NULL, 0}, &pair); more;
         more = bed->store->next(iterator, &pair)) {
        take(worker, &pair);
        if (++seen == bed->load.reads)
            break;
    }
    bed->store->end_iterate(iterator);
    worker->found += seen;
    worker->wrong += seen > wanted ? seen - wanted : wanted - seen;
    return seen;
}

/* ---- the workloads ---- */

static const struct bench_workload workloads[] = {
    {.name = "fillseq",
     .meaning = "write the keys in order",
     .choose = choose_in_order,
     .operate = put,
     .writes = true},
    {.name = "filluniquerandom",
     .meaning = "write each key once, in random order",
     .choose = choose_once,
     .operate = put,
     .writes = true},
    {.name = "readrandom", .meaning = "get random keys", .choose = choose_any, .operate = get},
    {.name = "readmissing",
     .meaning = "get keys that were never written, between those that were",
     .choose = choose_any,
     .operate = get,
     .absent = true},
    {.name = "readseq",
     .meaning = "go over all pairs, each thread over all",
     .operate = sweep,
     .sweeps = true},
    {.name = "seekrandom",
     .meaning = "make an iterator, seek to a key, step on, end it",
     .choose = choose_any,
     .operate = seek},
    {.name = "multireadrandom",
     .meaning = "get 32 keys by one call; latencies are of calls",
     .choose = choose_any,
     .operate = get_many,
     .many = true},
    {.name = "compact",
     .meaning = "merge all that there is",
     .act = offsetof(struct bench_store, compact)},
    {.name = "flush",
     .meaning = "write what is in memory to files",
     .act = offsetof(struct bench_store, flush)},
    {.name = "wait",
     .meaning = "until the background rests",
     .act = offsetof(struct bench_store, wait)},
};

const struct bench_workload *
bench_workload_named(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strlen(workloads[i].name) == size && memcmp(workloads[i].name, name, size) == 0)
            return &workloads[i];
    }
    return NULL;
}

const char *
bench_workload_at(size_t place)
{
    return place < sizeof workloads / sizeof *workloads ? workloads[place].name : NULL;
}

void
bench_workload_list(void)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        fprintf(stderr, "  %-16s %s\n", workloads[i].name, workloads[i].meaning);
}

uint64_t
bench_bed_live_bytes(const struct bench_bed *bed)
{
    return bed->there * (bed->pairs->key_bytes + bed->pairs->value_bytes);
}

/* ---- running one ---- */

struct crew {
    const struct bench_bed *bed;
    const struct bench_workload *workload;
    uint64_t stream;
};

static void *
begin(void *argument, unsigned index)
{
    const struct crew *crew = argument;
    const struct bench_bed *bed = crew->bed;
    struct bench_hand *hand = bench_alloc(sizeof *hand);

    hand->bed = bed;
    hand->workload = crew->workload;
    hand->session = bed->store->attach(bed->opened);
    if (bed->load.keeps_iterator && crew->workload->operate == seek)
        hand->iterator = bed->store->iterate(hand->session);
    hand->random.state =
        bench_scramble(bed->load.seed ^ bench_scramble(crew->stream * 1024 + index));
    bench_permutation_init(&hand->order, bed->load.keys,
                           bench_scramble(bed->load.seed + crew->stream));
    hand->bytes = bench_alloc(BENCH_MOST_BATCH * bed->pairs->key_bytes + 1);
    hand->value = bench_alloc(bed->pairs->value_bytes + 1);
    return hand;
}

static void
end(void *own)
{
    struct bench_hand *hand = own;

    if (hand->iterator != NULL)
        hand->bed->store->end_iterate(hand->iterator);
    hand->bed->store->detach(hand->session);
    free(hand->bytes);
    free(hand->value);
    free(hand);
}

static void
run_threads(const struct crew *crew, struct bench_outcome *outcome)
{
    const struct bench_workload *workload = crew->workload;
    const struct bench_load *load = &crew->bed->load;
    struct bench_driven *driven = bench_alloc(sizeof *driven);
    bool prepares = workload->choose != NULL && !workload->writes;
    struct bench_drive drive = {.argument = (void *)(uintptr_t)crew,
                                .threads = load->threads,
                                .operations = workload->writes ? load->writes : load->reads,
                                .rate = workload->writes ? load->rate : 0,
                                .sample = workload->many ? 1 : load->sample,
                                .prepared = workload->many ? 1
                                            : prepares     ? PREPARED
                                                           : 0,
                                .begin = begin,
                                .end = end,
                                .prepare = prepare,
                                .operate = workload->operate};

    if (workload->many)
        drive.operations = (drive.operations + load->batch - 1) / load->batch;
    if (workload->sweeps)
        drive.operations = load->threads;
    bench_drive_run(&drive, driven);
    bench_outcome_set_rate(outcome, driven->count, driven->seconds,
                           workload->sweeps ? NULL : &driven->latencies);
    bench_outcome_set_answers(outcome, driven);
    if (driven->count > 0)
        outcome->values[BENCH_CPU_EACH] = driven->cpu_seconds * 1e6 / (double)driven->count;
    free(driven);
}

struct bench_outcome *
bench_workload_run(const struct bench_workload *workload, struct bench_bed *bed,
                   struct bench_job *job, const char *operation, uint64_t stream)
{
    const struct crew crew = {.bed = bed, .workload = workload, .stream = stream};
    struct bench_outcome *outcome =
        bench_job_begin(job, operation != NULL ? operation : workload->name, bed->load.threads);

    if (workload->operate != NULL) {
        run_threads(&crew, outcome);
        if (workload->writes)
            bed->there = bed->load.writes < bed->load.keys ? bed->load.writes : bed->load.keys;
    } else {
        void (*act)(void *);
        double began = bench_now();

        memcpy(&act, (const char *)bed->store + workload->act, sizeof act);
        outcome->name.threads = 1;
        if (act != NULL) {
            act(bed->opened);
            bench_outcome_set_rate(outcome, 1, bench_now() - began, NULL);
        }
    }
    bench_job_end(job, outcome, bench_bed_live_bytes(bed));
    if (workload->writes && outcome->values[BENCH_OPERATIONS] > 0) /* with the background's */
        outcome->values[BENCH_CPU_EACH] =
            outcome->values[BENCH_CPU] * 1e6 / outcome->values[BENCH_OPERATIONS];
    return outcome;
}
