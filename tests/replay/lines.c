/* lines.c -- see tests/replay/lines.h. */
#include "tests/replay/lines.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 10 };

void
lines_free(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i]);
    free(lines->items);
    *lines = (struct lines){0};
}

void
lines_add(struct lines *lines, const char *line, size_t size)
{
    struct text text = {0};

    for (size_t begin = 0, at = 0; at <= size; at++) {
        if (at < size && line[at] != '\0')
            continue;
        text_add(&text, line + begin, at - begin);
        if (at < size)
            text_add_string(&text, "\xe2\x90\x80");
        begin = at + 1;
    }
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity > 0 ? 2 * lines->capacity : 16;
        lines->items = memory_grow(lines->items, lines->capacity * sizeof(*lines->items));
    }
    lines->items[lines->count] = memory_allocate(text.size + 1);
    memcpy(lines->items[lines->count++], text_string(&text), text.size + 1);
    text_free(&text);
}

void
lines_remove(struct lines *lines, size_t index)
{
    free(lines->items[index]);
    lines->count--;
    memmove(lines->items + index, lines->items + index + 1,
            (lines->count - index) * sizeof(*lines->items));
}

void
lines_copy(struct lines *to, const struct lines *from)
{
    for (size_t i = 0; i < from->count; i++)
        lines_add(to, from->items[i], strlen(from->items[i]));
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void
lines_sort(struct lines *lines)
{
    if (lines->count > 0)
        qsort(lines->items, lines->count, sizeof(*lines->items), compare_lines);
}

void
lines_split(struct lines *lines, petal_slice text)
{
    const char *at = text.data;
    size_t left = text.size;

    while (left > 0) {
        const char *end = memchr(at, '\n', left);
        size_t size = end != NULL ? (size_t)(end - at) : left;

        lines_add(lines, at, size);
        size += end != NULL;
        at += size;
        left -= size;
    }
}

bool
read_file(const char *path, struct text *text)
{
    FILE *file = fopen(path, "rb");
    char buffer[16384];
    size_t size;
    bool good;

    if (file == NULL)
        return false;
    while ((size = fread(buffer, 1, sizeof(buffer), file)) > 0)
        text_add(text, buffer, size);
    good = ferror(file) == 0;
    (void)fclose(file);
    if (!good)
        errno = EIO;
    return good;
}

bool
compile_pattern(const char *pattern, const char *path, size_t line, regex_t *compiled)
{
    char message[200];
    int error = regcomp(compiled, pattern, REG_EXTENDED);

    if (error == 0)
        return true;
    (void)regerror(error, compiled, message, sizeof(message));
    (void)fprintf(stderr, "%s:%zu: %s: %s\n", path, line, pattern, message);
    return false;
}

bool
matches(const regex_t *pattern, const char *line)
{
    return regexec(pattern, line, 0, NULL, 0) == 0;
}

static void
add_replacement(struct text *text, const char *replacement, const char *line,
                const regmatch_t groups[GROUPS])
{
    for (const char *at = replacement; *at != '\0'; at++) {
        const regmatch_t *group =
            &groups[at[0] == '\\' && at[1] >= '1' && at[1] <= '9' ? (size_t)(at[1] - '0') : 0];

        if (group == &groups[0]) {
            text_add(text, at, 1);
            continue;
        }
        if (group->rm_so >= 0)
            text_add(text, line + group->rm_so, (size_t)(group->rm_eo - group->rm_so));
        at++;
    }
}

bool
replace_in_line(char **line, const regex_t *pattern, const char *replacement)
{
    struct text text = {0};
    regmatch_t groups[GROUPS];
    const char *at = *line;
    bool found = false;

    while (regexec(pattern, at, GROUPS, groups, at == *line ? 0 : REG_NOTBOL) == 0 &&
           groups[0].rm_eo > groups[0].rm_so) {
        text_add(&text, at, (size_t)groups[0].rm_so);
        add_replacement(&text, replacement, at, groups);
        at += groups[0].rm_eo;
        found = true;
    }
    if (found) {
        text_add_string(&text, at);
        *line = memory_grow(*line, text.size + 1);
        memcpy(*line, text_string(&text), text.size + 1);
    }
    text_free(&text);
    return found;
}
