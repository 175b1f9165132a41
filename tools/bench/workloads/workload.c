/* workload.c -- see tools/bench/workloads/workload.h. */
#include "tools/bench/workloads/workload.h"

#include "tools/bench/harness/permutation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SYNC_SHARE  1000 /* fillsync does one of so many operations */
#define SWEEP_STEPS 1024 /* of a sweep between two looks at the clock */
#define PREPARED    512  /* keys that are made at a time */

/* What a thread holds, and the keys that were made for it. */
struct bench_hand {
    const struct bench_bed *bed;
    const struct bench_workload *workload;
    void *session, *iterator; /* NULL: each seek makes one */
    struct bench_random random;
    struct bench_distribution distribution;
    struct bench_permutation order; /* the same for all threads of the workload */
    uint64_t there;                 /* pairs, when a sweep begins */
    uint64_t numbers[BENCH_MOST_BATCH];
    bool had[BENCH_MOST_BATCH]; /* the key was there when it was made */
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

/* Some twice, some never: db_bench's random order. */
static uint64_t
choose_any(struct bench_hand *hand, uint64_t position)
{
    (void)position;
    return bench_random_below(&hand->random, hand->bed->load.keys);
}

static uint64_t
choose_once(struct bench_hand *hand, uint64_t position)
{
    return bench_permutation_at(&hand->order, position % hand->bed->load.keys);
}

static uint64_t
choose_drawn(struct bench_hand *hand, uint64_t position)
{
    (void)position;
    return bench_distribution_next(&hand->distribution, &hand->random, hand->bed->load.keys);
}

static uint64_t
choose_hot(struct bench_hand *hand, uint64_t position)
{
    (void)position;
    return bench_random_below(&hand->random, (hand->bed->load.keys + 99) / 100);
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
        hand->had[i] = !hand->workload->absent && bench_keyset_has(bed->keys, hand->numbers[i]);
    }
}

/* ---- writes ---- */

static uint64_t
put_number(struct bench_worker *worker, uint64_t number)
{
    struct bench_hand *hand = worker->own;
    const struct bench_bed *bed = hand->bed;
    petal_slice key = bench_pairs_key(bed->pairs, number, false, hand->bytes);
    petal_slice value = bench_pairs_value(bed->pairs, number, hand->value);

    bed->store->put(hand->session, key, value);
    bench_keyset_add(bed->keys, number);
    worker->given += key.size + value.size;
    return 1;
}

static uint64_t
put(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;

    return put_number(worker, hand->workload->choose(hand, position));
}

/* Beside readers: of a kind of its own. */
static uint64_t
overwrite(struct bench_worker *worker, uint64_t position)
{
    worker->kind = 1;
    return put_number(worker, choose_drawn(worker->own, position));
}

static uint64_t
take_away(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    const struct bench_bed *bed = hand->bed;
    uint64_t number = hand->workload->choose(hand, position);
    petal_slice key = bench_pairs_key(bed->pairs, number, false, hand->bytes);

    bed->store->remove(hand->session, key);
    bench_keyset_remove(bed->keys, number);
    worker->given += key.size;
    return 1;
}

/* ---- reads ---- */

/* The answer about the i-th key that was made. Beside a writer a key that was not there may be
 * there by now. */
