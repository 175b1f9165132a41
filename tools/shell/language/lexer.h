/*
 * lexer.h -- cuts an input of the shell into tokens, line by line as it is typed.
 *
 * The language is a part of Ruby.  An input is one line, or several when a line ends inside a
 * quote, a bracket or a body that an `end` closes, or behind a comma, an operator or a backslash:
 * lexer_wants_more says so.  Every byte is looked at once, however many lines there are.
 *
 * 'single' quotes are literal but for \' and \\.  "double" quotes take \xH[H], \N[NN] (octal), \n
 * \t \r \0 \a \b \e \f \s \v, \uHHHH, \u{H..}, \" and \\; an unknown \q is q.  # opens a comment,
 * but not inside quotes.  %w[a b] is cut into the tokens of ['a', 'b'].
 *
 * "a#{x}b" becomes TOKEN_PIECE a, the tokens of x, the operator }, and TOKEN_STRING b.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_LEXER_H
#define PETAL_TOOLS_SHELL_LANGUAGE_LEXER_H

#include "tools/shell/text/memory.h"
#include "tools/shell/text/text.h"

enum token_kind {
    TOKEN_END,       /* of the input */
    TOKEN_SEPARATOR, /* ; or the end of a line, outside brackets */
    TOKEN_STRING,
    TOKEN_PIECE,  /* of a string, before #{ */
    TOKEN_SYMBOL, /* :name */
    TOKEN_LABEL,  /* name: */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_CONSTANT, /* a name that begins with a capital */
    TOKEN_NAME,     /* keywords, @names and $names too */
    TOKEN_OPERATOR  /* brackets, commas and signs too */
};

struct token {
    enum token_kind kind;
    size_t begin, end; /* offsets in the lexer's input */
    bool blank_before;
    bool begins_block; /* of a brace: it opens a block, not a hash */
    bool has_sign;     /* of a number: a minus begins it */
    petal_slice text;  /* what a string means; of names, symbols and operators the letters */
    int64_t integer;
    double number;
};

/* A mistake in an input: where it is and what was not understood. */
struct syntax_error {
    size_t position;
    char message[120]; /* empty: no mistake */
};

enum { GREATEST_NESTING = 128 }; /* of what is open at once */

/* What is open: a bracket, a body that an `end` closes, the #{ of a string. */
struct opening {
    char kind;          /* ( [ { as they stand, | a block's brace, e what `end` closes, # of #{ */
    bool waits_for_do;  /* a for, while or until whose `do` has not come yet */
    size_t quote_begin; /* of the string around #{ */
};

struct lexer {
    struct arena *arena; /* borrowed; receives the tokens' texts */
    struct text input;
    struct token *tokens; /* ends with TOKEN_END once lexer_finish was called */
    size_t count, capacity;
    size_t position; /* of the byte to look at next */
    struct opening open[GREATEST_NESTING];
    unsigned depth; /* of `open` */
    char quote;     /* of the string that is open, 0 if none is */
    size_t quote_begin;
    struct text string; /* what the open string means so far, behind its last #{..} */
    struct syntax_error error;
};

void lexer_init(struct lexer *lexer, struct arena *arena);
void lexer_free(struct lexer *lexer);

/* Begin a new input. */
void lexer_clear(struct lexer *lexer);

/* Add one line, given without its line end. */
void lexer_add_line(struct lexer *lexer, petal_slice line);

/* Does the input go on in the next line?  False after a mistake. */
bool lexer_wants_more(const struct lexer *lexer);

/* No more lines come: an open quote or bracket is a mistake now. */
void lexer_finish(struct lexer *lexer);

/* Is it one of Ruby's keywords that go on with what stands before them, as in `drop t if x`, or
 * close or part a body? */
bool keyword_follows(petal_slice name);

void syntax_error_set(struct syntax_error *error, size_t position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
