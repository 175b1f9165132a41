/* ycsb_mix.c -- see tools/bench/workloads/ycsb_mix.h. */
#include "tools/bench/workloads/ycsb_mix.h"

#include "tools/bench/keys/fields.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES      32
#define MOST_SCAN_ROWS 100

const struct bench_ycsb_mix bench_ycsb_load = {.name = "ycsb-load",
                                               .percent = {[BENCH_YCSB_INSERT] = 100}};

static const struct bench_ycsb_mix mixes[] = {
    {.letter = 'A',
     .name = "ycsb-a",
     .percent = {[BENCH_YCSB_READ] = 50, [BENCH_YCSB_UPDATE] = 50}},
    {.letter = 'B', .name = "ycsb-b", .percent = {[BENCH_YCSB_READ] = 95, [BENCH_YCSB_UPDATE] = 5}},
    {.letter = 'C', .name = "ycsb-c", .percent = {[BENCH_YCSB_READ] = 100}},
    {.letter = 'D',
     .name = "ycsb-d",
     .percent = {[BENCH_YCSB_READ] = 95, [BENCH_YCSB_INSERT] = 5},
     .latest = true},
    {.letter = 'E', .name = "ycsb-e", .percent = {[BENCH_YCSB_SCAN] = 95, [BENCH_YCSB_INSERT] = 5}},
    {.letter = 'F',
     .name = "ycsb-f",
     .percent = {[BENCH_YCSB_READ] = 50, [BENCH_YCSB_MODIFY] = 50}},
};

static const char *const kind_names[BENCH_YCSB_KINDS] = {"read", "update", "insert", "scan",
                                                         "read-modify-write"};

static const char *const field_names[BENCH_YCSB_FIELDS] = {"field0", "field1", "field2", "field3",
                                                           "field4", "field5", "field6", "field7",
                                                           "field8", "field9"};

struct member {
    struct bench_ycsb *ycsb;
    const struct bench_ycsb_mix *mix;
    pthread_t thread;
    unsigned index;
    pthread_barrier_t *start;
    uint64_t operations;
    uint64_t items; /* that a zipf draws from: records, and those that may come */
    struct bench_random random;
    struct bench_distribution distribution;
    struct bench_record record;
    uint64_t counts[BENCH_YCSB_KINDS], found, wrong, given, answered;
    struct bench_histogram latencies[BENCH_YCSB_KINDS];
    double began, ended;
};

const struct bench_ycsb_mix *
bench_ycsb_mix_named(char letter)
{
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
        if ((mixes[i].letter | 0x20) == (letter | 0x20))
            return &mixes[i];
    }
    return NULL;
}

void
bench_ycsb_init(struct bench_ycsb *ycsb, const struct bench_store *store,
                const struct bench_pairs *values, unsigned threads, uint64_t seed)
{
    memset(ycsb, 0, sizeof *ycsb);
    ycsb->store = store;
    ycsb->values = values;
    ycsb->threads = threads;
    ycsb->seed = seed;
    for (size_t i = 0; i < BENCH_MOST_THREADS; i++)
        atomic_store(&ycsb->inserting[i], UINT64_MAX);
}

/* ---- which record ---- */

/* Records 0 .. this - 1 are written. A thread that inserts shows a bound before it takes a number: so none is missed. */
static uint64_t
records_there(const struct bench_ycsb *ycsb)
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
choose(struct member *member)
{
    uint64_t there = records_there(member->ycsb), number;

    if (member->mix->latest)
        return bench_distribution_next(&member->distribution, &member->random, there);
    do
        number = bench_distribution_next(&member->distribution, &member->random, member->items);
    while (number >= there);
    return number;
}

/* ---- operations ---- */

