/*
 * shell_schema.h -- attributes of tables and families in the words of the shell: read from the arguments of create,
 * written by describe.
 *
 * HBase's attributes that this store has no use for are accepted at their default value and refused at any other.
 */
#ifndef PETAL_SHELL_SCHEMA_H
#define PETAL_SHELL_SCHEMA_H

#include "tools/shell_session.h"

/* Families of a table to be; the slices live in the session's arena. */
struct schema {
    petal_table_options table;
    petal_family_options *families; /* room for `capacity` */
    size_t capacity;
};

/* Read the arguments of create behind the table's name: names, lists of names, hashes. */
enum shell_status schema_read(struct session *session, const struct value *arguments, size_t count,
                              struct schema *schema);

/* {NAME => 'f', .., BLOCKSIZE => '65536 B (64KB)'} */
void schema_describe_family(struct text *text, const petal_family *family);

/* The table's name, and {TABLE_ATTRIBUTES => {..}} if it has any. */
void schema_describe_table(struct text *text, const petal_table *table);

const char *schema_bloom_name(enum petal_bloom_type bloom);

/* Read "64KB", "1 MB", "12"; false if that is no size. */
bool schema_parse_size(petal_slice text, uint64_t *bytes);

#endif
