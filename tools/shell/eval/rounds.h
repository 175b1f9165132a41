/*
 * rounds.h -- the items of an array, a hash or a range, one after the other, without writing a
 * range out.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_ROUNDS_H
#define PETAL_TOOLS_SHELL_EVAL_ROUNDS_H

#include "tools/shell/eval/complaint.h"

struct rounds {
    const struct value *values;
    size_t next;         /* of an array or a hash */
    int64_t number, end; /* of a range of numbers, of texts of digits, of single letters */
    int64_t step;        /* to the next number; the end belongs to them */
    size_t digits;       /* at least so many has a text of them; 0: of others */
    struct text text;    /* of a range of other texts: the next one */
    bool letters, texts; /* which of the ranges that is */
    bool over;
};

/* False, with a complaint: it has no items.  The value lives as long as the rounds. */
bool rounds_begin(struct rounds *rounds, const struct value *values, struct complaint *complaint);

/* Numbers from .. up to, or with a step below 0 down to, `to`. */
void rounds_begin_numbers(struct rounds *rounds, int64_t from, int64_t to, int64_t step);

/* How many items a range has, UINT64_MAX if more; false: of texts only the last one tells. */
bool rounds_count(const struct rounds *rounds, uint64_t *count);

/* The next item, in the arena; of a hash an array of key and value.  False: there is none. */
bool rounds_next(struct rounds *rounds, struct arena *arena, struct value *item);

void rounds_end(struct rounds *rounds);

#endif
