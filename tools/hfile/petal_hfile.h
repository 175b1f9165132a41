/*
 * petal_hfile.h -- HBase's store files: read, written, checked. A library of its own next to
 * petal.h, libpetal-hfile, since it needs codecs that the store does not.
 *
 * AN HFILE is one file with the cells of one column family (or of none, or of several: the format
 * does not ask), in HBase's order: row, family and qualifier ascending by their bytes, timestamp
 * and type code descending, then sequence descending. Cells stand in data blocks of about 64 KiB,
 * which may be encoded (a cell as its difference from the one before) and compressed. Between them
 * stand chunks of a Bloom filter; after them an index of one or several levels, FILE_INFO (a map
 * of names to bytes), what describes the filters, and a trailer of 4096 bytes, by which a reader
 * begins.
 *
 * WHAT IS READ: version 3, and 2, as HBase 0.96 to 2.6 write it, with the encodings NONE, PREFIX,
 * DIFF, FAST_DIFF and ROW_INDEX_V1, the codecs NONE, GZ, LZ4, SNAPPY and ZSTD, tags, sequences
 * (mvcc), one and more levels of index, Bloom filters of all types, checksums of all types.
 *
 * WHAT IS WRITTEN: version 3.3, the file that HBase 2.6 writes of the same cells and options, byte
 * for byte; what a codec makes of a block is that codec's library's choice. Memory does not grow
 * with the file, but by an entry for each block of the index and each chunk of a filter.
 *
 * WHAT IS REFUSED, as PETAL_UNSUPPORTED with a text that names it: other codecs and encodings
 * (PREFIX_TREE), INDEX_BLOCK_ENCODING, encrypted files, the order of hbase:meta, files of version
 * 1, references and links (by their names: what they hold is another file's; petal_hfile_set_add
 * follows them).
 *
 * ERRORS. As in petal.h, NULL included. Bytes of a file are believed only as far as they are
 * checked: whatever they are, a call ends in bounded time and memory, with PETAL_CORRUPT, the file,
 * the offset of the block concerned, and what is wrong with it. A wrong checksum is an error (HBase
 * logs it, and reads on). Memory never grows with what a file claims, only with bytes that are
 * there: a block may unpack to at most 256 MiB, and to no more than its codec can make of what is
 * stored.
 *
 * THREADS. A petal_hfile may be used by any number of threads at once, also by scanners of theirs.
 * A scanner or a writer belongs to one thread at a time.
 */
#ifndef PETAL_HFILE_H
#define PETAL_HFILE_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Laid out by hand: what does not fit next to a field stands above it, no declaration is torn. */
/* clang-format off */

/* ---- Names and numbers ---------------------------------------------------------------------- */

/* In every one of these 0 means the default of a writer; a reader never reports it. */

enum petal_hfile_codec {
    PETAL_HFILE_CODEC_DEFAULT = 0, /* NONE */
    PETAL_HFILE_CODEC_NONE = 1,
    PETAL_HFILE_CODEC_GZ = 2,
    PETAL_HFILE_CODEC_LZ4 = 3,
    PETAL_HFILE_CODEC_SNAPPY = 4,
    /* Only if the library was built with it. Written as HBase's own codecs frame it
     * (hbase-compression-zstd, -aircompressor); read also as Hadoop's native one does. */
    PETAL_HFILE_CODEC_ZSTD = 5
};

enum petal_hfile_encoding {
    PETAL_HFILE_ENCODING_DEFAULT = 0, /* NONE */
    PETAL_HFILE_ENCODING_NONE = 1,
    PETAL_HFILE_ENCODING_PREFIX = 2,
    PETAL_HFILE_ENCODING_DIFF = 3,
    PETAL_HFILE_ENCODING_FAST_DIFF = 4,
    PETAL_HFILE_ENCODING_ROW_INDEX_V1 = 5
};

