/* operation.c -- see tools/bench/workloads/operation.h. */
#include "tools/bench/workloads/operation.h"

#include "tools/bench/harness/permutation.h"

#include <stdlib.h>
#include <string.h>

/* Steps of a sweep between two looks at the clock. */
#define SWEEP_STEPS 1024

void
bench_worker_init(struct bench_worker *worker, const struct bench_bed *bed, uint64_t stream)
{
    *worker = (struct bench_worker){.bed = bed};
    worker->session = bed->store->attach(bed->opened);
    worker->random.state = bench_scramble(bed->load->seed ^ bench_scramble(stream));
    bench_distribution_init(&worker->distribution, bed->load->distribution);
    worker->keys = bench_alloc(BENCH_MOST_BATCH * bed->pairs->key_bytes);
    worker->latencies = bench_alloc(sizeof *worker->latencies);
}

void
bench_worker_free(struct bench_worker *worker)
{
    worker->bed->store->detach(worker->session);
    free(worker->keys);
    free(worker->latencies);
}

/* ---- writes ---- */

static uint64_t
put(struct bench_worker *worker, uint64_t number)
{
    const struct bench_bed *bed = worker->bed;
    petal_slice key = bench_pairs_key(bed->pairs, number, false, worker->keys);
    petal_slice value = bench_pairs_value(bed->pairs, number);

    bed->store->put(worker->session, key, value);
    bench_keyset_add(bed->keys, number);
    worker->given += key.size + value.size;
    return 1;
}

static uint64_t
next_number(struct bench_worker *worker)
{
    return bench_distribution_next(&worker->distribution, &worker->random, worker->bed->load->keys);
}

uint64_t
bench_put_in_order(struct bench_worker *worker, uint64_t position)
{
    return put(worker, position % worker->bed->load->keys);
}

uint64_t
bench_put_any(struct bench_worker *worker, uint64_t position)
{
    (void)position;
    return put(worker, bench_random_below(&worker->random, worker->bed->load->keys));
}

uint64_t
bench_put_unique(struct bench_worker *worker, uint64_t position)
{
    uint64_t keys = worker->bed->load->keys;
    struct bench_permutation permutation;

    bench_permutation_init(&permutation, keys, worker->order_seed);
    return put(worker, bench_permutation_at(&permutation, position % keys));
}

uint64_t
bench_overwrite(struct bench_worker *worker, uint64_t position)
{
    (void)position;
    return put(worker, next_number(worker));
}

uint64_t
bench_delete(struct bench_worker *worker, uint64_t position)
{
    const struct bench_bed *bed = worker->bed;
    uint64_t number = next_number(worker);
    petal_slice key = bench_pairs_key(bed->pairs, number, false, worker->keys);

    (void)position;
    bed->store->remove(worker->session, key);
    bench_keyset_remove(bed->keys, number);
    worker->given += key.size;
    return 1;
}

/* ---- reads ---- */

/* `had`: the key was there before the read. */
static void
judge(struct bench_worker *worker, uint64_t number, bool had, bool found, petal_slice value)
{
    if (found) {
        worker->found++;
        worker->answered += worker->bed->pairs->key_bytes + value.size;
        if (!bench_pairs_is_right(worker->bed->pairs, number, value) ||
            (!had && !worker->beside_writer))
            worker->wrong++;
    } else if (had) {
        worker->wrong++;
    }
}

static uint64_t
get(struct bench_worker *worker, uint64_t number, bool absent)
{
    const struct bench_bed *bed = worker->bed;
    petal_slice key = bench_pairs_key(bed->pairs, number, absent, worker->keys), value;
    bool had = !absent && bench_keyset_has(bed->keys, number);
    bool found = bed->store->get(worker->session, key, &value);

    judge(worker, number, had, found, value);
    if (absent && found)
        worker->wrong++;
    return 1;
}

uint64_t
bench_get(struct bench_worker *worker, uint64_t position)
{
    (void)position;
    return get(worker, next_number(worker), false);
}

