/*
 * java_property.h -- java.util.regex's named character properties, \p{name}, as members of a PCRE2
 * class.
 *
 * Only those with the same characters in PCRE2, whose Unicode tables may be newer than Java's (Java
 * 17 has 13.0, PCRE2 10.42 has 14.0): they differ in characters assigned since.
 */
#ifndef PETAL_ENGINE_FILTER_JAVA_PROPERTY_H
#define PETAL_ENGINE_FILTER_JAVA_PROPERTY_H

#include "engine/petal.h"

#define JAVA_PROPERTY_BYTES 160

struct java_property {
    char members[JAVA_PROPERTY_BYTES]; /* to stand between [ and ], */
    bool outside;                      /* or between [^ and ] */
};

/* NULL, or why the property is refused. With ignore_case, properties of one case match both. */
const char *java_property_find(petal_slice name, bool ignore_case, struct java_property *found);

#endif