/* What is entered in the general Bloom filter. */
enum petal_hfile_bloom_type {
    PETAL_HFILE_BLOOM_DEFAULT = 0, /* ROW */
    PETAL_HFILE_BLOOM_NONE = 1,
    PETAL_HFILE_BLOOM_ROW = 2,
    PETAL_HFILE_BLOOM_ROWCOL = 3,    /* row and qualifier */
    PETAL_HFILE_BLOOM_ROW_PREFIX = 4 /* ROWPREFIX_FIXED_LENGTH */
};

enum petal_hfile_checksum {
    PETAL_HFILE_CHECKSUM_DEFAULT = 0, /* CRC32C */
    PETAL_HFILE_CHECKSUM_NULL = 1,
    PETAL_HFILE_CHECKSUM_CRC32 = 2,
    PETAL_HFILE_CHECKSUM_CRC32C = 3
};

/* The filters of a file. */
enum petal_hfile_filter {
    PETAL_HFILE_FILTER_GENERAL = 0,
    PETAL_HFILE_FILTER_DELETE_FAMILY = 1 /* rows with a DeleteFamily or DeleteFamilyVersion */
};

/* HBase's words for them ("LZ4", "FAST_DIFF", "ROWCOL", "CRC32C"); "?" for a number that is none.
 * Never NULL. */
PETAL_API const char *petal_hfile_codec_text(enum petal_hfile_codec codec);
PETAL_API const char *petal_hfile_encoding_text(enum petal_hfile_encoding encoding);
PETAL_API const char *petal_hfile_bloom_type_text(enum petal_hfile_bloom_type type);
PETAL_API const char *petal_hfile_checksum_text(enum petal_hfile_checksum checksum);

/* Can this build of the library read and write the codec? */
PETAL_API bool petal_hfile_has_codec(enum petal_hfile_codec codec);

/* ---- Cells ---------------------------------------------------------------------------------- */

/* HBase's type codes: those of enum petal_cell_type, and two that only keys of searches have. */
#define PETAL_HFILE_TYPE_MINIMUM 0
#define PETAL_HFILE_TYPE_MAXIMUM 255

/* HBase's words for those of cells ("Put", "DeleteColumn"); "?" for any other. Never NULL. */
PETAL_API const char *petal_hfile_type_text(int type);

#define PETAL_HFILE_MAX_ROW_BYTES    32767
#define PETAL_HFILE_MAX_FAMILY_BYTES 127

/*
 * A cell as it is stored. The key is row, family, qualifier, timestamp and type. Of a file it may
 * have any bytes that the format allows: an empty family, and a timestamp below 0, which HBase's
 * reader refuses under some encodings, included.
 */
typedef struct petal_hfile_cell {
    petal_slice row, family, qualifier, value;
    petal_slice tags; /* as stored, one after the other, without the length of all */
    int64_t timestamp;
    int type;         /* HBase's code, 0..255 */
    int64_t sequence; /* mvcc; 0 where the file has none */
} petal_hfile_cell;

/*
 * HBase's order of keys: <0, 0, >0. Values, tags and sequences do not count. As in HBase, the empty
 * family and qualifier with type MINIMUM stand after all cells of their row.
 */
PETAL_API int petal_hfile_compare(const petal_hfile_cell *a, const petal_hfile_cell *b);

/*
 * Take the first tag off *tags: 1 with its type and payload, 0 at the end, -1 when what is left is
 * no tag (then *tags stays).
 */
PETAL_API int petal_hfile_tag_next(petal_slice *tags, int *type, petal_slice *payload);

#define PETAL_HFILE_TAG_ACL           1
#define PETAL_HFILE_TAG_VISIBILITY    2
#define PETAL_HFILE_TAG_MOB_REFERENCE 5 /* the value is a length, and the name of a MOB file */
#define PETAL_HFILE_TAG_MOB_TABLE     6
#define PETAL_HFILE_TAG_TTL           8 /* i64, big-endian: milliseconds */

/* ---- Reading: files ------------------------------------------------------------------------- */

typedef struct petal_hfile petal_hfile;
typedef struct petal_hfile_scanner petal_hfile_scanner;

