/*
 * print.h -- what a program says, once for people and once as JSON: objects with named members, and
 * lists of objects.
 *
 * Text has a line for each member below its object's name, or, for small objects, one line for all.
 * In JSON an object in a list has its name as the member "kind", and
 * names have '_' for spaces. In text bytes are printed as HBase does: what is not printable ASCII,
 * and the backslash, as \xHH. So nothing that stands in a file reaches the terminal as it is. In
 * JSON they are as tools/shell/text/json.h says, and whole.
 */
#ifndef PETAL_TOOLS_COMMAND_PRINT_H
#define PETAL_TOOLS_COMMAND_PRINT_H

#include "engine/petal.h"

#include <stdio.h>

#define PRINT_DEPTH 16

struct print {
    FILE *out;
    bool json;
    size_t value_bytes; /* of text: longer bytes are cut there, with their size; 0: never */
    unsigned depth;
    struct {
        bool is_list, in_line, has_members;
    } levels[PRINT_DEPTH];
};

/* Everything stands in one object, which has no name. */
void print_start(struct print *print, FILE *out, bool json);
void print_finish(struct print *print);

void print_object(struct print *print, const char *name);
/* An object in one line of text. There a member may have no name. */
void print_line(struct print *print, const char *name);
void print_list(struct print *print, const char *name);
void print_end(struct print *print); /* of an object or list */

void print_text(struct print *print, const char *name, const char *text);
void print_bytes(struct print *print, const char *name, petal_slice bytes);
/* The members of a cell, of which `type` is the name: in JSON those of tools/shell/text/json.h. A
 * family without data is not known. */
void print_cell(struct print *print, const petal_cell *cell, const char *type);
void print_number(struct print *print, const char *name, uint64_t number);
void print_signed(struct print *print, const char *name, int64_t number);
void print_hex(struct print *print, const char *name, uint64_t number); /* 16 digits */
void print_real(struct print *print, const char *name, double number);
void print_boolean(struct print *print, const char *name, bool value);

/* Offset or bytes of what `text` told just before: people are not told again what it says. */
void print_number_once(struct print *print, const char *name, uint64_t number, const char *text);

#endif