uint64_t
bench_get_missing(struct bench_worker *worker, uint64_t position)
{
    (void)position;
    return get(worker, next_number(worker), true);
}

uint64_t
bench_get_hot(struct bench_worker *worker, uint64_t position)
{
    uint64_t hot = (worker->bed->load->keys + 99) / 100;

    (void)position;
    return get(worker, bench_random_below(&worker->random, hot), false);
}

uint64_t
bench_get_many(struct bench_worker *worker, uint64_t position)
{
    const struct bench_bed *bed = worker->bed;
    uint64_t numbers[BENCH_MOST_BATCH], batch = bed->load->batch, made = 0;
    petal_slice keys[BENCH_MOST_BATCH], values[BENCH_MOST_BATCH];
    bool had[BENCH_MOST_BATCH];

    (void)position;
    do { /* there is one at least */
        numbers[made] = next_number(worker);
        keys[made] = bench_pairs_key(bed->pairs, numbers[made], false,
                                     worker->keys + made * bed->pairs->key_bytes);
        had[made] = bench_keyset_has(bed->keys, numbers[made]);
        made++;
    } while (made < batch);
    if (bed->store->get_many != NULL) {
        bed->store->get_many(worker->session, keys, batch, values);
        for (uint64_t i = 0; i < batch; i++)
            judge(worker, numbers[i], had[i], values[i].data != NULL, values[i]);
        return batch;
    }
    for (uint64_t i = 0; i < batch; i++) {
        bool found = bed->store->get(worker->session, keys[i], &values[i]);

        judge(worker, numbers[i], had[i], found, values[i]);
    }
    return batch;
}

/* ---- iteration ---- */

static void
take(struct bench_worker *worker, const struct bench_pair *pair)
{
    worker->answered += pair->key.size + pair->value.size;
    if (pair->value.size > 0)
        worker->sink ^= *(const uint8_t *)pair->value.data;
}

/* Found: the key itself, not one behind it. */
uint64_t
bench_seek(struct bench_worker *worker, uint64_t position)
{
    const struct bench_bed *bed = worker->bed;
    uint64_t number = next_number(worker);
    petal_slice key = bench_pairs_key(bed->pairs, number, false, worker->keys);
    bool had = bench_keyset_has(bed->keys, number), there, found;
    void *iterator = bed->store->iterate(worker->session);
    struct bench_pair pair;

    (void)position;
    there = bed->store->seek(iterator, key, &pair);
    found = there && pair.key.size == key.size && memcmp(pair.key.data, key.data, key.size) == 0;
    judge(worker, number, had, found, pair.value);
    if (there && !found) {
        worker->answered += pair.key.size + pair.value.size;
        if (pair.key.size != key.size || memcmp(pair.key.data, key.data, key.size) < 0)
            worker->wrong++;
    }
    for (uint64_t i = 0; there && i < bed->load->nexts; i++) {
        there = bed->store->next(iterator, &pair);
        if (there)
            take(worker, &pair);
    }
    bed->store->end_iterate(iterator);
    return 1;
}

void
bench_sweep(struct bench_worker *worker, bool back, double until)
{
    const struct bench_store *store = worker->bed->store;
    uint64_t reads = worker->bed->load->reads, there = bench_keyset_total(worker->bed->keys);
    uint64_t seen = 0;
    void *iterator = store->iterate(worker->session);
    struct bench_pair pair;
    bool more =
        back ? store->last(iterator, &pair) : store->seek(iterator, (petal_slice){NULL, 0}, &pair);

    while (more) {
        take(worker, &pair);
        if (++seen == reads || (until > 0 && seen % SWEEP_STEPS == 0 && bench_now() >= until))
            break;
        more = back ? store->previous(iterator, &pair) : store->next(iterator, &pair);
    }
    store->end_iterate(iterator);
    worker->operations += seen;
    worker->found += seen;
    if (seen > there)
        worker->wrong += seen - there;
    else if (!more) /* it came to the end */
        worker->wrong += there - seen;
}