/*
 * Where the bytes of a file come from, so that they need not lie in a file system. Called from all
 * threads that use the file. `name` stands in errors.
 */
typedef struct petal_hfile_source {
    void *context;
    const char *name;
    uint64_t size;
    /* All `size` bytes at `offset`, or an error. What is asked for lies inside the source. */
    enum petal_status (*read_at)(void *context, uint64_t offset, void *buffer, size_t size,
                                 petal_error *error);
    /* When the file is closed, also when it could not be opened. May be NULL. */
    void (*close)(void *context);
} petal_hfile_source;

typedef struct petal_hfile_read_options {
    size_t size;
    const petal_allocator *allocator; /* outlives the file; default: malloc and free */
    /* Do not compare the checksums of blocks. For measurements, and to see what damage left. */
    bool no_checksums;
    /* Open by the trailer and FILE_INFO alone what could not be scanned (see WHAT IS REFUSED), but
     * not what is encrypted: its facts can be asked for, nothing else. */
    bool facts_only;
} petal_hfile_read_options;

/*
 * Open a file for reading: its trailer and what stands between the last index block and it are
 * read. PETAL_CORRUPT: it is no HFile, or is damaged. PETAL_UNSUPPORTED: see WHAT IS REFUSED.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_open(const char *path, const petal_hfile_read_options *options, petal_hfile **file,
                 petal_error *error);

/* The same, of any source; it is copied, its name too. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_open_source(const petal_hfile_source *source, const petal_hfile_read_options *options,
                        petal_hfile **file, petal_error *error);

/* Close the file, of which no scanner may be open. NULL: no-op. */
PETAL_API void petal_hfile_close(petal_hfile *file);

/* What a file's name says that it is. */
enum petal_hfile_name_kind {
    /* hexadecimal digits, "_SeqId_N_" after a bulk load, or any other */
    PETAL_HFILE_NAME_STORE_FILE = 0,
    PETAL_HFILE_NAME_REFERENCE = 1,  /* HASH.REGION: half of a file of the region that was split */
    /* [NAMESPACE=]TABLE=REGION-HASH: a file of another region, or of the archive */
    PETAL_HFILE_NAME_LINK = 2,
    PETAL_HFILE_NAME_LINK_REFERENCE = 3, /* a link's name and .REGION */
    PETAL_HFILE_NAME_MOB = 4         /* a file of values that other files point at */
};

/* Of the last part of `path`. Says nothing of what is in the file. */
PETAL_API enum petal_hfile_name_kind petal_hfile_name_kind_of(const char *path);

/* ---- Reading: facts, from the trailer and FILE_INFO ------------------------------------------ */

/* Slices are the file's, good until it is closed; empty where the file says nothing. */
typedef struct petal_hfile_info {
    const char *name;
    uint64_t file_bytes;
    unsigned major_version, minor_version;
    enum petal_hfile_codec codec; /* DEFAULT: one that is not known here; facts_only */
    enum petal_hfile_encoding encoding; /* the same */
    enum petal_hfile_bloom_type bloom_type;
    uint32_t bloom_prefix_bytes; /* ROW_PREFIX */
    uint64_t cells, delete_family_cells;
    bool has_delete_family_cells; /* the file says how many */
    bool has_tags, has_sequences;
    uint32_t most_tags_bytes; /* of one cell */
    uint64_t greatest_sequence;
    uint32_t average_key_bytes, average_value_bytes;
    petal_slice first_row, last_row; /* empty in an empty file */
    petal_slice last_key; /* serialised; see the FORMAT notes of HBase */
    petal_slice comparator; /* the class's name */
    bool has_time_range;
    int64_t time_min, time_max; /* as the file says */
    bool has_earliest_put;
    int64_t earliest_put;
    bool has_sequence_id;
    int64_t sequence_id; /* MAX_SEQ_ID_KEY: of the last write that it has */
    int64_t created_ms; /* 0: the file does not say */
    bool is_bulk_loaded, is_major_compacted;
    bool is_mob;             /* of values that other files point at */
    bool has_mob_references; /* some values may be references into such files */
    /* of the trailer */
    uint64_t file_info_offset, load_on_open_offset;
    uint64_t index_bytes, uncompressed_bytes;
    uint32_t root_entries, meta_entries, index_levels;
    bool has_data_blocks;
    uint64_t first_data_block_offset, last_data_block_offset; /* with has_data_blocks */
} petal_hfile_info;

