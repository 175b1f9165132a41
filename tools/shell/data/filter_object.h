/*
 * filter_object.h -- the library's filter that an object of one of HBase's filter classes stands
 * for.
 *
 * A VALUE_FILTER's items are its class and then all arguments of the filter language: bytes as
 * strings, comparators as 'type:value', numbers, booleans, comparisons as symbols (:EQUAL), nil for
 * an open end.  FilterList has :MUST_PASS_ALL or :MUST_PASS_ONE and its members, SkipFilter
 * and WhileMatchFilter have theirs.  tools/shell/ruby/prelude.rb makes them.
 */
#ifndef PETAL_TOOLS_SHELL_DATA_FILTER_OBJECT_H
#define PETAL_TOOLS_SHELL_DATA_FILTER_OBJECT_H

#include "tools/shell/session/session.h"

/* Make the filter; fails with the library's reason. */
enum shell_status filter_object_make(struct session *session, const struct value *object,
                                     petal_filter **filter);

#endif
