/* lexer.c -- see tools/shell/language/lexer.h. */
#include "tools/shell/language/lexer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
lexer_init(struct lexer *lexer, struct arena *arena)
{
    *lexer = (struct lexer){.arena = arena};
}

void
lexer_free(struct lexer *lexer)
{
    text_free(&lexer->input);
    text_free(&lexer->string);
    free(lexer->tokens);
    *lexer = (struct lexer){0};
}

void
lexer_clear(struct lexer *lexer)
{
    text_clear(&lexer->input);
    text_clear(&lexer->string);
    lexer->count = 0;
    lexer->position = 0;
    lexer->depth = 0;
    lexer->quote = '\0';
    lexer->error.message[0] = '\0';
}

void
syntax_error_set(struct syntax_error *error, size_t position, const char *format, ...)
{
    va_list arguments;

    if (error->message[0] != '\0')
        return;
    error->position = position;
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool
starts_name(char c)
{
    return is_capital(c) || (c >= 'a' && c <= 'z') || c == '_';
}

static bool
continues_name(char c)
{
    return starts_name(c) || is_digit(c);
}

/* The byte `ahead` of the position; 0 behind the end. */
static char
peek(const struct lexer *lexer, size_t ahead)
{
    size_t at = lexer->position + ahead;

    return at < lexer->input.size ? lexer->input.bytes[at] : '\0';
}

static struct token *
add_token(struct lexer *lexer, enum token_kind kind, size_t begin)
{
    struct token *token;

    lexer->tokens =
        memory_room(lexer->tokens, lexer->count, &lexer->capacity, sizeof(*lexer->tokens));
    token = &lexer->tokens[lexer->count++];
    *token = (struct token){.kind = kind, .begin = begin, .end = lexer->position};
    token->blank_before = begin == 0 || strchr(" \t\n", lexer->input.bytes[begin - 1]) != NULL;
    return token;
}

static petal_slice
keep(struct lexer *lexer, size_t begin, size_t end)
{
    size_t size = end - begin;

    return (petal_slice){arena_copy(lexer->arena, lexer->input.bytes + begin, size), size};
}

/* ---- What is open ---------------------------------------------------------------------------- */

static void
push(struct lexer *lexer, char kind, size_t position)
{
    if (lexer->depth == GREATEST_NESTING) {
        syntax_error_set(&lexer->error, position, "nested too deeply");
        return;
    }
    lexer->open[lexer->depth++] = (struct opening){.kind = kind};
}

/* What was opened last; NULL: nothing is open. */
static struct opening *
innermost(struct lexer *lexer)
{
    return lexer->depth > 0 ? &lexer->open[lexer->depth - 1] : NULL;
}

/* What closes something closes what was opened last, fitting or not: the parser complains.  Within
 * #{..} the end of the string could no longer be found, so that is a mistake at once. */
static void
pop(struct lexer *lexer, const char *closing, const char *fitting, size_t position)
{
    if (lexer->depth == 0)
        return;
    lexer->depth--;
    if (strchr(fitting, lexer->open[lexer->depth].kind) != NULL)
        return;
    for (unsigned i = 0; i <= lexer->depth; i++)
        if (lexer->open[i].kind == '#')
            syntax_error_set(&lexer->error, position, "unexpected '%s'", closing);
}

bool
keyword_follows(petal_slice name)
{
    static const char *const keywords[] = {"if", "unless", "while", "until",  "and",
                                           "or", "do",     "then",  "else",   "elsif",
                                           "in", "end",    "when",  "rescue", "ensure"};

    for (size_t i = 0; i < COUNT_OF(keywords); i++)
        if (slice_is(name, keywords[i]))
            return true;
    return false;
}

/* Can the token be the last one of a value?  Then an `if` behind it is a condition of that. */
static bool
ends_value(const struct token *token)
{
    switch (token->kind) {
    case TOKEN_STRING:
    case TOKEN_SYMBOL:
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
    case TOKEN_CONSTANT:
        return true;
    case TOKEN_NAME:
        return slice_is(token->text, "end") ||
               (!keyword_follows(token->text) && !slice_is(token->text, "not"));
    case TOKEN_OPERATOR:
        return token->text.size == 1 && strchr(")]}", *(const char *)token->text.data) != NULL;
    case TOKEN_END:
    case TOKEN_SEPARATOR:
    case TOKEN_PIECE:
    case TOKEN_LABEL:
        break;
    }
    return false;
}

static bool
is_one_of(petal_slice name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (slice_is(name, words[i]))
            return true;
    return false;
}

/* A keyword may open what an `end` closes.  Ruby's that the parser refuses do so, too: they are
 * refused as a whole. */
static void
note_keyword(struct lexer *lexer, const struct token *token)
{
    static const char *const loops[] = {"for", "while", "until"};
    static const char *const others[] = {"if", "unless", "case", "def", "class", "module", "begin"};
    const struct token *before = token > lexer->tokens ? token - 1 : NULL;
    struct opening *top = innermost(lexer);
    bool loop = is_one_of(token->text, loops, COUNT_OF(loops));

    if (before != NULL && before->kind == TOKEN_OPERATOR &&
        (slice_is(before->text, ".") || slice_is(before->text, "::")))
        return; /* a method's name */
    if (slice_is(token->text, "end")) {
        pop(lexer, "end", "e", token->begin);
    } else if (slice_is(token->text, "do")) {
        if (top != NULL && top->waits_for_do)
            top->waits_for_do = false;
        else
            push(lexer, 'e', token->begin);
    } else if ((loop || is_one_of(token->text, others, COUNT_OF(others))) &&
               (before == NULL || !ends_value(before))) {
        push(lexer, 'e', token->begin);
        if (loop && (top = innermost(lexer)) != NULL)
            top->waits_for_do = true;
    }
}

/* ---- Strings --------------------------------------------------------------------------------- */

static void
add_byte(struct lexer *lexer, unsigned byte)
{
    char c = (char)(unsigned char)byte;

    text_add(&lexer->string, &c, 1);
}

static void
add_character(struct lexer *lexer, uint32_t code, size_t position)
{
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        syntax_error_set(&lexer->error, position, "no such Unicode character");
    else
        text_add_character(&lexer->string, code);
}

/* Read up to `most` hexadecimal digits; return how many there were. */
static unsigned
take_hex(struct lexer *lexer, unsigned most, uint32_t *code)
{
    unsigned digits = 0;

    *code = 0;
    for (int digit; digits < most && (digit = text_hex_digit(peek(lexer, 0))) >= 0; digits++) {
        *code = *code << 4 | (uint32_t)digit;
        lexer->position++;
    }
    return digits;
}

/* At the u of \u: four digits, or some characters in braces. */
static void
take_unicode(struct lexer *lexer)
{
    size_t begin = lexer->position - 1;
    bool good;
    uint32_t code;

    lexer->position++;
    if (peek(lexer, 0) != '{') {
        good = take_hex(lexer, 4, &code) == 4;
        if (good)
            add_character(lexer, code, begin);
    } else {
        do {
            lexer->position++;
            good = take_hex(lexer, 6, &code) > 0;
            if (good)
                add_character(lexer, code, begin);
        } while (good && peek(lexer, 0) == ' ');
        good = good && peek(lexer, 0) == '}';
        if (good)
            lexer->position++;
    }
    if (!good)
        syntax_error_set(&lexer->error, begin, "invalid Unicode escape");
}

/* Behind the backslash of a double-quoted string. */
static void
take_escape(struct lexer *lexer)
{
    static const char letters[] = "abtnvfrse";
    static const char meanings[] = "\a\b\t\n\v\f\r \x1b";
    char c = peek(lexer, 0);
    const char *letter = c != '\0' ? strchr(letters, c) : NULL;
    uint32_t code;

    if (c == 'x') {
        lexer->position++;
        if (take_hex(lexer, 2, &code) == 0)
            syntax_error_set(&lexer->error, lexer->position - 2, "invalid hexadecimal escape");
        add_byte(lexer, code);
    } else if (c == 'u') {
        take_unicode(lexer);
    } else if (c >= '0' && c <= '7') {
        unsigned byte = 0;

        for (int i = 0; i < 3 && peek(lexer, 0) >= '0' && peek(lexer, 0) <= '7'; i++) {
            byte = byte << 3 | (unsigned)(peek(lexer, 0) - '0');
            lexer->position++;
        }
        add_byte(lexer, byte & 0xff);
    } else {
        lexer->position++;
        if (letter != NULL)
            add_byte(lexer, (unsigned char)meanings[letter - letters]);
        else if (c != '\n') /* a line end behind a backslash vanishes */
            add_byte(lexer, (unsigned char)c);
    }
}

/* What was read of the open string becomes a token. */
static void
add_string(struct lexer *lexer, enum token_kind kind)
{
    struct token *token = add_token(lexer, kind, lexer->quote_begin);

    token->text.size = lexer->string.size;
    token->text.data = arena_copy(lexer->arena, lexer->string.bytes, lexer->string.size);
    lexer->quote = '\0';
}

/* Read on in the open string, to its end or to the end of the input. */
static void
take_string(struct lexer *lexer)
{
    while (lexer->position < lexer->input.size && lexer->error.message[0] == '\0') {
        char c = peek(lexer, 0);
        char next = peek(lexer, 1);

        lexer->position++;
        if (c == lexer->quote) {
            add_string(lexer, TOKEN_STRING);
            return;
        }
        if (c == '\\' && lexer->quote == '"') {
            take_escape(lexer);
        } else if (c == '\\' && (next == '\'' || next == '\\')) {
            add_byte(lexer, (unsigned char)next);
            lexer->position++;
        } else if (c == '#' && next == '{' && lexer->quote == '"') {
            size_t begin = lexer->quote_begin;

            lexer->position++;
            add_string(lexer, TOKEN_PIECE);
            push(lexer, '#', lexer->position - 2);
            lexer->open[lexer->depth - 1].quote_begin = begin;
            return;
        } else {
            add_byte(lexer, (unsigned char)c);
        }
    }
}

static void
begin_string(struct lexer *lexer, char quote, size_t begin)
{
    lexer->quote = quote;
    lexer->quote_begin = begin;
    text_clear(&lexer->string);
}

/* ---- Other tokens ---------------------------------------------------------------------------- */

static void
take_name(struct lexer *lexer)
{
    size_t begin = lexer->position;
    enum token_kind kind = is_capital(peek(lexer, 0)) ? TOKEN_CONSTANT : TOKEN_NAME;
    struct token *token;
    size_t end;

    if (!starts_name(peek(lexer, 0)))
        lexer->position++; /* @ or $ */
    while (continues_name(peek(lexer, 0)))
        lexer->position++;
    if ((peek(lexer, 0) == '?' || peek(lexer, 0) == '!') && peek(lexer, 1) != '=')
        lexer->position++;
    end = lexer->position;
    if (peek(lexer, 0) == ':' && peek(lexer, 1) != ':') {
        lexer->position++;
        kind = TOKEN_LABEL;
    }
    token = add_token(lexer, kind, begin);
    token->text = keep(lexer, begin, end);
    if (kind == TOKEN_NAME)
        note_keyword(lexer, token);
}

static void
take_symbol(struct lexer *lexer)
{
    size_t begin = lexer->position++;

    while (continues_name(peek(lexer, 0)))
        lexer->position++;
    if (peek(lexer, 0) == '?' || peek(lexer, 0) == '!')
        lexer->position++;
    add_token(lexer, TOKEN_SYMBOL, begin)->text = keep(lexer, begin + 1, lexer->position);
}

static bool
take_fraction_and_exponent(struct lexer *lexer)
{
    bool fraction = peek(lexer, 0) == '.' && is_digit(peek(lexer, 1));
    size_t sign; /* how far behind the e digits begin */
    bool exponent;

    if (fraction) {
        lexer->position++;
        while (is_digit(peek(lexer, 0)) || peek(lexer, 0) == '_')
            lexer->position++;
    }
    sign = peek(lexer, 1) == '-' || peek(lexer, 1) == '+' ? 2 : 1;
    exponent = (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') && is_digit(peek(lexer, sign));
    if (exponent) {
        lexer->position += sign;
        while (is_digit(peek(lexer, 0)))
            lexer->position++;
    }
    return fraction || exponent;
}

/* 12, -7, 1_000, 0x1f, 0b11, 017, 3.25, 1e3. */
static void
take_number(struct lexer *lexer)
{
    size_t begin = lexer->position;
    size_t first_digit;
    int base = 10;
    struct text digits = {0};
    struct token *token;
    bool is_float = false;
    char *end;

    if (peek(lexer, 0) == '-')
        lexer->position++;
    if (peek(lexer, 0) == '0' && peek(lexer, 1) != '\0' &&
        strchr("xXbBoO", peek(lexer, 1)) != NULL) {
        char letter = (char)(peek(lexer, 1) | 0x20);

        base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
        lexer->position += 2;
    } else if (peek(lexer, 0) == '0' && is_digit(peek(lexer, 1))) {
        base = 8;
    }
    if (lexer->input.bytes[begin] == '-')
        text_add(&digits, "-", 1);
    first_digit = lexer->position;
    while (text_hex_digit(peek(lexer, 0)) >= 0 || peek(lexer, 0) == '_') {
        if (base != 16 && !is_digit(peek(lexer, 0)) && peek(lexer, 0) != '_')
            break;
        lexer->position++;
    }
    if (base == 10)
        is_float = take_fraction_and_exponent(lexer);
    for (size_t i = first_digit; i < lexer->position; i++)
        if (lexer->input.bytes[i] != '_')
            text_add(&digits, lexer->input.bytes + i, 1);
    token = add_token(lexer, is_float ? TOKEN_FLOAT : TOKEN_INTEGER, begin);
    token->has_sign = lexer->input.bytes[begin] == '-';
    errno = 0;
    if (is_float)
        token->number = strtod(text_string(&digits), &end);
    else
        token->integer = strtoll(text_string(&digits), &end, base);
    if (digits.size == 0 || *end != '\0' || continues_name(peek(lexer, 0)))
        syntax_error_set(&lexer->error, begin, "this is no number");
    else if (errno == ERANGE)
        syntax_error_set(&lexer->error, begin, "this number does not fit into 64 bits");
    text_free(&digits);
}

/* Is the brace at the position, not yet a token, a block's?  It is behind a parenthesis, and behind
 * a method that has a block; and what begins with the block's names is one anywhere. */
static bool
opens_block(const struct lexer *lexer)
{
    static const char *const methods[] = {
        "each",       "each_with_index", "each_slice", "each_char", "each_line", "each_key",
        "each_value", "each_pair",       "map",        "collect",   "select",    "filter",
        "reject",     "times",           "upto",       "downto",    "step",      "loop"};
    const struct token *before = lexer->count > 0 ? &lexer->tokens[lexer->count - 1] : NULL;
    size_t ahead = 1;

    while (peek(lexer, ahead) == ' ' || peek(lexer, ahead) == '\t')
        ahead++;
    if (peek(lexer, ahead) == '|')
        return true;
    if (before != NULL && before->kind == TOKEN_NAME)
        return is_one_of(before->text, methods, COUNT_OF(methods));
    return before != NULL && before->kind == TOKEN_OPERATOR && slice_is(before->text, ")");
}

/* Brackets open and close; a brace that closes #{ goes on with the string. */
static void
note_bracket(struct lexer *lexer, char c, bool block)
{
    const struct opening *top = innermost(lexer);
    const char closing[2] = {c, '\0'};
    size_t at = lexer->position - 1;

    if (strchr("([{", c) != NULL) {
        push(lexer, block ? '|' : c, at);
    } else if (c == '}' && top != NULL && top->kind == '#') {
        lexer->depth--;
        begin_string(lexer, '"', top->quote_begin);
    } else {
        pop(lexer, closing, c == ')' ? "(" : c == ']' ? "[" : "{|", at);
    }
}

static void
take_operator(struct lexer *lexer)
{
    static const char *const operators[] = {"<=>", "**=", "===", "...", "||=", "&&=", "<<=", ">>=",
                                            "=>",  "==",  "!=",  "<=",  ">=",  "&&",  "||",  "+=",
                                            "-=",  "*=",  "/=",  "%=",  "|=",  "&=",  "^=",  "<<",
                                            ">>",  "..",  "::",  "**",  "=~",  "!~",  "&.",  "->"};
    size_t begin = lexer->position;
    struct token *token;
    size_t size = 1;
    char c = peek(lexer, 0);
    bool block = c == '{' && opens_block(lexer);

    for (size_t i = 0; i < COUNT_OF(operators) && size == 1; i++) {
        size_t length = strlen(operators[i]);

        if (lexer->input.size - begin >= length &&
            memcmp(lexer->input.bytes + begin, operators[i], length) == 0)
            size = length;
    }
    lexer->position += size;
    token = add_token(lexer, TOKEN_OPERATOR, begin);
    token->text = keep(lexer, begin, lexer->position);
    token->begins_block = block;
    if (size == 1 && strchr("([{)]}", c) != NULL)
        note_bracket(lexer, c, block);
    if (size == 1 && strchr("()[]{},;.=+-*/%<>!&|?:~^", c) == NULL) {
        size_t length = utf8_character_bytes(
            (petal_slice){lexer->input.bytes + begin, lexer->input.size - begin});

        syntax_error_set(&lexer->error, begin, "unexpected character '%.*s'",
                         length > 0 ? (int)length : 1,
                         length > 0 ? lexer->input.bytes + begin : "?");
    }
}

static struct token *
add_made_operator(struct lexer *lexer, const char *text, size_t begin)
{
    struct token *token = add_token(lexer, TOKEN_OPERATOR, begin);

    token->text = slice_of_string(text);
    return token;
}

/* Does %w[ stand here, or with another bracket? */
static bool
starts_words(const struct lexer *lexer)
{
    const struct token *before = lexer->count > 0 ? &lexer->tokens[lexer->count - 1] : NULL;
    char blank = lexer->position > 0 ? lexer->input.bytes[lexer->position - 1] : ' ';

    return peek(lexer, 0) == '%' && peek(lexer, 1) == 'w' && peek(lexer, 2) != '\0' &&
           strchr("[({<|!", peek(lexer, 2)) != NULL &&
           (before == NULL || !ends_value(before) ||
            (before->kind == TOKEN_NAME && (blank == ' ' || blank == '\t')));
}

/* %w[a b]: the tokens of an array of strings. */
static void
take_words(struct lexer *lexer)
{
    static const char opening[] = "[({<|!", closing[] = "])}>|!";
    size_t begin = lexer->position;
    char close = closing[strchr(opening, peek(lexer, 2)) - opening];
    bool first = true;

    (void)add_made_operator(lexer, "[", begin);
    lexer->position += 3;
    for (;;) {
        size_t word;

        while (peek(lexer, 0) == ' ' || peek(lexer, 0) == '\t')
            lexer->position++;
        word = lexer->position;
        while (peek(lexer, 0) != close && strchr(" \t\n", peek(lexer, 0)) == NULL)
            lexer->position++;
        if (lexer->position > word) {
            if (!first)
                (void)add_made_operator(lexer, ",", word);
            add_token(lexer, TOKEN_STRING, word)->text = keep(lexer, word, lexer->position);
            first = false;
        }
        if (peek(lexer, 0) == close)
            break;
        if (peek(lexer, 0) == '\n' || peek(lexer, 0) == '\0') {
            syntax_error_set(&lexer->error, begin, "%%w must be closed in its line, by '%c'",
                             close);
            return;
        }
    }
    lexer->position++;
    (void)add_made_operator(lexer, "]", lexer->position - 1);
}

/* Is the minus at the position the sign of a number, and not a subtraction? */
static bool
is_sign(const struct lexer *lexer)
{
    const struct token *before = lexer->count > 0 ? &lexer->tokens[lexer->count - 1] : NULL;

    if (!is_digit(peek(lexer, 1)))
        return false;
    if (before == NULL || before->kind == TOKEN_SEPARATOR || before->kind == TOKEN_LABEL ||
        before->kind == TOKEN_PIECE)
        return true;
    if (before->kind == TOKEN_OPERATOR)
        return strchr(")]}", *(const char *)before->text.data) == NULL;
    return before->kind == TOKEN_NAME && before->end < lexer->position;
}

static bool
is_continued_by(const struct token *token)
{
    static const char never[] = ")]}?!";

    if (token->kind != TOKEN_OPERATOR)
        return false;
    return token->text.size > 1 || strchr(never, *(const char *)token->text.data) == NULL;
}

static void
take_token(struct lexer *lexer)
{
    char c = peek(lexer, 0);

    if (c == ' ' || c == '\t' || c == '\r') {
        lexer->position++;
    } else if (c == '\\' && peek(lexer, 1) == '\n') {
        lexer->position += 2;
    } else if (c == '#') {
        while (peek(lexer, 0) != '\n')
            lexer->position++;
    } else if (c == '\n') {
        size_t begin = lexer->position++;
        struct opening *top = innermost(lexer);
        bool inside = top != NULL && strchr("([{", top->kind) != NULL;

        if (top != NULL)
            top->waits_for_do = false;
        if (!inside && lexer->count > 0 && !is_continued_by(&lexer->tokens[lexer->count - 1]))
            (void)add_token(lexer, TOKEN_SEPARATOR, begin);
    } else if (c == ';') {
        lexer->position++;
        (void)add_token(lexer, TOKEN_SEPARATOR, lexer->position - 1);
        if (innermost(lexer) != NULL)
            innermost(lexer)->waits_for_do = false;
    } else if (c == '\'' || c == '"') {
        begin_string(lexer, c, lexer->position++);
    } else if (starts_name(c) || ((c == '@' || c == '$') && starts_name(peek(lexer, 1)))) {
        take_name(lexer);
    } else if (starts_words(lexer)) {
        take_words(lexer);
    } else if (c == ':' && starts_name(peek(lexer, 1))) {
        take_symbol(lexer);
    } else if (is_digit(c) || (c == '-' && is_sign(lexer))) {
        take_number(lexer);
    } else {
        take_operator(lexer);
    }
}

void
lexer_add_line(struct lexer *lexer, petal_slice line)
{
    text_add_slice(&lexer->input, line);
    text_add(&lexer->input, "\n", 1);
    while (lexer->position < lexer->input.size && lexer->error.message[0] == '\0') {
        if (lexer->quote != '\0')
            take_string(lexer);
        else
            take_token(lexer);
    }
}

bool
lexer_wants_more(const struct lexer *lexer)
{
    const struct text *input = &lexer->input;

    if (lexer->error.message[0] != '\0')
        return false;
    if (lexer->quote != '\0' || lexer->depth > 0)
        return true;
    if (input->size >= 2 && memcmp(input->bytes + input->size - 2, "\\\n", 2) == 0)
        return true;
    return lexer->count > 0 && is_continued_by(&lexer->tokens[lexer->count - 1]);
}

void
lexer_finish(struct lexer *lexer)
{
    if (lexer->quote != '\0')
        syntax_error_set(&lexer->error, lexer->quote_begin, "this quote is not closed");
    lexer->position = lexer->input.size;
    (void)add_token(lexer, TOKEN_END, lexer->position);
}
