/*
 * convert.h -- how bytes are shown: HBase's converters, the methods of its class Bytes.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_CONVERT_H
#define PETAL_TOOLS_SHELL_SESSION_CONVERT_H

#include "tools/shell/session/session.h"

enum conversion {
    CONVERT_TO_STRING_BINARY, /* the usual one: text_add_binary */
    CONVERT_TO_STRING,        /* UTF-8 */
    CONVERT_TO_HEX,
    CONVERT_TO_INT, /* numbers are big-endian, of the first 2, 4 or 8 bytes */
    CONVERT_TO_LONG,
    CONVERT_TO_SHORT,
    CONVERT_TO_FLOAT,
    CONVERT_TO_DOUBLE,
    CONVERT_TO_BOOLEAN
};

/* The converter of a name such as 'toInt' or 'c(org.apache.hadoop.hbase.util.Bytes).toInt';
 * fails if there is none. */
enum shell_status convert_find(struct session *session, petal_slice name,
                               enum conversion *conversion);

/* Add the bytes as the converter shows them; fails when their number does not fit. */
enum shell_status convert_add(struct session *session, struct text *text,
                              enum conversion conversion, petal_slice bytes);

/* The value that bytes, as many as convert_add would take, are as a number or as true or false. */
struct value convert_number(enum conversion conversion, petal_slice bytes);

#endif
