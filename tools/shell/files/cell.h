/*
 * cell.h -- cells as lines of text, one cell a line: what export writes and import reads.
 *
 * csv    row,family,qualifier,timestamp,type,ttl,value: these names are the first line.  A value
 *        with a comma or a quote stands in quotes, those inside doubled.
 * tsv    The same, parted by tabs, without quotes.
 * jsonl  Objects of the shape that tools/shell/text/json.h describes.  What is read may have its
 *        keys in any order, "column":"f:q" in place of family and qualifier, and no "type": a put.
 * hbase  Commands of the HBase shell: put, delete and deleteall with their timestamps.  Lines that
 *        begin with #, create or alter are passed over.
 *
 * In the others a byte outside 0x20 .. 0x7e, and the backslash, is written \xHH: so every byte
 * comes back.  What is read may hold other bytes as they are, but a backslash that begins no \xHH
 * is a mistake.
 *
 * type is Put, Delete, DeleteColumn, DeleteFamily or DeleteFamilyVersion; ttl the cell's own time
 * to live in milliseconds, or nothing.  Without a timestamp the store gives its own.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_CELL_H
#define PETAL_TOOLS_SHELL_FILES_CELL_H

#include "tools/shell/files/fields.h"

enum { CELL_FIELDS = 7 };

/* ---- Writing --------------------------------------------------------------------------------- */

/* The line before the first cell, if the format has one. */
void cell_write_header(struct text *text, enum file_format format);

/* Add the cell's line with its end.  `table` is for commands. */
void cell_write(struct text *text, enum file_format format, petal_slice table,
                const petal_cell *cell);

/* ---- Reading --------------------------------------------------------------------------------- */

enum cell_outcome {
    CELL_GOOD,
    CELL_NONE, /* a line that holds no cell: empty, a comment */
    CELL_BAD   /* parser->message and parser->place say why and where */
};

/* Not for use by several threads at once; copies of one that has read its header are for one
 * thread each. */
struct cell_parser {
    enum file_format format;
    uint8_t fields[CELL_FIELDS]; /* csv, tsv: which field each value is, as the first line says */
    size_t field_count;

    petal_cell cell;     /* of the line at hand; its slices point into the line or into `bytes` */
    struct text bytes;   /* with room for the whole line */
    petal_slice table;   /* hbase: that the command names */
    const char *message; /* of a bad line */
    size_t place;        /* of the mistake: number of the byte in the line, from 1 */
};

/*
 * Take the first line of a csv or tsv file.  False if it is not one of cells: it has other names
 * than those above, or lacks row, family or value.
 */
bool cell_parser_header(struct cell_parser *parser, petal_slice line);

/* Read a line, given without its end. */
enum cell_outcome cell_parse(struct cell_parser *parser, petal_slice line);
void cell_parser_free(struct cell_parser *parser);

/* NULL, or why no store takes the cell. */
const char *cell_check(const petal_cell *cell);

/* ---- For the formats: cell_table.c, cell_json.c, cell_hbase.c -------------------------------- */

enum cell_outcome cell_parse_table(struct cell_parser *parser, petal_slice line);
enum cell_outcome cell_parse_json(struct cell_parser *parser, petal_slice line);
enum cell_outcome cell_parse_hbase(struct cell_parser *parser, petal_slice line);

/* Each writes after `to`, where there is room enough, and returns the end. */
char *cell_write_table(char *to, enum file_format format, const petal_cell *cell);
char *cell_write_json(char *to, const petal_cell *cell);
char *cell_write_hbase(char *to, petal_slice table, const petal_cell *cell);

/* Bytes with \xHH for what is not plain; `first` and `second` are not, either. */
char *cell_put_binary(char *to, petal_slice bytes, char first, char second);
char *cell_put_string(char *to, const char *string);
char *cell_put_number(char *to, int64_t number);

/* Digits, perhaps after a minus. */
bool cell_number_read(petal_slice digits, int64_t *number);

/* Take the digits at *at.  NULL, or what is wrong there. */
const char *cell_take_number(const char **at, const char *end, int64_t *number);

/* Undo \xHH in the bytes of the parser after `begin`, in place; what they mean then. False at
 * another backslash. */
bool cell_undo_binary(struct cell_parser *parser, size_t begin, petal_slice *bytes);

enum cell_outcome cell_fail(struct cell_parser *parser, petal_slice line, const char *at,
                            const char *message);

#endif
