/*
 * cell_text.h -- cells as words: "row/family:qualifier@timestamp=value", as tests/engine/script.h
 * explains them.
 */
#ifndef PETAL_TESTS_ENGINE_CELL_TEXT_H
#define PETAL_TESTS_ENGINE_CELL_TEXT_H

#include "engine/petal.h"

#define CELL_TEXT_BYTES 4096

struct cell_text {
    char bytes[CELL_TEXT_BYTES]; /* of the cell's slices */
    petal_cell cell;             /* at PETAL_LATEST, unless the word has a timestamp */
    bool timed;                  /* it has one */
};

/* False: the word is no cell. It has fewer than CELL_TEXT_BYTES bytes. */
bool cell_text_parse(const char *word, struct cell_text *parsed);

/* The bytes up to one of `ends`, without escapes, are put at *to; both places move on. */
petal_slice cell_text_bytes(const char **from, const char *ends, char **to);

/* Whether the word is this cell, at any time if it does not say when. */
bool cell_text_is(const petal_cell *cell, const char *word);

/* The word, good until the next call but 3. */
const char *cell_text_of(const petal_cell *cell);

#endif
