/* regex_program.h -- the program of a regular expression: made in regex_parser.c, run in regex.c. */
#ifndef PETAL_ENGINE_FILTER_REGEX_PROGRAM_H
#define PETAL_ENGINE_FILTER_REGEX_PROGRAM_H

#include "base/mem.h"
#include "engine/filter/regex.h"

#define REGEX_LAST_CHARACTER 0x10FFFFu

enum regex_step_kind {
    REGEX_CHARACTER, /* value */
    REGEX_ANY,
    REGEX_CLASS, /* value: number of the class */
    REGEX_SPLIT, /* go on at both, first and second */
    REGEX_JUMP,  /* first */
    REGEX_BEGIN,
    REGEX_END, /* or before a last line end */
    REGEX_VERY_END,
    REGEX_WORD_EDGE,
    REGEX_NO_WORD_EDGE,
    REGEX_MATCH
};

/* Targets are relative to the step, so that steps can be moved and copied. */
struct regex_step {
    enum regex_step_kind kind;
    bool ignore_case;
    uint32_t value;
    int32_t first, second;
};

struct regex_range {
    uint32_t low, high;
};

/* Its ranges are disjoint and from low to high; of a class that ignores case they have both. */
struct regex_class {
    size_t first_range, range_count;
    bool negated;
};

struct regex {
    const petal_allocator *allocator;
    struct regex_step *steps;
    size_t step_count, step_capacity;
    struct regex_range *ranges;
    size_t range_count, range_capacity;
    struct regex_class *classes;
    size_t class_count, class_capacity;
};

/* Fill the empty program. */
enum petal_status regex_parse(struct regex *regex, petal_slice expression, bool ignore_case,
                              struct regex_mistake *mistake);

#endif
