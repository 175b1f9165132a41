/* workload.c -- see tools/bench/workloads/workload.h. */
#include "tools/bench/workloads/workload.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SYNC_SHARE 1000 /* fillsync does one of so many operations */

static const struct bench_workload workloads[] = {
    {.name = "fillseq",
     .meaning = "write the keys in order",
     .operate = bench_put_in_order,
     .writes = true,
     .fresh = true},
    {.name = "fillrandom",
     .meaning = "write keys at random: some twice, some never",
     .operate = bench_put_any,
     .writes = true,
     .fresh = true},
    {.name = "filluniquerandom",
     .meaning = "write each key once, in random order",
     .operate = bench_put_unique,
     .writes = true,
     .fresh = true},
    {.name = "fillsync",
     .meaning = "write a thousandth of N keys at random, each on the medium before the next",
     .operate = bench_put_any,
     .writes = true,
     .fresh = true,
     .sync = true},
    {.name = "overwrite",
     .meaning = "write keys of the distribution into what is there",
     .operate = bench_overwrite,
     .writes = true},
    {.name = "deleterandom",
     .meaning = "delete keys of the distribution",
     .operate = bench_delete,
     .writes = true},
    {.name = "readrandom", .meaning = "get keys of the distribution", .operate = bench_get},
    {.name = "readmissing",
     .meaning = "get keys that were never written, between those that were",
     .operate = bench_get_missing},
    {.name = "readhot", .meaning = "get keys of the first 1 %", .operate = bench_get_hot},
    {.name = "readseq", .meaning = "go over all pairs, each thread over all", .way = BENCH_SWEEP},
    {.name = "readreverse", .meaning = "the same from the end", .way = BENCH_SWEEP_BACK},
    {.name = "seekrandom",
     .meaning = "make an iterator, seek to a key, step on, end it",
     .operate = bench_seek},
    {.name = "multireadrandom",
     .meaning = "get --batch keys by one call; latencies are of calls",
     .operate = bench_get_many},
    {.name = "readwhilewriting",
     .meaning = "readrandom, and one more thread that overwrites",
     .operate = bench_get,
     .beside_writer = true},
    {.name = "compact", .meaning = "merge all that there is", .way = BENCH_COMPACT},
    {.name = "flush", .meaning = "write what is in memory to files", .way = BENCH_FLUSH},
    {.name = "wait", .meaning = "until the background rests", .way = BENCH_WAIT},
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

void
bench_workload_list(void)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        fprintf(stderr, "  %-16s %s\n", workloads[i].name, workloads[i].meaning);
}

/* ---- threads ---- */

struct crew {
    const struct bench_workload *workload;
    const struct bench_bed *bed;
    uint64_t operations; /* of all threads but the writer beside them */
    pthread_barrier_t start;
    _Atomic(unsigned) running; /* without that writer */
};

struct member {
    struct crew *crew;
    pthread_t thread;
    unsigned index;
    bool writer;
    double began, ended;
    struct bench_worker worker;
};

/* Operations from `position` on, until `limit`, until its time has come, or, of a writer beside readers, until they are done. */
static void
operate(struct member *member, uint64_t position, uint64_t limit, double until)
{
    struct bench_worker *worker = &member->worker;
    bench_operation *operation = member->writer ? bench_overwrite : member->crew->workload->operate;
    double last = bench_now();

    while (position < limit && (until == 0 || last < until) &&
           (!member->writer || atomic_load(&member->crew->running) > 0)) {
        uint64_t done = operation(worker, position);
        double now = bench_now();

        bench_histogram_add(worker->latencies, (uint64_t)((now - last) * 1e9));
        worker->operations += done;
        position += done;
        last = now;
    }
}

