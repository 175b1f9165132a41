/*
 * agree.c -- `kv-bench agree`: do the stores answer alike?
 *
 * Each store gets the same random puts, batches, removals, flushes and compactions, and is held
 * against what it should hold (tools/bench/agree/model.h): every key by get and by get_many, whole
 * scans both ways, seeks with a walk to and fro behind them; and records of named fields.  So the
 * benchmarks compare stores that do the same work, and not an adapter's mistake.
 */
#include "tools/bench/agree/model.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/directory.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/keys/fields.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_MOST  24 /* pairs of a batch */
#define GROUP_MOST  50 /* keys of a get_many */
#define SEEKS       500
#define WALK_STEPS  8
#define PARTS       6 /* of the operations; each ends with a comparison */
#define RECORDS     300
#define FIELDS      10
#define FIELD_BYTES 20
#define ROW_BYTES   16

struct settings {
    uint64_t count; /* operations */
    uint64_t seed;
    struct bench_config config;
};

struct agreement {
    const struct bench_store *store;
    void *opened, *session;
    struct bench_model model;
    struct bench_random random;
    uint64_t done;     /* operations */
    uint64_t compared; /* answers */
};

/* ---- what differs ---- */

static void
print_slice(const char *what, petal_slice slice, size_t most)
{
    printf("%s %zu bytes", what, slice.size);
    for (size_t i = 0; i < slice.size && i < most; i++)
        printf("%s%02x", i == 0 ? " " : "", ((const uint8_t *)slice.data)[i]);
    printf("%s\n", slice.size > most ? ".." : "");
}

/* Say how the answer differs; `number` is the key that should be there, UINT32_MAX: none. Always
 * false. */
static bool
differ(const struct agreement *agreement, const char *action, uint32_t number, bool found,
       const struct bench_pair *pair)
{
    const struct bench_model *model = &agreement->model;
    struct bench_model_key key;
    struct bench_model_value value;

    printf("%s DIFFERS after %llu operations, in %s\n", agreement->store->name,
           (unsigned long long)agreement->done, action);
    if (number != UINT32_MAX)
        bench_model_key(&key, number);
    if (number != UINT32_MAX)
        print_slice("  key wanted:  ", key.slice, BENCH_MODEL_KEY_BYTES);
    if (number == UINT32_MAX || model->versions[number] == 0) {
        puts("  wanted:       nothing");
    } else {
        bench_model_value(&value, number, model->versions[number]);
        print_slice("  value wanted:", value.slice, 24);
    }
    if (!found) {
        puts("  found:        nothing");
        return false;
    }
    if (pair->key.data != NULL)
        print_slice("  key found:   ", pair->key, BENCH_MODEL_KEY_BYTES);
    print_slice("  value found: ", pair->value, 24);
    return false;
}

/* ---- comparing ---- */

static bool
compare_gets(struct agreement *agreement)
{
    for (uint32_t number = 0; number < agreement->model.keys; number++) {
        struct bench_model_key key;
        struct bench_pair pair = {{NULL, 0}, {NULL, 0}};
        bool found;

        bench_model_key(&key, number);
        found = agreement->store->get(agreement->session, key.slice, &pair.value);
        if (!bench_model_has(&agreement->model, number, found, pair.value))
            return differ(agreement, "a get", number, found, &pair);
        agreement->compared++;
    }
    return true;
}

/* Groups of keys in any order, some of them twice. */
static bool
compare_groups(struct agreement *agreement)
{
    struct bench_model_key keys[GROUP_MOST];
    petal_slice slices[GROUP_MOST] = {{NULL, 0}}, values[GROUP_MOST];
    uint32_t numbers[GROUP_MOST], count;

    if (agreement->store->get_many == NULL)
        return true;
    for (uint32_t done = 0; done < agreement->model.keys; done += count) {
        count = 1 + (uint32_t)bench_random_below(&agreement->random, GROUP_MOST);
        for (uint32_t i = 0; i < count; i++) {
            numbers[i] = (uint32_t)bench_random_below(&agreement->random, agreement->model.keys);
            bench_model_key(&keys[i], numbers[i]);
            slices[i] = keys[i].slice;
        }
        agreement->store->get_many(agreement->session, slices, count, values);
        for (uint32_t i = 0; i < count; i++) {
            struct bench_pair pair = {{NULL, 0}, values[i]};
            bool found = values[i].data != NULL;

            if (!bench_model_has(&agreement->model, numbers[i], found, values[i]))
                return differ(agreement, "a get of many", numbers[i], found, &pair);
            agreement->compared++;
        }
    }
    return true;
}

