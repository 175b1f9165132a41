/*
 * golden_file.h -- a golden file (golden.h) taken apart by the parsers of tools/hfile/format alone,
 * for tests of what is written.
 */
#ifndef PETAL_TESTS_HFILE_GOLDEN_FILE_H
#define PETAL_TESTS_HFILE_GOLDEN_FILE_H

#include "tests/hfile/golden.h"
#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/file_info.h"
#include "tools/hfile/format/trailer.h"

struct golden_file {
    const char *name;
    uint8_t *bytes;
    size_t size;
    struct golden_text facts; /* NAME.meta.txt */
    struct hfile_trailer trailer;
    struct hfile_file_info info;
    enum petal_hfile_codec codec;
    const struct hfile_encoding *encoding;
    struct hfile_cell_layout layout;
};

/* Could the writer have written it? Not the files that are refused, nor those with tags in a
 * dictionary. */
bool golden_is_writable(const char *name);

/* REQUIRES: golden_is_writable(name). `name` stays the caller's. */
void golden_file_open(struct golden_file *file, const char *name);
void golden_file_close(struct golden_file *file);

/* The number of HBase's setting `name` under which the file was written; 0: its default. */
uint32_t golden_file_setting(const struct golden_file *file, const char *name);

/* The block at *offset, which moves after it; false at the trailer. `payload`, uncompressed, is
 * to be freed. */
struct golden_block {
    petal_hfile_block header;
    uint8_t *payload;
};
bool golden_block_next(const struct golden_file *file, uint64_t *offset,
                       struct golden_block *block);

/* All cells of the file, for golden_cells_free. */
struct golden_cells {
    petal_hfile_cell *cells;
    size_t count;
    struct hfile_cells *blocks;
    uint8_t **payloads;
    size_t block_count;
};
void golden_cells_read(const struct golden_file *file, struct golden_cells *cells);
void golden_cells_free(struct golden_cells *cells);

#endif