static struct bench_field
field_of(struct member *member, size_t index)
{
    return (struct bench_field){
        bench_text(field_names[index]),
        bench_pairs_value(member->ycsb->values, bench_random_next(&member->random))};
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
insert(struct member *member)
{
    struct bench_ycsb *ycsb = member->ycsb;
    struct bench_field fields[BENCH_YCSB_FIELDS];
    char text[ROW_BYTES];
    petal_slice row;
    uint64_t bytes;

    atomic_store(&ycsb->inserting[member->index], atomic_load(&ycsb->next_record));
    row = row_of(atomic_fetch_add(&ycsb->next_record, 1), text);
    for (size_t i = 0; i < BENCH_YCSB_FIELDS; i++)
        fields[i] = field_of(member, i);
    bench_record_put(&member->record, row, fields, BENCH_YCSB_FIELDS);
    atomic_store(&ycsb->inserting[member->index], UINT64_MAX);
    bytes = row.size + bytes_of(fields, BENCH_YCSB_FIELDS);
    member->given += bytes;
    atomic_fetch_add(&ycsb->live_bytes, bytes);
}

static void
update(struct member *member, petal_slice row)
{
    struct bench_field field =
        field_of(member, (size_t)bench_random_below(&member->random, BENCH_YCSB_FIELDS));

    bench_record_put(&member->record, row, &field, 1);
    member->given += row.size + bytes_of(&field, 1);
}

static void
read_all(struct member *member, petal_slice row)
{
    struct bench_field fields[BENCH_MOST_FIELDS];
    size_t count = bench_record_get(&member->record, row, fields, BENCH_MOST_FIELDS);
    bool right = count == BENCH_YCSB_FIELDS;

    for (size_t i = 0; right && i < count; i++)
        right = fields[i].value.size == BENCH_YCSB_FIELD_BYTES &&
                fields[i].name.size == strlen(field_names[i]) &&
                memcmp(fields[i].name.data, field_names[i], fields[i].name.size) == 0;
    member->found += count > 0;
    member->wrong += !right;
    if (count > 0)
        member->answered += row.size + bytes_of(fields, count);
}

/* What a scan answers is reckoned from the number of its fields: a row is about as long as the first. */
static void
scan(struct member *member, petal_slice row)
{
    size_t rows = 1 + (size_t)bench_random_below(&member->random, MOST_SCAN_ROWS);
    size_t fields = bench_record_scan(&member->record, row, rows);

    member->found += fields > 0;
    member->wrong += fields < BENCH_YCSB_FIELDS || fields > rows * BENCH_YCSB_FIELDS ||
                     fields % BENCH_YCSB_FIELDS != 0;
    member->answered += fields * (strlen(field_names[0]) + BENCH_YCSB_FIELD_BYTES) +
                        fields / BENCH_YCSB_FIELDS * row.size;
}

static enum bench_ycsb_kind
operate(struct member *member)
{
    uint64_t chance = bench_random_below(&member->random, 100);
    unsigned kind = 0;
    char text[ROW_BYTES];
    petal_slice row;

    while (chance >= member->mix->percent[kind])
        chance -= member->mix->percent[kind++];
    if (kind == BENCH_YCSB_INSERT) {
        insert(member);
        return BENCH_YCSB_INSERT;
    }
    row = row_of(choose(member), text);
    if (kind == BENCH_YCSB_READ || kind == BENCH_YCSB_MODIFY)
        read_all(member, row);
    if (kind == BENCH_YCSB_UPDATE || kind == BENCH_YCSB_MODIFY)
        update(member, row);
    if (kind == BENCH_YCSB_SCAN)
        scan(member, row);
    return (enum bench_ycsb_kind)kind;
}

/* ---- threads ---- */

static void *
work(void *argument)
{
    struct member *member = argument;
    double last;

    pthread_barrier_wait(member->start);
    last = member->began = bench_now();
    for (uint64_t i = 0; i < member->operations; i++) {
        enum bench_ycsb_kind kind = operate(member);
        double now = bench_now();

        bench_histogram_add(&member->latencies[kind], (uint64_t)((now - last) * 1e9));
        member->counts[kind]++;
        last = now;
    }
    member->ended = last;
    return NULL;
}

static void
member_init(struct member *member, struct bench_ycsb *ycsb, const struct bench_ycsb_mix *mix,
            uint64_t operations, uint64_t stream)
{
    uint64_t records = atomic_load(&ycsb->next_record);

    member->ycsb = ycsb;
    member->mix = mix;
    member->operations = operations * (member->index + 1) / ycsb->threads -
                         operations * member->index / ycsb->threads;
    /* As YCSB: twice the insertions expected. */
    member->items = records + 2 * operations * mix->percent[BENCH_YCSB_INSERT] / 100;
    member->random.state =
        bench_scramble(ycsb->seed ^ bench_scramble(stream * 1024 + member->index));
    bench_distribution_init(&member->distribution, mix->latest ? BENCH_LATEST : BENCH_SCRAMBLED);
    bench_record_init(&member->record, ycsb->store, ycsb->store->attach(ycsb->opened));
}

static void
gather(const struct member *members, struct bench_ycsb *ycsb, struct bench_outcome *outcome)
{
    struct bench_histogram *all = bench_alloc(sizeof *all);

    for (unsigned kind = 0; kind < BENCH_YCSB_KINDS; kind++) {
        struct bench_histogram *latencies = bench_alloc(sizeof *latencies);
        uint64_t count = 0;

        for (unsigned i = 0; i < ycsb->threads; i++) {
            count += members[i].counts[kind];
            bench_histogram_merge(latencies, &members[i].latencies[kind]);
        }
        if (count > 0)
            bench_part_set(&outcome->parts[outcome->part_count++], kind_names[kind], count,
                           latencies);
        bench_histogram_merge(all, latencies);
        outcome->all.count += count;
        free(latencies);
    }
    for (unsigned i = 0; i < ycsb->threads; i++) {
        outcome->found += members[i].found;
        outcome->wrong += members[i].wrong;
        outcome->given += members[i].given;
        outcome->answered += members[i].answered;
    }
    bench_part_set(&outcome->all, outcome->workload, outcome->all.count, all);
    free(all);
}

void
bench_ycsb_run(struct bench_ycsb *ycsb, const struct bench_ycsb_mix *mix, uint64_t operations,
               uint64_t stream, struct bench_outcome *outcome)
{
    struct member *members = bench_alloc(ycsb->threads * sizeof *members);
    pthread_barrier_t start;
    double began = 0, ended = 0;

    pthread_barrier_init(&start, NULL, ycsb->threads);
    for (unsigned i = 0; i < ycsb->threads; i++) {
        members[i].index = i;
        members[i].start = &start;
        member_init(&members[i], ycsb, mix, operations, stream);
        if (pthread_create(&members[i].thread, NULL, work, &members[i]) != 0)
            bench_fail("start a thread", "no resources");
    }
    for (unsigned i = 0; i < ycsb->threads; i++) {
        pthread_join(members[i].thread, NULL);
        began = i == 0 || members[i].began < began ? members[i].began : began;
        ended = members[i].ended > ended ? members[i].ended : ended;
        ycsb->store->detach(members[i].record.session);
        bench_record_free(&members[i].record);
    }
    outcome->seconds = ended - began;
    gather(members, ycsb, outcome);
    pthread_barrier_destroy(&start);
    free(members);
}