/* Whether a step of an iterator came to present[place]; SIZE_MAX and present_count: to no pair. */
static bool
compare_step(struct agreement *agreement, const char *action, size_t place, bool found,
             const struct bench_pair *pair)
{
    const struct bench_model *model = &agreement->model;
    struct bench_model_key key;
    uint32_t number;

    agreement->compared++;
    if (place >= model->present_count)
        return !found || differ(agreement, action, UINT32_MAX, found, pair);
    number = model->present[place];
    bench_model_key(&key, number);
    return (found && pair->key.size == key.slice.size &&
            memcmp(pair->key.data, key.bytes, key.slice.size) == 0 &&
            bench_model_has(model, number, true, pair->value)) ||
           differ(agreement, action, number, found, pair);
}

static bool
compare_scans(struct agreement *agreement, void *iterator)
{
    const struct bench_store *store = agreement->store;
    size_t count = agreement->model.present_count;
    struct bench_pair pair;
    bool found = store->seek(iterator, (petal_slice){NULL, 0}, &pair);

    for (size_t place = 0; place <= count; place++) {
        if (!compare_step(agreement, "a scan", place, found, &pair))
            return false;
        found = found && store->next(iterator, &pair);
    }
    found = store->last(iterator, &pair);
    for (size_t place = count; place-- > 0;) {
        if (!compare_step(agreement, "a scan backwards", place, found, &pair))
            return false;
        found = store->previous(iterator, &pair);
    }
    return compare_step(agreement, "a scan backwards", SIZE_MAX, found, &pair);
}

/* From present[place], where the iterator is, a few steps to and fro, and over an end. */
static bool
compare_walk(struct agreement *agreement, void *iterator, size_t place)
{
    const struct bench_store *store = agreement->store;

    for (int i = 0; i < WALK_STEPS && place < agreement->model.present_count; i++) {
        bool back = bench_random_below(&agreement->random, 2) == 0;
        struct bench_pair pair;
        bool found = back ? store->previous(iterator, &pair) : store->next(iterator, &pair);

        place += back ? SIZE_MAX : 1; /* below the first it wraps: no place */
        if (!compare_step(agreement, back ? "a step back" : "a step", place, found, &pair))
            return false;
    }
    return true;
}

static bool
compare_seek(struct agreement *agreement, void *iterator, petal_slice key, size_t place)
{
    struct bench_pair pair;
    bool found = agreement->store->seek(iterator, key, &pair);

    return compare_step(agreement, "a seek", place, found, &pair) &&
           compare_walk(agreement, iterator, place);
}

static bool
compare_seeks(struct agreement *agreement, void *iterator)
{
    static const uint8_t behind[9] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    const struct bench_model *model = &agreement->model;

    for (int i = 0; i < SEEKS; i++) {
        uint32_t number = (uint32_t)bench_random_below(&agreement->random, model->keys);
        struct bench_model_key key;

        bench_model_key(&key, number);
        if (!compare_seek(agreement, iterator, key.slice, bench_model_seek(model, number)))
            return false;
    }
    return compare_seek(agreement, iterator, (petal_slice){"", 1}, 0) &&
           compare_seek(agreement, iterator, (petal_slice){behind, sizeof behind},
                        model->present_count) &&
           compare_seek(agreement, iterator, (petal_slice){NULL, 0}, 0);
}

static bool
compare(struct agreement *agreement)
{
    void *iterator;
    bool alike;

    bench_model_look(&agreement->model);
    if (!compare_gets(agreement) || !compare_groups(agreement))
        return false;
    iterator = agreement->store->iterate(agreement->session);
    alike = compare_seeks(agreement, iterator) && compare_scans(agreement, iterator);
    agreement->store->end_iterate(iterator);
    return alike;
}

/* ---- operations ---- */

static uint32_t
any_number(struct agreement *agreement)
{
    /* The last eighth of the keys is never put. */
    return (uint32_t)bench_random_below(&agreement->random,
                                        agreement->model.keys - agreement->model.keys / 8);
}

/* Numbers may come twice: the last one holds. */
static void
put_batch(struct agreement *agreement)
{
    size_t count = 1 + (size_t)bench_random_below(&agreement->random, BATCH_MOST);
    struct bench_model_key keys[BATCH_MOST];
    struct bench_model_value *values = bench_alloc(count * sizeof *values);
    struct bench_pair pairs[BATCH_MOST];

    for (size_t i = 0; i < count; i++) {
        uint32_t number = any_number(agreement);

        bench_model_key(&keys[i], number);
        bench_model_value(&values[i], number, bench_model_put(&agreement->model, number));
        pairs[i] = (struct bench_pair){keys[i].slice, values[i].slice};
    }
    agreement->store->put_many(agreement->session, pairs, count);
    free(values);
}

