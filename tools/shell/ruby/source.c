/* source.c -- see tools/shell/ruby/source.h. */
#include "tools/shell/ruby/source.h"

#include <string.h>

enum { MOST_OPEN = 256 }; /* brackets in one another that are told apart */

struct scan {
    struct source *source;
    const char *letters;
    size_t size, at;
    char open[MOST_OPEN]; /* brackets as they stand; # for the #{ of a string */
    unsigned depth;
    size_t string_begin, string_end; /* of the latest string; both 0: none */
};

static bool
is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || (letter & 0x80) != 0;
}

static void
push(struct scan *scan, char kind)
{
    if (scan->depth < MOST_OPEN)
        scan->open[scan->depth] = kind;
    scan->depth++;
}

/* Read the rest of a string, up to its quote or to the #{ in it. */
static void
read_string(struct scan *scan, char quote)
{
    while (scan->at < scan->size && scan->letters[scan->at] != quote) {
        if (scan->letters[scan->at] == '\\') {
            scan->at++;
        } else if (quote != '\'' && scan->letters[scan->at] == '#' && scan->at + 1 < scan->size &&
                   scan->letters[scan->at + 1] == '{') {
            scan->at += 2;
            push(scan, '#');
            return;
        }
        scan->at++;
    }
    if (scan->at >= scan->size) {
        scan->source->open_string = scan->string_begin;
        scan->at = scan->size;
    } else {
        scan->at++;
    }
    scan->string_end = scan->at;
}

/* Is there a string before the place, in its line, with nothing but blanks between? */
static bool
follows_string(const struct scan *scan)
{
    if (scan->string_end == 0)
        return false;
    for (size_t i = scan->string_end; i < scan->at; i++)
        if (scan->letters[i] != ' ' && scan->letters[i] != '\t')
            return false;
    return true;
}

/* Anything else in the place of an argument, after a string without a comma, is a mistake. */
static void
note_apart(struct scan *scan, size_t end)
{
    if (scan->source->apart.size == 0 && follows_string(scan) && scan->at > scan->string_end)
        scan->source->apart = (petal_slice){scan->letters + scan->at, end - scan->at};
}

static void
begin_string(struct scan *scan)
{
    size_t first = scan->string_begin, begin = scan->at;
    bool joined = follows_string(scan) && scan->source->joined.size == 0;

    scan->string_begin = begin;
    scan->at++;
    read_string(scan, scan->letters[begin]);
    if (joined) {
        scan->source->comma = begin;
        scan->source->joined = (petal_slice){scan->letters + first, scan->string_end - first};
    }
}

static bool
is_word(const struct scan *scan, size_t begin, size_t end, const char *const words[])
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (slice_is((petal_slice){scan->letters + begin, end - begin}, words[i]))
            return true;
    return false;
}

static size_t
end_of_name(const struct scan *scan, size_t at)
{
    while (at < scan->size && is_name_letter(scan->letters[at]))
        at++;
    return at;
}

/* The prefix that ends there and the name that it is for become one name. */
static void
join_prefix(struct scan *scan, size_t begin, size_t end, size_t next)
{
    char *text = scan->source->text.bytes;
    size_t blanks = next - end;

    memmove(text + begin + blanks - 1, text + begin, end - begin);
    memset(text + begin, ' ', blanks - 1);
    text[next - 1] = '_';
}

/* Words that go on with what stands before them. */
static const char *const keywords[] = {"if",   "unless", "while", "until", "and",
                                       "or",   "do",     "then",  "end",   "rescue",
                                       "else", "elsif",  "in",    "when",  NULL};

static void
read_name(struct scan *scan)
{
    static const char *const prefixes[] = {"explain", "time", "help", NULL};
    size_t begin = scan->at, end = end_of_name(scan, begin), next = end;
    char before = begin > 0 ? scan->letters[begin - 1] : ' ';

    if (!is_word(scan, begin, end, keywords))
        note_apart(scan, end);
    scan->at = end;
    if (strchr(".:@$", before) != NULL || !is_word(scan, begin, end, prefixes))
        return;
    while (next < scan->size && (scan->letters[next] == ' ' || scan->letters[next] == '\t'))
        next++;
    if (next == end || next == scan->size || !is_name_letter(scan->letters[next]) ||
        (scan->letters[next] >= '0' && scan->letters[next] <= '9') ||
        is_word(scan, next, end_of_name(scan, next), keywords))
        return;
    join_prefix(scan, begin, end, next);
    scan->at = next; /* which may be a prefix, too */
}

static void
read_sign(struct scan *scan)
{
    char letter = scan->letters[scan->at];

    if (letter == '{')
        note_apart(scan, scan->at + 1);
    scan->at++;
    if (letter == '(' || letter == '[' || letter == '{') {
        push(scan, letter);
    } else if ((letter == ')' || letter == ']' || letter == '}') && scan->depth > 0) {
        scan->depth--;
        if (letter == '}' && scan->depth < MOST_OPEN && scan->open[scan->depth] == '#')
            read_string(scan, '"');
    }
}

void
source_read(struct source *source, petal_slice input)
{
    struct scan scan = {.source = source, .letters = input.data, .size = input.size};

    *source = (struct source){.joined = {"", 0}, .apart = {"", 0}, .open_string = SIZE_MAX};
    text_add_slice(&source->text, input);
    while (scan.at < scan.size) {
        char letter = scan.letters[scan.at];

        if (letter == '#')
            while (scan.at < scan.size && scan.letters[scan.at] != '\n')
                scan.at++;
        else if (letter == '\'' || letter == '"' || letter == '`')
            begin_string(&scan);
        else if (is_name_letter(letter))
            read_name(&scan);
        else
            read_sign(&scan);
    }
    source->depth = scan.depth;
}

void
source_free(struct source *source)
{
    text_free(&source->text);
}
