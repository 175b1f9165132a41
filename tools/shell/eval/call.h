/*
 * call.h -- a call of a method or a function at work, and what methods check of their arguments.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_CALL_H
#define PETAL_TOOLS_SHELL_EVAL_CALL_H

#include "tools/shell/eval/complaint.h"
#include "tools/shell/session/session.h"

/* What it fails by is in the complaint. */
struct call {
    struct session *session;
    petal_slice name;
    struct value *receiver; /* a copy, which a method may change; then `changed` says so */
    const struct value *arguments;
    size_t count;
    struct value *value; /* of the call, nil before */
    bool changed;
    struct complaint complaint;
};

/* Methods of one kind of value, or functions; the last one has no name. */
struct method {
    const char *name;
    size_t least, most; /* arguments */
    bool (*run)(struct call *call);
};

extern const struct method methods_of_texts[], methods_of_numbers[], methods_of_lists[],
    methods_of_hashes[], methods_of_ranges[];

/* The one of the call's name, NULL if there is none. */
const struct method *method_find(const struct method *methods, petal_slice name);

/* Check the number of arguments, then run it. */
bool method_run(const struct method *method, struct call *call);

/* Complain that the method wants something else. */
bool call_wants(struct call *call, const char *wanted);

/* Does the argument of that number fit?  Complains else. */
bool call_wants_text(struct call *call, size_t argument);
bool call_wants_integer(struct call *call, size_t argument);

/* The base of a number's digits: ten, or the call's only argument; false: it fits none. */
bool call_takes_base(struct call *call, unsigned *base);

bool call_gives_boolean(struct call *call, bool boolean);

/* The value of the call is a text of these bytes, which are copied. */
bool call_gives_bytes(struct call *call, const void *bytes, size_t size);

#endif