static void
operate(struct agreement *agreement)
{
    uint64_t choice = bench_random_below(&agreement->random, 100);
    uint32_t number = any_number(agreement);
    struct bench_model_key key;
    struct bench_model_value value;

    agreement->done++;
    bench_model_key(&key, number);
    if (choice >= 93) {
        put_batch(agreement);
    } else if (choice >= 70) {
        bench_model_remove(&agreement->model, number);
        agreement->store->remove(agreement->session, key.slice);
    } else {
        bench_model_value(&value, number, bench_model_put(&agreement->model, number));
        agreement->store->put(agreement->session, key.slice, value.slice);
    }
}

/* What comes between the operations of two parts and the comparison. */
static void
disturb(struct agreement *agreement, int part, const char *directory,
        const struct bench_config *config)
{
    const struct bench_store *store = agreement->store;

    if (part % 3 == 1 && store->flush != NULL)
        store->flush(agreement->opened);
    if (part % 3 == 2 && store->compact != NULL)
        store->compact(agreement->opened);
    if (part % 2 == 1) {
        store->detach(agreement->session);
        store->close(agreement->opened);
        agreement->opened = store->open(directory, config);
        agreement->session = store->attach(agreement->opened);
    }
    if (store->wait != NULL)
        store->wait(agreement->opened);
}

static bool
run_pairs(struct agreement *agreement, const struct settings *settings)
{
    char directory[512];
    bool alike = true;

    bench_make_directory(directory, sizeof directory);
    agreement->opened = agreement->store->open(directory, &settings->config);
    agreement->session = agreement->store->attach(agreement->opened);
    alike = compare(agreement); /* while it is empty */
    for (int part = 0; part < PARTS && alike; part++) {
        while (agreement->done < settings->count * (uint64_t)(part + 1) / PARTS)
            operate(agreement);
        disturb(agreement, part, directory, &settings->config);
        alike = compare(agreement);
    }
    agreement->store->detach(agreement->session);
    agreement->store->close(agreement->opened);
    bench_remove_directory(directory);
    return alike;
}

/* ---- records ---- */

/* Rows lie in the order of their numbers; every number 10 n begins another's. */
static petal_slice
row_of(uint32_t number, char row[ROW_BYTES])
{
    int size = snprintf(row, ROW_BYTES, number % 10 == 0 ? "row%03u" : "row%03u-%u", number / 10,
                        number % 10);

    return (petal_slice){row, (size_t)size};
}

/* All fields of a row, in the order of their names. */
static void
make_fields(struct bench_field fields[FIELDS], uint8_t values[FIELDS][FIELD_BYTES], uint32_t row,
            uint32_t version)
{
    static const char names[FIELDS + 1] = "0123456789";

    for (uint32_t i = 0; i < FIELDS; i++) {
        bench_value(values[i], FIELD_BYTES, (uint64_t)row << 32 | version << 8 | i);
        fields[i] = (struct bench_field){{&names[i], 1}, {values[i], FIELD_BYTES}};
    }
}

