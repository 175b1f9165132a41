/*
 * regex.h -- regular expressions of filters: those of Java, as HBase's RegexStringComparator runs
 * them, by PCRE2.
 *
 *     .  literals  [abc] [a-z] [^...] [ab[c-e]] [a-z&&[^aeiou]]  \Q...\E
 *     \d \D \w \W \s \S \h \H \v \V \R  \pL \PL \p{name} \P{name} (java_property.h)
 *     \t \n \r \f \a \e \0o \xhh \x{h} \uhhhh \cX   ^ $ \A \G \z \Z \b \B   |
 *     * + ? {m} {m,} {m,n}, each with a lazy `?` or a possessive `+`
 *     (...) (?:...) (?<name>...) (?=...) (?!...) (?<=...) (?<!...) (?>...) (?i) (?i:...) (?s)
 *     \1 \2 ... \k<name>
 *
 * With the flags that HBase sets: `.` matches line ends, too, `^` and `$` are the ends of the text
 * (`$` also before a last line end). Ignoring case works for ASCII letters only. Text and
 * expression are UTF-8; invalid bytes become U+FFFD (engine/filter/utf8.h).
 *
 * Refused, with the place: \p of blocks and of properties that PCRE2 lacks, \X, \N, \b{g}, other
 * flags, back references where case is ignored, in a look-behind, or to a group past
 * REGEX_MOST_REFERRED, a look-behind of no fixed length, an intersection with nothing to its right,
 * and what PCRE2 finds too large.
 *
 * It differs from Java 17 in this: characters are whole, where Java also looks between the halves
 * of a surrogate pair; characters that Unicode has assigned since 13.0 have properties if the PCRE2
 * at hand knows them; \b takes at most eight combining marks after a letter for its own; and when
 * an alternative is given up, what its groups took is undone, which in Java stays for back
 * references if a look-around, an atomic group or a possessive repetition took it.
 *
 * No expression and no text makes a search hang: one that takes more steps, back references
 * compared among them, or more memory than the limits below is given up with PETAL_INVALID, as
 * Java gives up when its stack is full.
 */
#ifndef PETAL_ENGINE_FILTER_REGEX_H
#define PETAL_ENGINE_FILTER_REGEX_H

#include "engine/petal.h"

#define REGEX_MOST_DEPTH     63        /* of groups in groups */
#define REGEX_MOST_MEMBERS   256       /* of a class: PCRE2 asks one after the other, as one step */
#define REGEX_MOST_STEPS     10000000u /* of a search, */
#define REGEX_STEPS_PER_BYTE 64u       /* and so many more for each byte of the text */
#define REGEX_BYTES_PER_STEP 64u       /* that a back reference compares */
#define REGEX_MOST_REFERRED  255u      /* the last group that one can refer to */
#define REGEX_MOST_KIBIBYTES 8192u     /* of memory that one search works in */

/* Why an expression is refused. */
struct regex_mistake {
    size_t position; /* of the byte in the expression */
    char reason[120];
};

/* Immutable once made; for any number of threads. */
struct regex;

/* PETAL_INVALID with *mistake, or PETAL_NO_MEMORY. */
enum petal_status regex_new(struct regex **regex, const petal_allocator *allocator,
                            petal_slice expression, bool ignore_case,
                            struct regex_mistake *mistake);
void regex_free(struct regex *regex); /* NULL: no-op */

/* Working memory for searches of one thread; allocated only if one needs more than those before. */
struct regex_search;

/* `regex` must stay until the search is freed. PETAL_NO_MEMORY. */
enum petal_status regex_search_new(struct regex_search **search, const petal_allocator *allocator,
                                   const struct regex *regex);
void regex_search_free(struct regex_search *search); /* NULL: no-op */

/* Does the expression match anywhere in `text`? PETAL_INVALID: it was given up, and
 * regex_search_reason says why; or PETAL_NO_MEMORY. */
enum petal_status regex_search_find(struct regex_search *search, petal_slice text, bool *found);
const char *regex_search_reason(const struct regex_search *search);

#endif
