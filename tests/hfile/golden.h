/*
 * golden.h -- files that HBase wrote (tests/hfile/golden; INDEX.txt says what each is for), with
 * what HBase says of them: NAME.cells.txt, one cell a line, and NAME.meta.txt. PETAL_HFILES names
 * another directory of such files to be read in place of them.
 */
#ifndef PETAL_TESTS_HFILE_GOLDEN_H
#define PETAL_TESTS_HFILE_GOLDEN_H

#include "tools/hfile/petal_hfile.h"

#define GOLDEN_MOST_FIELDS 9

/* Lines of a text, each cut into fields at tabs. Those that begin with '#' are left out. */
struct golden_line {
    char *fields[GOLDEN_MOST_FIELDS];
    size_t count;
};
struct golden_text {
    char *bytes;
    struct golden_line *lines;
    size_t count;
};

/* `ending`: "cells.txt" or "meta.txt". */
struct golden_text golden_text_read(const char *name, const char *ending);
void golden_text_free(struct golden_text *text);

/* The field after the first one of the line that begins with `key`; NULL: there is none. */
const char *golden_find(const struct golden_text *text, const char *key);

/* For each file of the directory, by name: `one` with the name, without directory and ending. */
void golden_each(void (*one)(const char *name));

/* Of a file's name as golden_each gives it. */
void golden_path(const char *name, char *path, size_t path_bytes);

/* Is it one of those that are to be refused? */
bool golden_is_refused(const char *name);

/* All bytes of the file, for the caller to free. */
uint8_t *golden_bytes(const char *name, size_t *size);

/* Bytes as the texts have them: \xHH outside of 0x21..0x7e, and for the backslash; more than 200 as
 * sha256:DIGITS:SIZE. For the caller to free. */
char *golden_escape(petal_slice bytes);

/* The opposite, of what is no checksum. */
petal_slice golden_unescape(const char *text); /* data to be freed */

/* A cell as a line of NAME.cells.txt, without newline. For the caller to free. */
char *golden_cell_line(const petal_hfile_cell *cell);

/* A source of bytes in memory, which stay the caller's. */
petal_hfile_source golden_source(petal_slice *bytes, const char *name);

#endif
