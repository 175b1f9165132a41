/*
 * dataset.h -- the cells that `fill` makes, so that each can be made again from its number: keys,
 * values, and the passes that wrote them. What the passes were is kept in a small table of the
 * database itself.
 *
 * A pass writes each of `cells` numbers out of 0 .. range - 1 once, in random or rising order.
 * Random order is a computed permutation (tools/bench/harness/permutation.h): it costs no memory,
 * and whether a pass wrote a number, and when, can be asked afterwards. A share of what a pass
 * wrote it deletes.
 *
 * Key of number n: 2 n in decimal digits, with zeros in front; so the odd ones lie between them and
 * are never written. With several families number n lies in family n modulo their count.
 *
 * Threads: pure, but for load and the recording of passes.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_DATASET_H
#define PETAL_TOOLS_BENCH_KEYS_DATASET_H

#include "engine/petal.h"
#include "tools/bench/harness/permutation.h"

#include <stdint.h>

#define BENCH_MOST_FAMILIES 16

/* ---- passes ---- */

struct bench_pass {
    uint64_t index; /* from 0 */
    uint64_t first; /* numbers are first .. first + range - 1 */
    uint64_t range, cells;
    uint64_t seed;
    double delete_share;
    bool random_order;
    bool overwrite; /* deletes instead of putting; a pass that makes cells puts and then deletes */
    bool complete;
};

/* The number at a position of the pass, 0 .. cells - 1. */
uint64_t bench_pass_number(const struct bench_pass *pass, uint64_t position);

/* Whether the pass leaves that number deleted. */
bool bench_pass_deletes(const struct bench_pass *pass, uint64_t number);

/* ---- data sets ---- */

/* Of the block cache, and of memtables, when no size is given: what is measured stays so when
 * Petal's own defaults change. */
#define BENCH_DATASET_MEMORY ((size_t)64 << 20)

struct bench_dataset {
    uint64_t count; /* numbers written so far: 0 .. count - 1 */
    uint64_t seed;
    size_t key_bytes, value_bytes, family_count;
    struct bench_pass *passes;
    size_t pass_count;
    petal_table *table;
    petal_table *notes; /* NULL when opened read-only and there are none */
    petal_family *families[BENCH_MOST_FAMILIES];
};

/* The data set in `db`; ends the program when there is none. */
void bench_dataset_load(struct bench_dataset *dataset, petal_db *db);

/* The same, or a new one with the sizes and the seed given. */
void bench_dataset_load_or_make(struct bench_dataset *dataset, petal_db *db);
void bench_dataset_free(struct bench_dataset *dataset);

/* Write the pass down, at its begin and at its end. */
void bench_dataset_record(struct bench_dataset *dataset, const struct bench_pass *pass);

/* Key of number n, or, if `absent`, of its neighbour that is never written; `key` has key_bytes. */
void bench_dataset_key(const struct bench_dataset *dataset, uint64_t number, bool absent,
                       char *key);
petal_family *bench_dataset_family(const struct bench_dataset *dataset, uint64_t number);

/* The value that a pass gives to a number: about half of it can be compressed away. */
void bench_dataset_value(const struct bench_dataset *dataset, const struct bench_pass *pass,
                         uint64_t number, uint8_t *value);

/* Whether `value` (found: there is one) is what the passes left for that number. Passes that did
 * not come to their end may have written it or not. `scratch` has value_bytes. */
bool bench_dataset_is_right(const struct bench_dataset *dataset, uint64_t number, bool found,
                            petal_slice value, uint8_t *scratch);

#endif
