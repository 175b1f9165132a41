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
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        syntax_error_set(&lexer->error, position, "no such Unicode character");
    } else if (code < 0x80) {
        add_byte(lexer, code);
    } else if (code < 0x800) {
        add_byte(lexer, 0xc0 | code >> 6);
        add_byte(lexer, 0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        add_byte(lexer, 0xe0 | code >> 12);
        add_byte(lexer, 0x80 | (code >> 6 & 0x3f));
        add_byte(lexer, 0x80 | (code & 0x3f));
    } else {
        add_byte(lexer, 0xf0 | code >> 18);
        add_byte(lexer, 0x80 | (code >> 12 & 0x3f));
        add_byte(lexer, 0x80 | (code >> 6 & 0x3f));
        add_byte(lexer, 0x80 | (code & 0x3f));
    }
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

/* Read on in the open string, to its end or to the end of the input. */
static void
take_string(struct lexer *lexer)
{
    while (lexer->position < lexer->input.size && lexer->error.message[0] == '\0') {
        char c = peek(lexer, 0);
        char next = peek(lexer, 1);

        lexer->position++;
        if (c == lexer->quote) {
            struct token *token = add_token(lexer, TOKEN_STRING, lexer->quote_begin);

            token->text.size = lexer->string.size;
            token->text.data = arena_copy(lexer->arena, lexer->string.bytes, lexer->string.size);
            lexer->quote = '\0';
            return;
        }
        if (c == '\\' && lexer->quote == '"') {
            take_escape(lexer);
        } else if (c == '\\' && (next == '\'' || next == '\\')) {
            add_byte(lexer, (unsigned char)next);
            lexer->position++;
        } else if (c == '#' && next == '{' && lexer->quote == '"') {
            syntax_error_set(&lexer->error, lexer->position - 1,
                             "#{..} in a string is not supported by this version");
        } else {
            add_byte(lexer, (unsigned char)c);
        }
    }
}

/* ---- Other tokens ---------------------------------------------------------------------------- */

static void
take_name(struct lexer *lexer)
{
    size_t begin = lexer->position;
    enum token_kind kind = is_capital(peek(lexer, 0)) ? TOKEN_CONSTANT : TOKEN_NAME;
    struct token *token;
    size_t end;

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
}

static bool
take_fraction_and_exponent(struct lexer *lexer)
{
    bool fraction = peek(lexer, 0) == '.' && is_digit(peek(lexer, 1));
    size_t sign = peek(lexer, 1) == '-' || peek(lexer, 1) == '+' ? 2 : 1;
    bool exponent;

    if (fraction) {
        lexer->position++;
        while (is_digit(peek(lexer, 0)) || peek(lexer, 0) == '_')
            lexer->position++;
        sign = peek(lexer, 1) == '-' || peek(lexer, 1) == '+' ? 2 : 1;
    }
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

static void
take_operator(struct lexer *lexer)
{
    static const char *const operators[] = {"<=>", "**=", "=>", "==", "!=", "<=", ">=", "&&", "||",
                                            "+=",  "-=",  "*=", "/=", "<<", ">>", "..", "::", "**"};
    size_t begin = lexer->position;
    struct token *token;
    size_t size = 1;
    char c = peek(lexer, 0);

    for (size_t i = 0; i < COUNT_OF(operators) && size == 1; i++) {
        size_t length = strlen(operators[i]);

        if (lexer->input.size - begin >= length &&
            memcmp(lexer->input.bytes + begin, operators[i], length) == 0)
            size = length;
    }
    lexer->position += size;
    if (size == 1 && strchr("([{", c) != NULL)
        lexer->depth++;
    else if (size == 1 && strchr(")]}", c) != NULL)
        lexer->depth--;
    token = add_token(lexer, TOKEN_OPERATOR, begin);
    token->text = keep(lexer, begin, lexer->position);
    if (size == 1 && strchr("()[]{},;.=+-*/%<>!&|?:~^", c) == NULL) {
        size_t length = utf8_character_bytes(
            (petal_slice){lexer->input.bytes + begin, lexer->input.size - begin});

        syntax_error_set(&lexer->error, begin, "unexpected character '%.*s'",
                         length > 0 ? (int)length : 1,
                         length > 0 ? lexer->input.bytes + begin : "?");
    }
}

/* Is the minus at the position the sign of a number, and not a subtraction? */
static bool
is_sign(const struct lexer *lexer)
{
    const struct token *before = lexer->count > 0 ? &lexer->tokens[lexer->count - 1] : NULL;

    if (!is_digit(peek(lexer, 1)))
        return false;
    if (before == NULL || before->kind == TOKEN_SEPARATOR || before->kind == TOKEN_LABEL)
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
        bool inside = lexer->depth > 0;

        if (!inside && lexer->count > 0 && !is_continued_by(&lexer->tokens[lexer->count - 1]))
            (void)add_token(lexer, TOKEN_SEPARATOR, begin);
    } else if (c == ';') {
        lexer->position++;
        (void)add_token(lexer, TOKEN_SEPARATOR, lexer->position - 1);
    } else if (c == '\'' || c == '"') {
        lexer->quote = c;
        lexer->quote_begin = lexer->position++;
        text_clear(&lexer->string);
    } else if (starts_name(c)) {
        take_name(lexer);
    } else if (c == ':' && starts_name(peek(lexer, 1))) {
        size_t begin = lexer->position++;
        struct token *token;

        while (continues_name(peek(lexer, 0)))
            lexer->position++;
        token = add_token(lexer, TOKEN_SYMBOL, begin);
        token->text = keep(lexer, begin + 1, lexer->position);
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
    return lexer->depth == 0 && lexer->count > 0 &&
           is_continued_by(&lexer->tokens[lexer->count - 1]);
}

void
lexer_finish(struct lexer *lexer)
{
    if (lexer->quote != '\0')
        syntax_error_set(&lexer->error, lexer->quote_begin, "this quote is not closed");
    lexer->position = lexer->input.size;
    (void)add_token(lexer, TOKEN_END, lexer->position);
}
