/*
 * comparator.h -- HBase's comparators, made from their text 'type:value'.
 *
 *     binary: binaryprefix:         bytes; binaryprefix compares as many as it has
 *     substring:                    found anywhere, regardless of case
 *                                   (engine/filter/utf8.h)
 *     regexstring: regexstringnocase:   found anywhere (engine/filter/regex.h)
 *     long:N                        both sides as 8-byte big-endian signed numbers; other sizes are
 *                                   only ever "not equal"
 *     null:                         equals the absence of a value, so never an existing value
 *     bitand: bitor: bitxor:        equal when sizes are the same and any bit of the result is set
 *
 * Immutable once made; for any number of threads.
 */
#ifndef PETAL_ENGINE_FILTER_COMPARATOR_H
#define PETAL_ENGINE_FILTER_COMPARATOR_H

#include "base/mem.h"
#include "engine/petal.h"

enum comparator_kind {
    COMPARATOR_NONE = 0, /* no comparator */
    COMPARATOR_BINARY,
    COMPARATOR_BINARY_PREFIX,
    COMPARATOR_SUBSTRING,
    COMPARATOR_REGEX,
    COMPARATOR_LONG, /* from here on: not in the filter language */
    COMPARATOR_NULL,
    COMPARATOR_BIT_AND,
    COMPARATOR_BIT_OR,
    COMPARATOR_BIT_XOR
};

struct regex;

struct comparator {
    enum comparator_kind kind;
    petal_slice bytes; /* a copy */
    int64_t number;
    struct regex *regex;
    uint32_t *characters; /* of a substring, in small letters */
    uint32_t *retreats;   /* of a substring: the length to fall back to, for each matched length */
    size_t character_count;
};

/* Why a text is no comparator. */
#define COMPARATOR_REASON_BYTES 160

/* Make one from 'type:value'. PETAL_INVALID with the reason, or PETAL_NO_MEMORY: nothing to
 * release. */
enum petal_status comparator_init(struct comparator *comparator, const petal_allocator *allocator,
                                  petal_slice text, char reason[COMPARATOR_REASON_BYTES]);
void comparator_fini(struct comparator *comparator, const petal_allocator *allocator);

/* Does the comparison hold if the comparator's value is less than (<0), equal to or greater than
 * the other? */
bool compare_holds(enum petal_compare compare, int order);

/* Does the comparison hold between `value` and the comparator's value? REQUIRES: it is no regular
 * expression, which needs the read's state (node_accepts). */
bool comparator_accepts(const struct comparator *comparator, enum petal_compare compare,
                        petal_slice value);

/* It can only tell equal from not equal. */
bool comparator_is_unordered(const struct comparator *comparator);

#endif
