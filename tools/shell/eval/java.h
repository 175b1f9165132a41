/*
 * java.h -- what scripts for HBase's shell use of Java: filters and comparators, Bytes, dates, the
 * names of comparisons.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_JAVA_H
#define PETAL_TOOLS_SHELL_EVAL_JAVA_H

#include "tools/shell/eval/call.h"

/* The class of a name, with its package or without; a complaint that names what is near. */
bool java_class(struct arena *arena, petal_slice name, struct value *class,
                struct complaint *complaint);

/* Class::NAME: a class within it, or one of the words that it knows. */
bool java_constant(struct arena *arena, const struct value *class, petal_slice name,
                   struct value *value, struct complaint *complaint);

/* A method of a class, such as `new`, or of an object. */
bool java_call(struct call *call);

#endif