/* What is known of the file. It costs nothing: all of it was read when the file was opened. Good
 * until the file is closed. */
PETAL_API const petal_hfile_info *petal_hfile_info_get(const petal_hfile *file);

/* Entries of FILE_INFO, in the file's order: false when there are not so many. */
PETAL_API bool petal_hfile_info_entry(const petal_hfile *file, size_t number, petal_slice *key,
                                      petal_slice *value);

/* The value of a key; false when there is none. */
PETAL_API bool petal_hfile_info_find(const petal_hfile *file, const char *key, petal_slice *value);

/*
 * The first key of the block that holds the middle of the file, serialised (a separator, maybe),
 * for the caller to release by petal_hfile_release. PETAL_NOT_FOUND: the file is empty.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_mid_key(petal_hfile *file, void **bytes, size_t *size, petal_error *error);

/* User meta blocks: names in order, and a block's bytes, for the caller to release by
 * petal_hfile_release. */
PETAL_API bool petal_hfile_meta_name(const petal_hfile *file, size_t number, petal_slice *name);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_meta_read(petal_hfile *file, size_t number, void **bytes, size_t *size,
                      petal_error *error);
PETAL_API void petal_hfile_release(petal_hfile *file, void *bytes, size_t size);

/* ---- Reading: blocks ------------------------------------------------------------------------ */

enum petal_hfile_block_kind {
    PETAL_HFILE_BLOCK_DATA = 1,
    PETAL_HFILE_BLOCK_ENCODED_DATA = 2,
    PETAL_HFILE_BLOCK_LEAF_INDEX = 3,
    PETAL_HFILE_BLOCK_BLOOM_CHUNK = 4,
    PETAL_HFILE_BLOCK_META = 5,
    PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX = 6,
    PETAL_HFILE_BLOCK_ROOT_INDEX = 7,
    PETAL_HFILE_BLOCK_FILE_INFO = 8,
    PETAL_HFILE_BLOCK_GENERAL_BLOOM_META = 9,
    PETAL_HFILE_BLOCK_DELETE_FAMILY_BLOOM_META = 10
};
/* "DATA", "LEAF_INDEX", ...; "?" for a number that is none. */
PETAL_API const char *petal_hfile_block_kind_text(enum petal_hfile_block_kind kind);

typedef struct petal_hfile_block {
    uint64_t offset;
    enum petal_hfile_block_kind kind;
    uint32_t stored_bytes;       /* header, payload and checksums */
    uint32_t data_bytes;         /* header and payload as stored */
    uint32_t uncompressed_bytes; /* payload, uncompressed, still encoded */
    int64_t previous_offset;     /* of the block of the same kind before; -1: none */
    enum petal_hfile_checksum checksum;
    uint32_t bytes_per_checksum;
    bool checksum_is_right; /* true for NULL */
} petal_hfile_block;

/*
 * All blocks from the file's begin to its trailer, each read and its checksum compared; a wrong one
 * is no error here. `visit` returns false to end the walk.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_blocks(petal_hfile *file, bool (*visit)(void *argument, const petal_hfile_block *block),
                   void *argument, petal_error *error);

/* ---- Reading: scanners ---------------------------------------------------------------------- */

/*
 * A scanner stands at a cell, or at none: when it is new, past either end, and after an error. What
 * it stands at is good until its next call; slices point into its blocks. It reads blocks ahead as
 * it goes on, and holds at most two of them.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_new(petal_hfile *file, petal_hfile_scanner **scanner, petal_error *error);
PETAL_API void petal_hfile_scanner_free(petal_hfile_scanner *scanner); /* NULL: no-op */

