/*
 * lexer.h -- cuts an input of the shell into tokens, line by line as it is typed.
 *
 * The language is a part of Ruby.  An input is one line, or several when a line ends inside a quote
 * or bracket, or behind a comma, an operator or a backslash: lexer_wants_more says so.  Every byte
 * is looked at once, however many lines there are.
 *
 * 'single' quotes are literal but for \' and \\.  "double" quotes take \xH[H], \N[NN] (octal), \n
 * \t \r \0 \a \b \e \f \s \v, \uHHHH, \u{H..}, \" and \\; an unknown \q is q.  # opens a comment,
 * but not inside quotes.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_LEXER_H
#define PETAL_TOOLS_SHELL_LANGUAGE_LEXER_H

#include "tools/shell/text/memory.h"
#include "tools/shell/text/text.h"

enum token_kind {
    TOKEN_END,       /* of the input */
    TOKEN_SEPARATOR, /* ; or the end of a line, outside brackets */
    TOKEN_STRING,
    TOKEN_SYMBOL, /* :name */
    TOKEN_LABEL,  /* name: */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_CONSTANT, /* a name that begins with a capital */
    TOKEN_NAME,
    TOKEN_OPERATOR /* brackets, commas and signs too */
};

struct token {
    enum token_kind kind;
    size_t begin, end; /* offsets in the lexer's input */
    bool blank_before;
    petal_slice text; /* what a string means; of names, symbols and operators the letters */
    int64_t integer;
    double number;
};

/* A mistake in an input: where it is and what was not understood. */
struct syntax_error {
    size_t position;
    char message[120]; /* empty: no mistake */
};

struct lexer {
    struct arena *arena; /* borrowed; receives the tokens' texts */
    struct text input;
    struct token *tokens; /* ends with TOKEN_END once lexer_finish was called */
    size_t count, capacity;
    size_t position; /* of the byte to look at next */
    int depth;       /* open brackets */
    char quote;      /* of the string that is open, 0 if none is */
    size_t quote_begin;
    struct text string; /* what the open string means so far */
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

void syntax_error_set(struct syntax_error *error, size_t position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
