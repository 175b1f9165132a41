/*
 * text.h -- the words of a file of recorded cases: lines of strings, marks and words, as
 * tests/conformance/README.md describes them.
 *
 * A reader stands on one line and, in it, before one token.  The first mistake is kept with its
 * line; from then on every function returns false.  Messages are for people and name what was
 * expected.
 *
 * OWNERSHIP.  Words point into the bytes of the file, decoded strings into the file or the arena.
 */
#ifndef PETAL_TESTS_CONFORMANCE_TEXT_H
#define PETAL_TESTS_CONFORMANCE_TEXT_H

#include "tests/support/test_support.h"

/* ---- Memory that goes all at once ---- */

struct arena {
    struct arena_chunk *chunks;
};

/* Zeroed.  Never NULL: without memory the program ends. */
void *arena_allocate(struct arena *arena, size_t size);
petal_slice arena_copy(struct arena *arena, petal_slice bytes);

/* The array with room for one element after its `count`; start with NULL and 0 and add one at a
 * time. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t element_size);
void arena_clear(struct arena *arena);

/* ---- Slices ---- */

petal_slice slice_of(const char *text);
bool slice_is(petal_slice slice, const char *text);
bool slice_equal(petal_slice a, petal_slice b);
/* By bytes, as memcmp; of two that begin alike the shorter comes first. */
int slice_compare(petal_slice a, petal_slice b);

/* Decimal, perhaps with a minus in front, 64 signed bits; nothing else before or after. */
bool slice_number(petal_slice text, int64_t *number);

/* ---- Lines and tokens ---- */

enum token_kind { TOKEN_STRING, TOKEN_MARK, TOKEN_WORD };

struct token {
    enum token_kind kind;
    petal_slice text; /* of a string: decoded */
    bool glued;       /* nothing stands between it and the token before */
};

struct reader {
    const char *path;
    petal_slice bytes; /* the whole file */
    struct arena *arena;
    size_t next; /* offset of the line after this one */
    size_t line; /* number of the line, from 1 */
    petal_slice line_text;
    struct token *tokens; /* of the line */
    size_t token_count, token_capacity, token_next;
    bool failed;
    size_t error_line;
    char error[300];
};

void reader_init(struct reader *reader, const char *path, petal_slice bytes, struct arena *arena);
void reader_fini(struct reader *reader);

/* Go to the next line that means something.  False at the end of the file or after a mistake. */
bool reader_next_line(struct reader *reader);

/* Note a mistake in the line at hand, unless there is one already; returns false. */
bool reader_fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next token, NULL at the end of the line. */
const struct token *reader_peek(const struct reader *reader);
bool reader_at_word(const struct reader *reader, const char *word);
bool reader_at_mark(const struct reader *reader, char mark);

/* Take a token of that kind, or fail naming `what`. */
bool reader_take_string(struct reader *reader, const char *what, petal_slice *string);
bool reader_take_word(struct reader *reader, const char *what, petal_slice *word);
bool reader_take_mark(struct reader *reader, char mark);
bool reader_take_number(struct reader *reader, const char *what, int64_t *number);
bool reader_take_end(struct reader *reader);

/* Take `name=` of an option and give its name and what stands after the `=` in the word. */
bool reader_take_option(struct reader *reader, petal_slice *name, bool *has_value,
                        petal_slice *value);

/* Take the string that follows `name=` at once. */
bool reader_take_glued_string(struct reader *reader, const char *what, petal_slice *string);

#endif
