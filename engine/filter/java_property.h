/*
 * java_property.h -- the properties of characters that java.util.regex knows by name, \p{name}, as
 * members of a class of PCRE2's.
 *
 * Those of which PCRE2 has the same characters. Its tables may be of a newer Unicode than Java's
 * (17 has 13.0, PCRE2 10.42 has 14.0): they differ in characters that were assigned since.
 */
#ifndef PETAL_ENGINE_FILTER_JAVA_PROPERTY_H
#define PETAL_ENGINE_FILTER_JAVA_PROPERTY_H

#include "engine/petal.h"

#define JAVA_PROPERTY_BYTES 160

struct java_property {
    char members[JAVA_PROPERTY_BYTES]; /* to stand between [ and ], */
    bool outside;                      /* or between [^ and ] */
};

/* NULL, or why there is no such property here. With ignore_case those of a case are of both. */
const char *java_property_find(petal_slice name, bool ignore_case, struct java_property *found);

#endif
