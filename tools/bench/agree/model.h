/*
 * model.h -- what a store should hold, known without a store: for `kv-bench agree`.
 *
 * The room agree: the command that holds every answer of every store against what it should be.
 *
 * Keys have numbers.  Key 2n + 1 is key 2n and a byte more, so that some keys begin others; bytes
 * are any.  The value follows from the number and its version, which counts the puts of all keys:
 * empty, short, or larger than a block.
 */
#ifndef PETAL_TOOLS_BENCH_AGREE_MODEL_H
#define PETAL_TOOLS_BENCH_AGREE_MODEL_H

#include "tools/bench/stores/store.h"

#define BENCH_MODEL_KEY_BYTES   16
#define BENCH_MODEL_VALUE_BYTES 10240

struct bench_model {
    uint32_t keys;
    uint32_t puts;        /* so far */
    uint32_t *versions;   /* of each number; 0: not there */
    uint32_t *order;      /* numbers in the order of their keys */
    uint32_t *places;     /* of each number in `order` */
    uint32_t *present;    /* those that are there, in order, as of bench_model_look */
    size_t present_count; /* of it */
};

/* A key's or a value's bytes, and room for them. */
struct bench_model_key {
    petal_slice slice;
    uint8_t bytes[BENCH_MODEL_KEY_BYTES];
};
struct bench_model_value {
    petal_slice slice;
    uint8_t bytes[BENCH_MODEL_VALUE_BYTES];
};

void bench_model_init(struct bench_model *model, uint32_t keys);
void bench_model_free(struct bench_model *model);

void bench_model_key(struct bench_model_key *key, uint32_t number);
void bench_model_value(struct bench_model_value *value, uint32_t number, uint32_t version);

/* The next version of a number: its value is to be put. */
uint32_t bench_model_put(struct bench_model *model, uint32_t number);
void bench_model_remove(struct bench_model *model, uint32_t number);

/* List what is there now. */
void bench_model_look(struct bench_model *model);

/* The index in `present` of the first at or behind the number's key; present_count: none. */
size_t bench_model_seek(const struct bench_model *model, uint32_t number);

/* Whether `value` is what a number has; `found` false: that it has none. */
bool bench_model_has(const struct bench_model *model, uint32_t number, bool found,
                     petal_slice value);

#endif
