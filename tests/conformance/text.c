/* text.c -- see tests/conformance/text.h. */
#include "tests/conformance/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

#define CHUNK_BYTES       ((size_t)256 << 10)
#define ALIGNMENT         16
#define MOST_STRING_BYTES ((size_t)64 << 20) /* more than anything a store takes */

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void *
arena_allocate(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = arena->chunks;
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *memory;

    if (chunk == NULL || chunk->size - chunk->used < rounded) {
        size_t room = rounded > CHUNK_BYTES ? rounded : CHUNK_BYTES;

        chunk = test_allocate(sizeof *chunk + room);
        *chunk = (struct arena_chunk){.next = arena->chunks, .size = room};
        arena->chunks = chunk;
    }
    memory = chunk->bytes + chunk->used;
    chunk->used += rounded;
    return memset(memory, 0, rounded);
}

petal_slice
arena_copy(struct arena *arena, petal_slice bytes)
{
    void *copy = arena_allocate(arena, bytes.size + 1);

    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return (petal_slice){copy, bytes.size};
}

void *
arena_grow(struct arena *arena, void *array, size_t count, size_t element_size)
{
    bool full = (count & (count - 1)) == 0; /* room doubles, so at each power of two, and at 0 */
    void *grown;

    if (!full)
        return array;
    grown = arena_allocate(arena, (count == 0 ? 1 : 2 * count) * element_size);
    if (count > 0)
        memcpy(grown, array, count * element_size);
    return grown;
}

void
arena_clear(struct arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *next = arena->chunks->next;

        free(arena->chunks);
        arena->chunks = next;
    }
}

/* ---- slices ---- */

petal_slice
slice_of(const char *text)
{
    return (petal_slice){text, strlen(text)};
}

