/*
 * text.h -- answers as text, one line a cell, so that those of the model and of the engine can be
 * compared and printed. Memory grows as needed; the text ends with a zero byte.
 */
#ifndef PETAL_TESTS_MODEL_TEXT_H
#define PETAL_TESTS_MODEL_TEXT_H

#include "tests/model/model.h"

struct model_text {
    char *bytes; /* NULL until something is added */
    size_t size, capacity;
};

void model_text_free(struct model_text *text);
void model_text_clear(struct model_text *text);
void model_text_add(struct model_text *text, const char *words);
void model_text_add_number(struct model_text *text, int64_t number);

/* As HBase prints bytes: \xHH for what is no printable ASCII, for the quotation mark and the
 * backslash. */
void model_text_add_bytes(struct model_text *text, petal_slice bytes);

/* The name of a cell type. */
const char *model_text_of_type(enum petal_cell_type type);

void model_text_add_model_cell(struct model_text *text, const struct model_cell *cell);
void model_text_add_family(struct model_text *text, unsigned number,
                           const struct model_family *family);
void model_text_add_cell(struct model_text *text, const petal_cell *cell);

/* The model's families are called f, g, h. */
petal_slice model_text_family_name(unsigned family);

#endif