/*
 * Each of these moves to a cell and gives it; NULL in *cell: there is none.
 * _seek: the first cell whose key is at or after that of `key` (value, tags, sequence do not
 * count; of equal keys it is the first). `key` may be the cell where the scanner stands, or be made
 * of it. _next, _previous: from where the scanner stands; from no cell there is none.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_first(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                          petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_last(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                         petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_seek(petal_hfile_scanner *scanner, const petal_hfile_cell *key,
                         const petal_hfile_cell **cell, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_seek_row(petal_hfile_scanner *scanner, petal_slice row,
                             const petal_hfile_cell **cell, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_next(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                         petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_scanner_previous(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                             petal_error *error);

/* Offset of the block of the cell where the scanner stands, for messages; 0 if at none. */
PETAL_API uint64_t petal_hfile_scanner_offset(const petal_hfile_scanner *scanner);

/* ---- Reading: Bloom filters ----------------------------------------------------------------- */

typedef struct petal_hfile_bloom {
    int version;
    uint64_t total_bytes; /* of its chunks */
    int hash_count;
    int hash_type; /* HBase's: 0 JENKINS, 1 MURMUR, 2 MURMUR3 */
    uint64_t keys, most_keys;
    uint32_t chunks;
    petal_slice comparator; /* class name, empty for keys that are plain bytes */
    petal_slice last_key;   /* LAST_BLOOM_KEY; empty for the delete-family filter */
} petal_hfile_bloom;

/* What is known of a filter; false: the file has no such filter. */
PETAL_API bool petal_hfile_bloom_get(const petal_hfile *file, enum petal_hfile_filter filter,
                                     petal_hfile_bloom *bloom);
PETAL_API bool petal_hfile_bloom_chunk(const petal_hfile *file, enum petal_hfile_filter filter,
                                       size_t number, uint64_t *offset, uint32_t *stored_bytes,
                                       petal_slice *first_key);

/*
 * HBase's decision for a get: can the file hold cells of the row, or of one column of it if
 * `qualifier` is not NULL? Asks the file's range of rows, then the general filter; of a ROWCOL
 * filter the column and the row's markers. True where nothing can tell.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_may_contain(petal_hfile *file, petal_slice row, const petal_slice *qualifier,
                        bool *answer, petal_error *error);

/* Can the row have a marker of the whole family? */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_may_contain_delete_family(petal_hfile *file, petal_slice row, bool *answer,
                                      petal_error *error);

/*
 * One question to a filter: of a ROW filter the row, of ROW_PREFIX the row's beginning, of ROWCOL
 * row and qualifier (NULL: the empty one), of the delete-family filter the row. True if there is no
 * such filter.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_bloom_ask(petal_hfile *file, enum petal_hfile_filter filter, petal_slice row,
                      const petal_slice *qualifier, bool *answer, petal_error *error);

/* ---- Checking ------------------------------------------------------------------------------- */

typedef struct petal_hfile_report {
    uint64_t cells, blocks, data_blocks, index_entries;
    uint64_t checksums; /* of blocks, that were compared; NULL checksums are none */
    uint64_t filter_keys; /* asked of their filters */
    uint64_t rebuilt_chunks; /* of Bloom filters, made anew from the keys, and equal bit for bit */
} petal_hfile_report;

/*
 * Read everything and compare all that can be compared: checksums, the order of blocks and cells,
 * the index with the blocks that it names, counts and facts with the cells, every key with its
 * filter; and every chunk of the filters is made anew from the keys and compared bit for bit. The
 * first fault found is PETAL_CORRUPT. `watch`, unless it is NULL, is told now and then how much is
 * done, in bytes; when it returns false the call ends with PETAL_BUSY. `report` may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_check(petal_hfile *file, bool (*watch)(void *argument, uint64_t done, uint64_t total),
                  void *argument, petal_hfile_report *report, petal_error *error);

/* ---- Writing -------------------------------------------------------------------------------- */