static bool
same(petal_slice a, petal_slice b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Each row was put whole, then its odd fields again. */
static bool
compare_record(struct bench_record *record, uint32_t number)
{
    struct bench_field got[FIELDS + 1], wanted[2][FIELDS];
    uint8_t values[2][FIELDS][FIELD_BYTES];
    char text[ROW_BYTES];
    petal_slice row = row_of(number, text);
    size_t count;

    make_fields(wanted[0], values[0], number, 0);
    make_fields(wanted[1], values[1], number, 1);
    count = bench_record_get(record, row, got, FIELDS + 1);
    for (size_t i = 0; i < FIELDS; i++) {
        if (count != FIELDS || !same(got[i].name, wanted[0][i].name) ||
            !same(got[i].value, wanted[i % 2][i].value)) {
            printf("%s DIFFERS in field %zu of record %u, which has %zu fields\n",
                   record->store->name, i, number, count);
            return false;
        }
    }
    if (bench_record_get(record, row, got, 3) == 3)
        return true;
    printf("%s DIFFERS in the first fields of record %u\n", record->store->name, number);
    return false;
}

static bool
compare_records(struct bench_record *record)
{
    char text[ROW_BYTES];
    size_t five, all;

    for (uint32_t number = 0; number < RECORDS; number++) {
        if (!compare_record(record, number))
            return false;
    }
    five = bench_record_scan(record, row_of(2, text), 5);
    all = bench_record_scan(record, row_of(2, text), RECORDS);
    if (five == (size_t)5 * FIELDS && all == (size_t)(RECORDS - 2) * FIELDS)
        return true;
    printf("%s DIFFERS in scans of records: %zu and %zu fields\n", record->store->name, five, all);
    return false;
}

static void
put_records(const struct agreement *agreement, struct bench_record *record)
{
    struct bench_field fields[FIELDS], odd[FIELDS / 2];
    uint8_t values[FIELDS][FIELD_BYTES];
    char text[ROW_BYTES];

    for (uint32_t number = 0; number < RECORDS; number++) {
        make_fields(fields, values, number, 0);
        bench_record_put(record, row_of(number, text), fields, FIELDS);
    }
    if (agreement->store->flush != NULL)
        agreement->store->flush(agreement->opened);
    for (uint32_t number = 0; number < RECORDS; number++) {
        make_fields(fields, values, number, 1);
        for (size_t i = 0; i < FIELDS / 2; i++)
            odd[i] = fields[2 * i + 1];
        bench_record_put(record, row_of(number, text), odd, FIELDS / 2);
    }
}

static bool
run_records(struct agreement *agreement, const struct settings *settings)
{
    char directory[512];
    struct bench_record record;
    bool alike;

    bench_make_directory(directory, sizeof directory);
    agreement->opened = agreement->store->open(directory, &settings->config);
    agreement->session = agreement->store->attach(agreement->opened);
    bench_record_init(&record, agreement->store, agreement->session);
    put_records(agreement, &record);
    alike = compare_records(&record);
    bench_record_free(&record);
    agreement->store->detach(agreement->session);
    agreement->store->close(agreement->opened);
    bench_remove_directory(directory);
    return alike;
}

/* ---- the command ---- */

static bool
run_store(const struct bench_store *store, const struct settings *settings)
{
    struct agreement agreement = {.store = store, .random = {settings->seed}};
    bool alike;

    bench_model_init(&agreement.model, (uint32_t)(settings->count / 2));
    alike = run_pairs(&agreement, settings);
    bench_model_free(&agreement.model);
    alike = alike && run_records(&agreement, settings);
    if (alike)
        printf("%-10s agrees: %llu operations, %llu answers, and %d records\n", store->name,
               (unsigned long long)agreement.done, (unsigned long long)agreement.compared, RECORDS);
    fflush(stdout);
    return alike;
}

static void
usage(void)
{
    fputs("usage: kv-bench agree [options]\n"
          "Random puts, batches, removals, flushes, compactions and openings in each store,\n"
          "and every answer held against what it should be.  Options, with their defaults:\n"
          "  --store LIST           of petal,rocksdb,rocksdb-tuned,leveldb,lmdb,wiredtiger,\n"
          "                         as far as built in, or all; all\n"
          "  --operations N         20k\n"
          "  --seed N               1\n"
          "  --sync, --no-log, --no-compaction, --no-compression\n"
          "Exit status: 1 when one differs.\n",
          stderr);
}

int
bench_agree_main(int argc, char **argv)
{
    struct settings settings = {.count = 20000, .seed = 1, .config = bench_config_default()};
    const char *list = "all";
    bool no_log = false, no_compaction = false, no_compression = false;
    const struct bench_option options[] = {
        {"--store", BENCH_TEXT, &list},
        {"--operations", BENCH_COUNT, &settings.count},
        {"--seed", BENCH_COUNT, &settings.seed},
        {"--sync", BENCH_FLAG, &settings.config.sync},
        {"--no-log", BENCH_FLAG, &no_log},
        {"--no-compaction", BENCH_FLAG, &no_compaction},
        {"--no-compression", BENCH_FLAG, &no_compression},
    };
    const struct bench_store *stores[BENCH_MOST_STORES];
    size_t count;
    bool alike = true;

    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv))
        return bench_options_explain(usage);
    if (bench_refused(settings.count < 100 || settings.count > 100000000,
                      "--operations is from 100 to 100M") ||
        bench_refused(settings.config.sync && no_log, "--sync needs the log") ||
        !bench_stores_named(list, stores, &count))
        return 2;
    settings.config.log = !no_log;
    settings.config.compaction = !no_compaction;
    settings.config.compress = !no_compression;
    settings.config.cache_bytes = (size_t)8 << 20;
    settings.config.write_buffer_bytes = (size_t)256 << 10; /* many flushes */
    for (size_t i = 0; i < count && alike; i++)
        alike = run_store(stores[i], &settings);
    return alike ? 0 : 1;
}
