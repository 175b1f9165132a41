/*
 * regex.h -- regular expressions of filters: what people use of Java's, matched in time linear in the text.
 *
 *     .  literals  [abc] [a-z] [^...]  \d \D \w \W \s \S  \t \n \r \f \a \e \0o \xhh \x{h} \uhhhh \cX  \Q...\E
 *     ^ $ \A \z \Z \b \B   (...) (?:...)   |   * + ? {m} {m,} {m,n}, each with a lazy `?`   (?i) (?i:...)
 *
 * With the flags that HBase sets: `.` takes line ends, too, `^` and `$` are the ends of the text (`$` also before a last line
 * end). Letters are told from capitals for ASCII only, when case is ignored; \b knows ASCII words. Text and
 * expression are UTF-8 (engine/filter/utf8.h). Refused, with the place: look-around, named groups, back references, possessive and atomic groups,
 * \p, \h, \R, \X, \G, classes within classes, other flags, and what grows beyond REGEX_MOST_STEPS.
 *
 * An expression becomes a small program whose states are followed all at once (Thompson), so that no text and no expression
 * makes it slow: at most REGEX_MOST_STEPS steps for each character, and a class is searched by halves. Immutable once made; for any number of threads.
 */
#ifndef PETAL_ENGINE_FILTER_REGEX_H
#define PETAL_ENGINE_FILTER_REGEX_H

#include "engine/petal.h"

#define REGEX_MOST_STEPS 2000
#define REGEX_MOST_DEPTH 64 /* of groups in groups */

struct regex;

struct regex_mistake {
    size_t position; /* of the byte in the expression */
    const char *reason;
};

/* PETAL_INVALID with *mistake, or PETAL_NO_MEMORY. */
enum petal_status regex_new(struct regex **regex, const petal_allocator *allocator,
                            petal_slice expression, bool ignore_case,
                            struct regex_mistake *mistake);
void regex_free(struct regex *regex); /* NULL: no-op */

/* Does the expression match anywhere in `text`? */
bool regex_find(const struct regex *regex, petal_slice text);

#endif