static void
judge(struct bench_worker *worker, uint64_t i, bool found, petal_slice value)
{
    struct bench_hand *hand = worker->own;
    const struct bench_pairs *pairs = hand->bed->pairs;

    if (!found) {
        worker->wrong += hand->had[i];
        return;
    }
    worker->found++;
    worker->answered += pairs->key_bytes + value.size;
    if (hand->workload->absent || (!hand->had[i] && !hand->workload->beside) ||
        !bench_pairs_is_right(pairs, hand->numbers[i], value))
        worker->wrong++;
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

/* Found: the key itself, not one behind it. */
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

/* Up to load.reads pairs, or until time is up. */
static uint64_t
sweep(struct bench_worker *worker, uint64_t position)
{
    struct bench_hand *hand = worker->own;
    const struct bench_store *store = hand->bed->store;
    void *iterator = store->iterate(hand->session);
    bool back = hand->workload->back;
    struct bench_pair pair;
    bool more =
        back ? store->last(iterator, &pair) : store->seek(iterator, (petal_slice){NULL, 0}, &pair);
    uint64_t seen = 0;

    (void)position;
    while (more) {
        take(worker, &pair);
        if (++seen == hand->bed->load.reads ||
            (worker->until > 0 && seen % SWEEP_STEPS == 0 && bench_now() >= worker->until))
            break;
        more = back ? store->previous(iterator, &pair) : store->next(iterator, &pair);
    }
    store->end_iterate(iterator);
    worker->found += seen;
    if (seen > hand->there)
        worker->wrong += seen - hand->there;
    else if (!more) /* it came to the end */
        worker->wrong += hand->there - seen;
    return seen;
}

/* ---- the workloads ---- */

static const struct bench_workload workloads[] = {
    {.name = "fillseq",
     .meaning = "write the keys in order",
     .choose = choose_in_order,
     .operate = put,
     .writes = true,
     .fresh = true},
    {.name = "fillrandom",
     .meaning = "write keys at random: some twice, some never",
     .choose = choose_any,
     .operate = put,
     .writes = true,
     .fresh = true},
    {.name = "filluniquerandom",
     .meaning = "write each key once, in random order",
     .choose = choose_once,
     .operate = put,
     .writes = true,
     .fresh = true},
    {.name = "fillsync",
     .meaning = "write N / 1000 keys at random, each synced before the next",
     .choose = choose_any,
     .operate = put,
     .writes = true,
     .fresh = true,
     .sync = true},
    {.name = "overwrite",
     .meaning = "write keys of the distribution into what is there",
     .choose = choose_drawn,
     .operate = put,
     .writes = true},
    {.name = "deleterandom",
     .meaning = "delete keys of the distribution",
     .choose = choose_drawn,
     .operate = take_away,
     .writes = true},
    {.name = "readrandom",
     .meaning = "get keys of the distribution",
     .choose = choose_drawn,
     .operate = get},
    {.name = "readmissing",
     .meaning = "get keys that were never written, between those that were",
     .choose = choose_drawn,
     .operate = get,
     .absent = true},
    {.name = "readhot",
     .meaning = "get keys of the first 1 %",
     .choose = choose_hot,
     .operate = get},
    {.name = "readseq",
     .meaning = "go over all pairs, each thread over all",
     .operate = sweep,
     .sweeps = true},
    {.name = "readreverse",
     .meaning = "the same from the end",
     .operate = sweep,
     .sweeps = true,
     .back = true},
    {.name = "seekrandom",
     .meaning = "make an iterator, seek to a key, step on, end it",
     .choose = choose_drawn,
     .operate = seek},
    {.name = "multireadrandom",
     .meaning = "get --batch keys by one call; latencies are of calls",
     .choose = choose_drawn,
     .operate = get_many,
     .many = true},
    {.name = "readwhilewriting",
     .meaning = "readrandom, and one more thread that overwrites",
     .choose = choose_drawn,
     .operate = get,
     .beside = true},
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
    return bench_keyset_total(bed->keys) * (bed->pairs->key_bytes + bed->pairs->value_bytes);
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
    bench_distribution_init(&hand->distribution, bed->load.distribution);
    bench_permutation_init(&hand->order, bed->load.keys,
                           bench_scramble(bed->load.seed + crew->stream));
    hand->there = crew->workload->sweeps ? bench_keyset_total(bed->keys) : 0;
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
run_threads(const struct crew *crew, struct bench_job *job, struct bench_outcome *outcome)
{
    const struct bench_workload *workload = crew->workload;
    const struct bench_load *load = &crew->bed->load;
    struct bench_driven *driven = bench_alloc(sizeof *driven);
    bool reads = workload->operate == get || workload->operate == seek || workload->many;
    struct bench_drive drive = {.argument = (void *)(uintptr_t)crew,
                                .threads = load->threads,
                                .operations = workload->writes ? load->writes : load->reads,
                                .seconds = load->duration,
                                .kinds = workload->beside ? 2 : 1,
                                .sample = workload->many ? 1 : load->sample,
                                .prepared = workload->many ? 1
                                            : reads        ? PREPARED
                                                           : 0,
                                .begin = begin,
                                .end = end,
                                .prepare = prepare,
                                .operate = workload->operate,
                                .beside = workload->beside ? overwrite : NULL};

    if (workload->sync)
        drive.operations = (drive.operations + SYNC_SHARE - 1) / SYNC_SHARE;
    if (load->duration > 0 && !workload->fresh)
        drive.operations = UINT64_MAX;
    if (workload->many && drive.operations != UINT64_MAX)
        drive.operations = (drive.operations + load->batch - 1) / load->batch;
    if (workload->sweeps)
        drive.operations = load->threads;
    bench_drive_run(&drive, driven);
    bench_outcome_set_rate(outcome, driven->counts[0], driven->seconds,
                           workload->sweeps ? NULL : &driven->latencies[0]);
    bench_outcome_set_answers(outcome, driven);
    if (driven->counts[0] > 0)
        outcome->values[BENCH_CPU_EACH] = driven->cpu_seconds * 1e6 / (double)driven->counts[0];
    if (workload->beside) {
        bench_job_add_part(job, outcome, "read", driven->counts[0], &driven->latencies[0]);
        bench_job_add_part(job, outcome, "write", driven->counts[1], &driven->latencies[1]);
    }
    free(driven);
}

struct bench_outcome *
bench_workload_run(const struct bench_workload *workload, const struct bench_bed *bed,
                   struct bench_job *job, const char *operation, uint64_t stream)
{
    const struct crew crew = {.bed = bed, .workload = workload, .stream = stream};
    struct bench_outcome *outcome =
        bench_job_begin(job, operation != NULL ? operation : workload->name, bed->load.threads);

    if (workload->operate != NULL) {
        run_threads(&crew, job, outcome);
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
