/*
 * fixture.h -- store files for tests: surroundings in memory, lists of cells as the model, and the
 * comparison of a file with its model.
 */
#ifndef PETAL_TESTS_SSTABLE_FIXTURE_H
#define PETAL_TESTS_SSTABLE_FIXTURE_H

#include "sstable/sst_reader.h"
#include "sstable/sst_writer.h"
#include "tests/disk/vfs.h"

#define SST_DIRECTORY "."
#define SST_PATH      SST_DIRECTORY "/file.sst"
#define TEST_SALT     0x5A17u
#define TEST_IDENTITY 0x1DE7717FULL

/* ---- cells ---- */

/* Owns the bytes of its cells. */
struct cell_list {
    struct cell *cells;
    size_t count, capacity;
};

void cell_list_fini(struct cell_list *list);

/* Append a copy. */
void cell_list_add(struct cell_list *list, petal_slice row, petal_slice qualifier,
                   int64_t timestamp, uint64_t sequence, enum petal_cell_type type,
                   petal_slice value);

/* Give the cell that was added last a time to live of its own. */
void cell_list_give_ttl(struct cell_list *list, int64_t ttl_ms);

/* A put by texts. */
void cell_list_put(struct cell_list *list, const char *row, const char *qualifier,
                   int64_t timestamp, uint64_t sequence, const char *value);

/* Into cell order. */
void cell_list_sort(struct cell_list *list);

/* What random cells are like. */
struct cell_shape {
    size_t cells;
    unsigned rows;        /* distinct ones, about */
    unsigned qualifiers;  /* distinct ones a row, about */
    unsigned row_bytes;   /* at most, 1.. */
    unsigned value_bytes; /* at most */
    unsigned marker_percent;
    unsigned ttl_percent; /* cells with a time to live of their own */
};

/* Random cells in order: keys with 00 and FF bytes, shared prefixes, versions, all kinds of
 * markers. */
void cell_list_random(struct cell_list *list, const struct cell_shape *shape,
                      struct test_random *random);

/* The same of a shape that has up to so many cells, rows, qualifiers and bytes, and these
 * shares. */
void cell_list_random_within(struct cell_list *list, const struct cell_shape *most,
                             struct test_random *random);

/* Rows of so many letters that share nothing, in their order. */
void cell_list_random_rows(struct cell_list *list, unsigned rows, size_t row_bytes);

/* Rows "row000000", .. with values of so many bytes, which do not compress. */
void cell_list_random_values(struct cell_list *list, unsigned rows, size_t value_bytes);

/* Index of the first cell at or after the key. */
size_t cell_list_seek(const struct cell_list *list, const struct cell_key *key);

/* Equal in all parts. */
bool same_cell(const struct cell *a, const struct cell *b);

/* ---- surroundings ---- */

struct sst_fixture {
    struct test_allocator allocator;
    struct memory_vfs *vfs;
    struct env env;
    struct directory directory;
    struct epoch *epoch;
    struct cache *cache;
    uint64_t next_file_number;
    bool map; /* files that are opened from now on are mapped */
    struct read_trace trace;
    struct read_context context; /* with `trace` */
    struct cell_list list;       /* the test's cells; empty at first */
};

struct sst_fixture *sst_fixture_new(size_t cache_bytes);

/* With its list. Fails the test if memory or a file is left. */
void sst_fixture_free(struct sst_fixture *f);

/* The end of a test: of its reader and the fixture. */
void sst_fixture_end(struct sst_fixture *f, struct sst_reader *reader);

/* 4 KiB blocks, LZ4, ROW filter. */
struct sst_options sst_test_options(void);

/* Write the cells to SST_PATH, in place of what is there. */
void sst_fixture_write(struct sst_fixture *f, const struct sst_options *options,
                       const struct cell_list *list);
enum petal_status sst_fixture_try_write(struct sst_fixture *f, const struct sst_options *options,
                                        const struct cell_list *list, petal_error *error);

/* Open SST_PATH under a file number of its own. */
enum petal_status sst_fixture_try_open(struct sst_fixture *f, struct sst_reader **reader,
                                       petal_error *error);
struct sst_reader *sst_fixture_open(struct sst_fixture *f);

/* The bytes of SST_PATH, to be released with free. */
uint8_t *sst_fixture_bytes(struct sst_fixture *f, size_t *size);
void sst_fixture_set_bytes(struct sst_fixture *f, const uint8_t *bytes, size_t size);

/* ---- a small file ---- */

/* Blocks of every kind in a few KiB: several data blocks, several chunks, markers. */
struct sst_options sst_small_options(enum petal_compression compression);
void sst_small_cells(struct cell_list *list);

/* Bytes of the block, with its frame, at `offset` of a file. */
size_t sst_frame_bytes(const uint8_t *bytes, size_t offset);

/* ---- damage on purpose ---- */

/* Make the checksum of the block in the frame at `offset` right again. */
void sst_fix_checksum(uint8_t *bytes, uint64_t offset, uint64_t identity);

/* Write a byte at `at` of the facts block of SST_PATH, with the checksum made right. */
void sst_change_facts(struct sst_fixture *f, size_t at, uint8_t value);

/* ---- reads that fail ---- */

/* A file layer in front of that of a fixture. There is one in a process. */
struct sst_bad_disk {
    petal_vfs table;
    const petal_vfs *below;
    uint64_t bad_begin, bad_end; /* reads that touch them fail */
    size_t most;                 /* longer reads come short; 0: none */
    bool refuses;                /* they fail instead */
    unsigned hurt;               /* reads that were */
};

extern struct sst_bad_disk sst_bad_disk;

/* Put it there; nothing is bad yet. */
void sst_bad_disk_begin(struct sst_fixture *f);

/* ---- comparison ---- */

/*
 * Read everything through iterators and filter, and compare with the model.  PETAL_OK: all was
 * equal. PETAL_CORRUPT: some read reported damage, and all that was read before was equal.  A wrong
 * or missing cell, or a filter that denies a key, fails the test.
 */
enum petal_status sst_compare(struct sst_fixture *f, const struct sst_reader *reader,
                              const struct cell_list *list);

/* Open what stands at SST_PATH, compare it, close it. */
enum petal_status sst_read_all(struct sst_fixture *f, const struct cell_list *list,
                               petal_error *error);

/* A search that begins and ends with this cell. */
void sst_expect_found(struct sst_fixture *f, const struct sst_reader *reader,
                      const struct cell *cell);

/* Ask the filter for all that a cell begins; fails the test when it denies. */
void sst_expect_in_filter(struct sst_fixture *f, const struct sst_reader *reader,
                          const struct cell *cell);

/* The three questions by row and qualifier. */
bool sst_ask_row(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row);
bool sst_ask_column(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row,
                    petal_slice qualifier);
bool sst_ask_family_marker(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row);

/* May there be a row that begins so? */
bool sst_ask_prefix(struct sst_fixture *f, const struct sst_reader *reader, petal_slice beginning);

#endif
