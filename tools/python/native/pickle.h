/*
 * Writes Python objects as a pickle, which pickle.loads makes without running Python code for each
 * of them. Bytes of the same column in many rows become one object: the first is kept in the
 * pickle's memo, the others refer to it.
 *
 * A call that fails for want of memory sets `failed`; all that follow do nothing.
 */
#ifndef TOOLS_PYTHON_NATIVE_PICKLE_H
#define TOOLS_PYTHON_NATIVE_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/petal.h"

#define PICKLE_NAMES 64

/* A name in the memo, by its place in the bytes. */
struct pickle_name {
    size_t place;
    uint32_t family_size, size; /* of the family, of all: family, colon, qualifier; 0: free */
    uint32_t number;            /* in the memo */
};

struct pickle {
    char *bytes;
    size_t size, capacity;
    bool failed;
    uint32_t memo_count;
    struct pickle_name names[PICKLE_NAMES];
};

/* Begin a pickle in place of the former. */
void pickle_begin(struct pickle *pickle);
void pickle_end(struct pickle *pickle);

/* A list holds what is written between its begin and its end. */
void pickle_list_begin(struct pickle *pickle);
void pickle_list_end(struct pickle *pickle);

/* A dict holds keys and values by turns. */
void pickle_dict_begin(struct pickle *pickle);
void pickle_dict_end(struct pickle *pickle);

/* The two objects written last become a tuple. */
void pickle_pair(struct pickle *pickle);

void pickle_none(struct pickle *pickle);
void pickle_bytes(struct pickle *pickle, petal_slice bytes);
void pickle_number(struct pickle *pickle, int64_t number);

/* The name of a cell's column, family:qualifier. `again`: it may occur again in this pickle. */
void pickle_column(struct pickle *pickle, const petal_cell *cell, bool again);

void pickle_release(struct pickle *pickle);

#endif