static void *
work(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;
    const struct bench_load *load = crew->bed->load;
    uint64_t from = crew->operations * member->index / load->threads;
    uint64_t limit = crew->operations * (member->index + 1) / load->threads;
    double until;

    pthread_barrier_wait(&crew->start);
    member->began = bench_now();
    until = load->duration > 0 ? member->began + load->duration : 0;
    if (member->writer)
        operate(member, 0, UINT64_MAX, 0);
    else if (crew->workload->way != BENCH_EACH)
        bench_sweep(&member->worker, crew->workload->way == BENCH_SWEEP_BACK, until);
    else
        operate(member, from, until > 0 && !crew->workload->fresh ? UINT64_MAX : limit, until);
    if (!member->writer)
        atomic_fetch_sub(&crew->running, 1);
    member->ended = bench_now();
    return NULL;
}

static void
start(struct member *member)
{
    if (pthread_create(&member->thread, NULL, work, member) != 0)
        bench_fail("start a thread", "no resources");
}

/* Add what one thread did; the writer's operations count apart. */
static void
gather(const struct member *member, struct bench_outcome *outcome,
       struct bench_histogram *latencies)
{
    const struct bench_worker *worker = &member->worker;

    outcome->found += worker->found;
    outcome->wrong += worker->wrong;
    outcome->given += worker->given;
    outcome->answered += worker->answered;
    if (member->writer) {
        bench_part_set(&outcome->parts[1], "write", worker->operations, worker->latencies);
        outcome->part_count = 2;
    } else {
        outcome->all.count += worker->operations;
        bench_histogram_merge(latencies, worker->latencies);
    }
}

static void
run_crew(struct crew *crew, uint64_t stream, struct bench_outcome *outcome)
{
    unsigned readers = crew->bed->load->threads;
    unsigned count = readers + (crew->workload->beside_writer ? 1 : 0);
    struct member *members = bench_alloc(count * sizeof *members);
    struct bench_histogram *latencies = bench_alloc(sizeof *latencies);
    double began = 0, ended = 0;

    pthread_barrier_init(&crew->start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        members[i] = (struct member){.crew = crew, .index = i, .writer = i >= readers};
        bench_worker_init(&members[i].worker, crew->bed, stream * 1024 + i);
        members[i].worker.order_seed = bench_scramble(crew->bed->load->seed + stream);
        members[i].worker.beside_writer = crew->workload->beside_writer;
        start(&members[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(members[i].thread, NULL);
        if (i == 0 || members[i].began < began)
            began = members[i].began;
        if (!members[i].writer && members[i].ended > ended)
            ended = members[i].ended;
        gather(&members[i], outcome, latencies);
        bench_worker_free(&members[i].worker);
    }
    outcome->seconds = ended - began;
    bench_part_set(&outcome->all, crew->workload->name, outcome->all.count,
                   crew->workload->way == BENCH_EACH ? latencies : NULL);
    if (outcome->part_count > 0)
        bench_part_set(&outcome->parts[0], "read", outcome->all.count, latencies);
    pthread_barrier_destroy(&crew->start);
    free(latencies);
    free(members);
}

/* ---- a workload ---- */

static void
run_whole(const struct bench_workload *workload, const struct bench_bed *bed,
          struct bench_outcome *outcome)
{
    void (*act)(void *) = workload->way == BENCH_COMPACT ? bed->store->compact
                          : workload->way == BENCH_FLUSH ? bed->store->flush
                                                         : bed->store->wait;
    double began = bench_now();

    outcome->skipped = act == NULL;
    if (act == NULL)
        return;
    act(bed->opened);
    outcome->seconds = bench_now() - began;
    outcome->threads = 1;
    bench_part_set(&outcome->all, workload->name, 1, NULL);
}

void
bench_workload_run(const struct bench_workload *workload, const struct bench_bed *bed,
                   uint64_t stream, struct bench_outcome *outcome)
{
    struct crew crew = {.workload = workload, .bed = bed, .running = bed->load->threads};

    if (workload->way >= BENCH_COMPACT) {
        run_whole(workload, bed, outcome);
        return;
    }
    crew.operations = workload->writes ? bed->load->writes : bed->load->reads;
    if (workload->sync)
        crew.operations = (crew.operations + SYNC_SHARE - 1) / SYNC_SHARE;
    run_crew(&crew, stream, outcome);
}