bool
slice_equal(petal_slice a, petal_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int
slice_compare(petal_slice a, petal_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool
slice_is(petal_slice slice, const char *text)
{
    return slice_equal(slice, slice_of(text));
}

bool
slice_number(petal_slice text, int64_t *number)
{
    const char *digits = text.data;
    bool negative = text.size > 0 && digits[0] == '-';
    int64_t sum = 0; /* kept negative: that side has one number more */

    if (text.size == (negative ? 1u : 0u))
        return false;
    for (size_t i = negative ? 1 : 0; i < text.size; i++) {
        if (digits[i] < '0' || digits[i] > '9' || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, digits[i] - '0', &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *number = negative ? sum : -sum;
    return true;
}

/* ---- tokens ---- */

void
reader_init(struct reader *reader, const char *path, petal_slice bytes, struct arena *arena)
{
    *reader = (struct reader){.path = path, .bytes = bytes, .arena = arena};
}

void
reader_fini(struct reader *reader)
{
    free(reader->tokens);
    reader->tokens = NULL;
}

bool
reader_fail(struct reader *reader, const char *format, ...)
{
    va_list arguments;

    if (reader->failed)
        return false;
    reader->failed = true;
    reader->error_line = reader->line;
    va_start(arguments, format);
    vsnprintf(reader->error, sizeof reader->error, format, arguments);
    va_end(arguments);
    return false;
}

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode what stands between the quotes. */
static bool
decode_string(struct reader *reader, const char *from, size_t size, petal_slice *string)
{
    char *bytes;
    size_t length = 0;

    if (memchr(from, '\\', size) == NULL) {
        *string = (petal_slice){from, size};
        return true;
    }
    bytes = arena_allocate(reader->arena, size);
    for (size_t i = 0; i < size; i++) {
        int high, low;

        if (from[i] != '\\') {
            bytes[length++] = from[i];
            continue;
        }
        high = size - i > 3 && from[i + 1] == 'x' ? hex_digit(from[i + 2]) : -1;
        low = size - i > 3 ? hex_digit(from[i + 3]) : -1;
        if (high < 0 || low < 0)
            return reader_fail(reader, "a \\ in a string is not followed by x and two upper-case "
                                       "hex digits");
        bytes[length++] = (char)(high * 16 + low);
        i += 3;
    }
    *string = (petal_slice){bytes, length};
    return true;
}

/* Take `*N` after a string, if it is there. */
static bool
repeat_string(struct reader *reader, size_t *at, petal_slice *string)
{
    const char *text = reader->line_text.data;
    size_t end = *at + 1;
    int64_t times;
    char *bytes;

    if (*at == reader->line_text.size || text[*at] != '*')
        return true;
    while (end < reader->line_text.size && text[end] >= '0' && text[end] <= '9')
        end++;
    if (!slice_number((petal_slice){text + *at + 1, end - *at - 1}, &times))
        return reader_fail(reader, "a * behind a string is not followed by a number");
    if (string->size > 0 && (uint64_t)times > MOST_STRING_BYTES / string->size)
        return reader_fail(reader, "a repeated string has more than %zu bytes", MOST_STRING_BYTES);
    if (string->size == 0)
        times = 0;
    bytes = arena_allocate(reader->arena, string->size * (size_t)times + 1);
    for (size_t i = 0; i < (size_t)times; i++)
        memcpy(bytes + i * string->size, string->data, string->size);
    *string = (petal_slice){bytes, string->size * (size_t)times};
    *at = end;
    return true;
}

static bool
is_mark(char c)
{
    return c != 0 && strchr("{}[],", c) != NULL;
}

static bool
scan_token(struct reader *reader, size_t *at, struct token *token)
{
    const char *text = reader->line_text.data;
    size_t size = reader->line_text.size, end = *at;
    const char *quote;

    if (is_mark(text[*at])) {
        *token = (struct token){.kind = TOKEN_MARK, .text = {text + *at, 1}};
        (*at)++;
        return true;
    }
    if (text[*at] == '"') {
        quote = memchr(text + *at + 1, '"', size - *at - 1);
        if (quote == NULL)
            return reader_fail(reader, "a string has no closing quote");
        token->kind = TOKEN_STRING;
        end = (size_t)(quote - text);
        if (!decode_string(reader, text + *at + 1, end - *at - 1, &token->text))
            return false;
        *at = end + 1;
        if (!repeat_string(reader, at, &token->text))
            return false;
        if (*at < size && text[*at] != ' ' && !is_mark(text[*at]))
            return reader_fail(reader, "a string is followed at once by '%c'", text[*at]);
        return true;
    }
    while (end < size && text[end] != ' ' && text[end] != '"' && !is_mark(text[end]))
        end++;
    *token = (struct token){.kind = TOKEN_WORD, .text = {text + *at, end - *at}};
    *at = end;
    return true;
}

static bool
split_line(struct reader *reader)
{
    const char *text = reader->line_text.data;
    size_t size = reader->line_text.size, at = 0, behind = SIZE_MAX;

    reader->token_count = reader->token_next = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < 0x20 || text[i] > 0x7E)
            return reader_fail(reader, "byte %zu of the line, 0x%02X, is not printable ASCII",
                               i + 1, (unsigned)(unsigned char)text[i]);
    }
    while (at < size) {
        struct token token = {.kind = TOKEN_WORD};
        size_t start = at;

        if (text[at] == ' ') {
            at++;
            continue;
        }
        if (!scan_token(reader, &at, &token))
            return false;
        token.glued = start == behind;
        behind = at;
        if (reader->token_count == reader->token_capacity) {
            reader->token_capacity = reader->token_capacity * 2 + 32;
            reader->tokens =
                test_reallocate(reader->tokens, reader->token_capacity * sizeof *reader->tokens);
        }
        reader->tokens[reader->token_count++] = token;
    }
    return true;
}

bool
reader_next_line(struct reader *reader)
{
    const char *bytes = reader->bytes.data;

    while (!reader->failed && reader->next < reader->bytes.size) {
        const char *start = bytes + reader->next;
        const char *end = memchr(start, '\n', reader->bytes.size - reader->next);

        reader->line++;
        if (end == NULL)
            return reader_fail(reader, "the last line does not end with a line feed");
        reader->line_text = (petal_slice){start, (size_t)(end - start)};
        reader->next += (size_t)(end - start) + 1;
        if (start[0] == '#')
            continue;
        if (!split_line(reader))
            return false;
        if (reader->token_count > 0)
            return true;
    }
    reader->token_count = reader->token_next = 0;
    return false;
}

/* ---- taking tokens ---- */

const struct token *
reader_peek(const struct reader *reader)
{
    return reader->token_next < reader->token_count ? &reader->tokens[reader->token_next] : NULL;
}

bool
reader_at_word(const struct reader *reader, const char *word)
{
    const struct token *token = reader_peek(reader);

    return token != NULL && token->kind == TOKEN_WORD && slice_is(token->text, word);
}

bool
reader_at_mark(const struct reader *reader, char mark)
{
    const struct token *token = reader_peek(reader);

    return token != NULL && token->kind == TOKEN_MARK && *(const char *)token->text.data == mark;
}

static bool
take(struct reader *reader, enum token_kind kind, const char *what, petal_slice *text)
{
    const struct token *token = reader_peek(reader);

    if (reader->failed)
        return false;
    if (token == NULL)
        return reader_fail(reader, "%s is missing at the end of the line", what);
    if (token->kind != kind)
        return reader_fail(reader, "there should be %s, not %s'%.*s'", what,
                           token->kind == TOKEN_STRING ? "the string " : "",
                           token->text.size > 40 ? 40 : (int)token->text.size,
                           (const char *)token->text.data);
    *text = token->text;
    reader->token_next++;
    return true;
}

bool
reader_take_string(struct reader *reader, const char *what, petal_slice *string)
{
    return take(reader, TOKEN_STRING, what, string);
}

bool
reader_take_word(struct reader *reader, const char *what, petal_slice *word)
{
    return take(reader, TOKEN_WORD, what, word);
}

bool
reader_take_mark(struct reader *reader, char mark)
{
    char what[4] = {'\'', mark, '\'', 0};
    petal_slice text;

    if (!reader_at_mark(reader, mark) && reader_peek(reader) != NULL &&
        reader_peek(reader)->kind == TOKEN_MARK)
        return reader_fail(reader, "there should be '%c', not '%c'", mark,
                           *(const char *)reader_peek(reader)->text.data);
    return take(reader, TOKEN_MARK, what, &text);
}

bool
reader_take_number(struct reader *reader, const char *what, int64_t *number)
{
    petal_slice word;

    if (!reader_take_word(reader, what, &word))
        return false;
    if (!slice_number(word, number))
        return reader_fail(reader, "%s should be a number of 64 signed bits, not '%.*s'", what,
                           word.size > 40 ? 40 : (int)word.size, (const char *)word.data);
    return true;
}

bool
reader_take_end(struct reader *reader)
{
    const struct token *token = reader_peek(reader);

    if (reader->failed)
        return false;
    if (token == NULL)
        return true;
    return reader_fail(reader, "'%.*s' stands behind the end of what belongs there",
                       token->text.size > 40 ? 40 : (int)token->text.size,
                       (const char *)token->text.data);
}

bool
reader_take_option(struct reader *reader, petal_slice *name, bool *has_value, petal_slice *value)
{
    petal_slice word;
    const char *equal;

    if (!reader_take_word(reader, "an option", &word))
        return false;
    equal = memchr(word.data, '=', word.size);
    *has_value = equal != NULL;
    *name = word;
    *value = (petal_slice){"", 0};
    if (equal != NULL) {
        name->size = (size_t)(equal - (const char *)word.data);
        *value = (petal_slice){equal + 1, word.size - name->size - 1};
    }
    return true;
}

bool
reader_take_glued_string(struct reader *reader, const char *what, petal_slice *string)
{
    const struct token *token = reader_peek(reader);

    if (token != NULL && !token->glued)
        return reader_fail(reader, "there is a space before %s", what);
    return reader_take_string(reader, what, string);
}
