/*
 * lines.h -- lists of lines, and the ways to make and change them.
 *
 * A line is a C string without its line end; a zero byte in a text stands in it as the character
 * U+2400.
 */
#ifndef PETAL_TESTS_REPLAY_LINES_H
#define PETAL_TESTS_REPLAY_LINES_H

#include "tools/shell/text/text.h"

#include <regex.h>

struct lines {
    char **items; /* owned */
    size_t count, capacity;
};

void lines_free(struct lines *lines);
void lines_add(struct lines *lines, const char *line, size_t size);
void lines_remove(struct lines *lines, size_t index);
void lines_copy(struct lines *to, const struct lines *from);
void lines_sort(struct lines *lines);

/* Add the lines of a text; what stands after its last line end is one, too, unless it is empty. */
void lines_split(struct lines *lines, petal_slice text);

/* All of a file; false with errno set if it cannot be read. */
bool read_file(const char *path, struct text *text);

/* Compile an extended regular expression; false, after telling stderr where and why, if it is
 * none. */
bool compile_pattern(const char *pattern, const char *path, size_t line, regex_t *compiled);

bool matches(const regex_t *pattern, const char *line);

/* Replace what matches, everywhere in the line; \1 to \9 in `replacement` are groups.  Was there
 * anything? */
bool replace_in_line(char **line, const regex_t *pattern, const char *replacement);

#endif
