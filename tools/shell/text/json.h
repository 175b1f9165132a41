/*
 * json.h -- bytes as a JSON value, which every byte can be had back from: UTF-8 is a string, and
 * what is none an object, {"b64":"/w=="}, with the bytes in base64.
 *
 * A cell has one shape wherever a program prints it as JSON: scan, get and export of kv-shell,
 * kv-hfile print and kv-check dump.  import takes it:
 *
 *     {"row":"r","family":"f","qualifier":"q","timestamp":1,"type":"Put","ttl":60000,"value":"v"}
 *
 * in this order.  row, family, qualifier and value are such bytes; the value of a deletion is null,
 * and so is a family that is not known.  timestamp and ttl are milliseconds; ttl, a time to live of
 * the cell's own, is left out where there is none.  type is Put, Delete, DeleteColumn, DeleteFamily
 * or DeleteFamilyVersion.  kv-hfile and kv-check have "kind":"cell" before these, as in all their
 * lists, and after them what a file says beyond: "sequence", "tags", "table_id", "family_id".
 */
#ifndef PETAL_TOOLS_SHELL_TEXT_JSON_H
#define PETAL_TOOLS_SHELL_TEXT_JSON_H

#include "tools/shell/text/text.h"

enum {
    JSON_GREATEST_ESCAPE = 6, /* bytes that one may become: \u0000 */
    JSON_OVERHEAD = 16        /* quotes and braces of a value */
};

bool text_is_utf8(petal_slice bytes);

/* Write the value after `to`, where there is room for it; returns its end. */
char *json_put_bytes(char *to, petal_slice bytes);

/* The same of UTF-8 without the quotes. */
char *json_put_letters(char *to, petal_slice text);

void text_add_json(struct text *text, petal_slice bytes);

/* What base64 with its padding means; `to` may be where the letters are. False: it is none. */
bool base64_read(petal_slice letters, char *to, size_t *size);

#endif
