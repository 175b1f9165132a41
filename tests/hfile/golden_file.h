/*
 * golden_file.h -- the files that HBase 2.6.0 wrote, tests/hfile/golden, taken apart by the parsers
 * of tools/hfile/format alone. golden/INDEX.txt says what each is for.
 */
#ifndef PETAL_TESTS_HFILE_GOLDEN_FILE_H
#define PETAL_TESTS_HFILE_GOLDEN_FILE_H

#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/file_info.h"
#include "tools/hfile/format/trailer.h"

struct golden_file {
    char name[80];
    uint8_t *bytes;
    size_t size;
    struct hfile_trailer trailer;
    struct hfile_file_info info;
    enum petal_hfile_codec codec;
    const struct hfile_encoding *encoding;
    struct hfile_cell_layout layout;
    bool is_refused; /* a reader may refuse it: its cells are not asked for */
};

size_t golden_count(void);

/* REQUIRES: number < golden_count() */
void golden_open(struct golden_file *file, size_t number);
void golden_open_named(struct golden_file *file, const char *name);
void golden_close(struct golden_file *file);

/* The value of "key<TAB>value" of the file's text of facts, and of those whose value begins with
 * `begin`, what is behind that; false if there is none. */
bool golden_fact(const struct golden_file *file, const char *key, const char *begin, char *value,
                 size_t size);
uint64_t golden_number(const struct golden_file *file, const char *key, const char *begin,
                       uint64_t otherwise);

/* The block at *offset, which moves behind it; false at the trailer. `payload`, uncompressed, is to be
 * freed. */
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
