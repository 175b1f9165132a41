/*
 * The memory of one call from Python: where the library and the functions of this folder leave what
 * they have to say. A call belongs to one thread at a time; Python keeps used ones for the next.
 */
#ifndef TOOLS_PYTHON_NATIVE_CALL_H
#define TOOLS_PYTHON_NATIVE_CALL_H

#include "engine/petal.h"

/* Beside the library's: the database, or the object, was closed. */
#define PY_CLOSED 1000

typedef struct py_call {
    petal_error error;     /* of a failed call */
    const char *bytes;     /* the answer: a pickle, or the bytes of a value */
    size_t size;           /* of it */
    bool found;            /* whether a key is there, or a condition was met */
    int64_t number;        /* a counter's value, or a count */
    petal_result *result;  /* made when first needed, for one database */
    petal_result **others; /* likewise, for several rows */
    size_t other_count;
    petal_family_options *families; /* of a description, without names and attributes */
    struct pickle *pickle;          /* holds `bytes`, or NULL */
} py_call;

/* An empty call; NULL when there is no memory. */
py_call *py_call_new(void);
void py_call_free(py_call *call);

#endif