typedef struct petal_hfile_writer petal_hfile_writer;

/* Where the bytes of a file go, in order. `name` stands in errors; the writer copies it. */
typedef struct petal_hfile_sink {
    void *context;
    const char *name;
    /* All bytes, or an error. */
    enum petal_status (*write)(void *context, const void *bytes, size_t size, petal_error *error);
} petal_hfile_sink;

typedef struct petal_hfile_write_options {
    size_t size;
    const petal_allocator *allocator; /* outlives the writer; default: malloc and free */
    enum petal_hfile_codec codec;
    enum petal_hfile_encoding encoding;
    enum petal_hfile_bloom_type bloom;
    uint32_t bloom_prefix_bytes; /* ROW_PREFIX only: 1..32767 */
    enum petal_hfile_checksum checksum;
    uint32_t block_bytes;        /* default 65536; at most 32 MiB, as the next one */
    uint32_t index_block_bytes;  /* default 131072 */
    uint32_t bloom_chunk_bytes;  /* default 131072; at most 128 MiB */
    double bloom_error_rate;     /* default 0.01 */
    uint32_t bytes_per_checksum; /* default 16384, at least 33 */
    bool with_tags;      /* cells have tags; else a cell with tags is PETAL_INVALID */
    bool with_sequences; /* cells' sequences are stored; else they are left out */
    /* FILE_INFO: CREATE_TIME_TS, 0: the clock; MAX_SEQ_ID_KEY, when has_sequence_id;
     * MAJOR_COMPACTION_KEY. */
    int64_t created_ms;
    bool has_sequence_id;
    int64_t sequence_id;
    bool is_major;
    /* An intermediate level is made for more entries than this, and has at least as many in its
     * first block. Default 16. */
    uint32_t index_block_entries;
    /* As HBase's plain writer of HFiles, not that of store files: no filters, and nothing in
     * FILE_INFO that tells of markers, timestamps or where the file comes from. */
    bool is_plain;
} petal_hfile_write_options;

/* Begin a file; `options` NULL: all defaults. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_writer_new(const petal_hfile_sink *sink, const petal_hfile_write_options *options,
                       petal_hfile_writer **writer, petal_error *error);

/*
 * The next cell: after the one before, or with an equal key. PETAL_INVALID, and the writer stays
 * as it was: cells go back, or are of another family than the first; or the format or HBase's
 * reader cannot take the cell (a timestamp below 0, a row without bytes, too long a part, tags
 * without with_tags, or that are none). Any other failure, of this call or of those below, is
 * final: all further calls but _free fail with the same status.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_writer_add(petal_hfile_writer *writer, const petal_hfile_cell *cell,
                       petal_error *error);

/* An entry of FILE_INFO in addition to those that the writer makes; PETAL_INVALID for the name of
 * one of these. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_writer_info(petal_hfile_writer *writer, petal_slice key, petal_slice value,
                        petal_error *error);

/* A user meta block; HBase has none in its store files. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_writer_meta(petal_hfile_writer *writer, petal_slice name, petal_slice bytes,
                        petal_error *error);

/* Bytes that went to the sink, and cells that were added. */
PETAL_API uint64_t petal_hfile_writer_bytes(const petal_hfile_writer *writer);
PETAL_API uint64_t petal_hfile_writer_cells(const petal_hfile_writer *writer);

/* Write what is left, the index, the filters and the trailer. Nothing can be added afterwards. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_writer_finish(petal_hfile_writer *writer, uint64_t *file_bytes, petal_error *error);

/* Without _finish what was written is no HFile. NULL: no-op. */
PETAL_API void petal_hfile_writer_free(petal_hfile_writer *writer);

/* ---- A table as HFiles ----------------------------------------------------------------------- */

/* Told now and then how much is done, in bytes of about `total`; false: the call ends with
 * PETAL_BUSY, and has changed nothing. */
typedef bool petal_hfile_watch(void *argument, uint64_t done, uint64_t total);

