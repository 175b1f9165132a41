/*
 * java_regex.h -- translates an expression of java.util.regex into one of PCRE2 with the same
 * meaning.
 *
 * Piece by piece: nothing passes that only PCRE2 knows, and pieces that mean different things are
 * rewritten. Case is ignored here, not by PCRE2, because Java ignores that of ASCII letters only.
 * Groups capture only if the expression has back references.
 */
#ifndef PETAL_ENGINE_FILTER_JAVA_REGEX_H
#define PETAL_ENGINE_FILTER_JAVA_REGEX_H

#include "base/mem.h"
#include "engine/filter/regex.h"

struct java_regex {
    const petal_allocator *allocator;
    const uint8_t *start, *at, *limit; /* Java's text */
    uint64_t ignore_case;              /* a bit for each open group, the innermost's lowest */
    unsigned depth;
    size_t group_starts[REGEX_MOST_DEPTH]; /* in PCRE2's text, of the open groups, */
    size_t piece;                          /* and of the last piece that can be repeated */
    unsigned behind;                       /* depth of the outermost open look-behind; 0: none */
    unsigned members;                      /* of the class at hand */
    unsigned groups, all_groups;           /* that capture: begun; in all, known when `captures` */
    bool refers, captures;                 /* back, so that groups have to */
    bool looks_ahead;                      /* (?=...) or (?!...) has been written for it */
    void *names;                           /* struct name of java_regex.c, one a named group */
    size_t name_count, names_capacity;
    bool no_memory;
    void *written; /* PCRE2's text; belongs to the caller, from the allocator */
    size_t size, capacity;
    /* Of what stands at `wanted` in PCRE2's text, the place in Java's. */
    size_t wanted, place;
    struct regex_mistake *mistake;
};

/* Append PCRE2's own text to what has been written. */
void java_regex_put(struct java_regex *java, const char *text);

/* Append the expression; each time from its beginning. PETAL_INVALID with the mistake, or
 * PETAL_NO_MEMORY. */
enum petal_status java_regex_translate(struct java_regex *java, petal_slice expression,
                                       bool ignore_case);

#endif
