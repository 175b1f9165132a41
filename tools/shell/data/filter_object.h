/*
 * filter_object.h -- HBase's filters as objects of Java's: what a class's constructor takes, and
 * the library's filter that an object stands for.
 *
 * An object's items are its class and then the arguments of the filter language, all of them: bytes
 * as texts, comparators as 'type:value', numbers, booleans, comparisons as symbols (:EQUAL), nil
 * for an open end. FilterList has :MUST_PASS_ALL or :MUST_PASS_ONE and its members, SkipFilter and
 * WhileMatchFilter have theirs.
 */
#ifndef PETAL_TOOLS_SHELL_DATA_FILTER_OBJECT_H
#define PETAL_TOOLS_SHELL_DATA_FILTER_OBJECT_H

#include "tools/shell/session/session.h"

/* The simple name of a filter or comparator class, by number; NULL behind the last. */
const char *filter_class_name(size_t index);

/* An object of the class from what its constructor is given; fails with the session's message, and
 * where the class is none of these. */
enum shell_status filter_object_new(struct session *session, const struct value *class,
                                    const struct value *arguments, size_t count,
                                    struct value *object);

/* setFilterIfMissing, setLatestVersionOnly, addFilter; false: it has no such method. */
bool filter_object_set(struct session *session, struct value *object, petal_slice method,
                       const struct value *arguments, size_t count);

/* Make the filter; fails with the library's reason. */
enum shell_status filter_object_make(struct session *session, const struct value *object,
                                     petal_filter **filter);

#endif