typedef struct petal_hfile_export_options {
    size_t size;
    /*
     * How the files are written; NULL: defaults. with_tags, with_sequences and the rest of what
     * follows them is not looked at: a file has tags when one of its cells has a time to live of
     * its own, and no sequences, since a bulk load gives its own.
     */
    const petal_hfile_write_options *file;
    /* BLOOMFILTER, its prefix length and BLOCKSIZE as the family has them, instead of those of
     * `file`; ROW_ROWCOL, which HBase has not, becomes ROW. */
    bool like_family;
    const petal_snapshot *snapshot; /* NULL: as of the call */
    /* What readers see: no markers, no versions beyond VERSIONS; else all that is stored. */
    bool visible_only;
    /* Rows at which a region begins, ascending: none of a family's files passes over one. */
    const petal_slice *split_keys;
    size_t split_key_count; /* 0: the regions are the table's (petal_table_regions) */
    /* No row begins in a file that has this many bytes; 0: no limit. */
    uint64_t split_bytes;
    petal_hfile_watch *watch;
    void *argument; /* of watch */
} petal_hfile_export_options;

typedef struct petal_hfile_export_counts {
    uint64_t files, cells, file_bytes;
    uint64_t cell_bytes; /* of rows, families, qualifiers, values, and 12 for each cell */
    /*
     * Of a put and a marker with one timestamp the later write wins in Petal, the marker in HBase.
     * So that HBase's readers see the same, markers that a put of their timestamp outlived became
     * those of one millisecond earlier, or stayed here, and puts of that timestamp that they hid.
     * (With KEEP_DELETED_CELLS a read whose time range ends at that timestamp sees less then.)
     * Of several puts of one version the latest is written, also if its time to live will end
     * before that of another.
     */
    uint64_t moved_markers, left_markers, left_puts;
    /* Families with NEW_VERSION_BEHAVIOR, whose readers go by the order of writes: a bulk load
     * knows none among the cells that it brings. */
    uint64_t unordered_families;
} petal_hfile_export_counts;

/*
 * Write the table into `directory`, which is made, or is there and is empty (else PETAL_EXISTS): a
 * folder for each family that has cells, with its files, as HBase's completebulkload wants them.
 * All families are written as of one moment. Several regions are written at the same time: by as
 * many threads as there are processors online, at most 8, at most one a region; each holds a block,
 * a chunk of the index and of each filter, and the blocks that its cursor reads. The files are the
 * same, whatever their number. The watch is called by the caller's thread. On failure, the first of
 * any region, the folders and files that were made are gone. `counts` may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_export(petal_db *db, petal_table *table, const char *directory,
                   const petal_hfile_export_options *options, petal_hfile_export_counts *counts,
                   petal_error *error);

/* ---- HFiles as a table ----------------------------------------------------------------------- */

/*
 * HFiles of one table, and what is known of that. Belongs to one thread at a time. What its calls
 * give is good until it is freed, or until a path is added.
 */
typedef struct petal_hfile_set petal_hfile_set;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_set_new(petal_hfile_set **set, petal_error *error);
PETAL_API void petal_hfile_set_free(petal_hfile_set *set); /* NULL: no-op */

/*
 * Add a file, or those of a folder: of a family, a region or a table as HBase keeps them, of what
 * completebulkload takes, or of a snapshot (.hbase-snapshot/NAME with archive/ or data/ next to it,
 * as ExportSnapshot leaves them, or the folder that holds these). What begins with '.' or '_' is
 * passed over. With a family's folder that lies in a region's folder come .regioninfo and
 * recovered.edits of that; a single file is taken as it is. Links (of clones) and references (to
 * halves of files, since a split or a merge) are followed, into data/ and archive/data/ where the
 * folder lies. PETAL_NOT_FOUND: there is no file, or not the one that a link or reference stands
 * for; PETAL_UNSUPPORTED: MOB files, and a family whose files are listed in .filelist.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_set_add(petal_hfile_set *set, const char *path, petal_error *error);

/* What the shell of HBase printed for describe says of the families. `name` stands in errors. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_set_describe(petal_hfile_set *set, petal_slice text, const char *name,
                         petal_error *error);

/*
 * The files that an import reads, by their paths in order, each once, or twice where two regions
 * have half of it; NULL after the last one. Left out are files of regions that were split or
 * merged, and files that a compaction replaced by another, which names them.
 */
PETAL_API size_t petal_hfile_set_count(petal_hfile_set *set);
PETAL_API const char *petal_hfile_set_path(petal_hfile_set *set, size_t index);

/*
 * Options of a table for the files: from a .tableinfo or a snapshot's manifest that was found, or
 * from what _describe was given; *is_described says so. Else from the files: a family for each that
 * their first cells name, with their Bloom type and VERSIONS without limit. The name is empty where
 * nothing gives it. PETAL_INVALID: regions that are to be imported overlap; PETAL_NOT_FOUND: of a
 * region that was split not all those are there that came of it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_set_table(petal_hfile_set *set, petal_table_options *options, bool *is_described,
                      petal_error *error);

typedef struct petal_hfile_import_options {
    size_t size;
    /* Go on without the tags that Petal has no place for (all but those with a cell's time to
     * live), and count them; else they are PETAL_UNSUPPORTED. A cell whose value is in a MOB file
     * always is. */
    bool drop_tags;
    petal_hfile_watch *watch;
    void *argument; /* of watch */
    /* Go on without writes that HBase has acknowledged and not yet brought into an HFile, which a
     * region's folder recovered.edits holds; else they are PETAL_UNSUPPORTED. */
    bool drop_edits;
} petal_hfile_import_options;

typedef struct petal_hfile_import_counts {
    uint64_t files, empty_files;
    uint64_t cells, markers; /* that entered the table; markers are cells, too */
    uint64_t cell_bytes;     /* as of an export */
    uint64_t superseded;     /* cells that a later write of the same key had replaced */
    uint64_t dropped_tags;
    /* Families of the table with NEW_VERSION_BEHAVIOR: all cells of an import count as written at
     * once, as HBase's bulk load has it, whatever sequences they had. */
    uint64_t unordered_families;
    /* Left out: regions that were split or merged, since others have their cells; files that a
     * compaction had replaced; files of edits (drop_edits). */
    uint64_t split_regions, compacted_files, dropped_edits;
    /* Of `files`: added as single files, or in no region's folder. Whether their regions overlap,
     * were split, or have recovered.edits was not looked at. */
    uint64_t files_without_region;
} petal_hfile_import_counts;

/*
 * Bring the cells of all files into the table, by one commit of petal_bulk: all, or none. Cells
 * keep timestamps, types and times to live; of equal keys the latest by sequence wins. A cell of a
 * family that the table has not is PETAL_NOT_FOUND, one that Petal cannot take PETAL_INVALID; the
 * file stands in the error. Regions are refused as by petal_hfile_set_table. `counts` may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_import(petal_table *table, petal_hfile_set *set,
                   const petal_hfile_import_options *options, petal_hfile_import_counts *counts,
                   petal_error *error);

/* Where the table of an import comes from. */
enum petal_hfile_table_origin {
    PETAL_HFILE_TABLE_WAS_THERE = 0,
    PETAL_HFILE_TABLE_DESCRIBED = 1, /* made as petal_hfile_set_table has it, which was described */
    PETAL_HFILE_TABLE_OF_FILES = 2   /* likewise, of what the files alone tell */
};

/*
 * petal_hfile_import into the table of that name, which is made like that of the files
 * (petal_hfile_set_table) where the database has none, and dropped again when nothing comes into
 * it. `origin` and `counts` may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_hfile_import_as(petal_db *db, petal_slice name, petal_hfile_set *set,
                      const petal_hfile_import_options *options,
                      enum petal_hfile_table_origin *origin, petal_hfile_import_counts *counts,
                      petal_error *error);

#ifdef __cplusplus
}
#endif

#endif
