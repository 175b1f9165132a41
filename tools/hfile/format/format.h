/*
 * format.h -- the constants of HFiles: magics, numbers that stand in files, names of FILE_INFO.
 * The layouts stand where they are parsed and written. Fixed integers are big-endian.
 */
#ifndef PETAL_HFILE_FORMAT_FORMAT_H
#define PETAL_HFILE_FORMAT_FORMAT_H

#define HFILE_MAGIC_BYTES 8

/* Blocks: enum petal_hfile_block_kind, magic, HBase's name. */
#define HFILE_BLOCK_MAP(X)                                                                         \
    X(DATA, "DATABLK*")                                                                            \
    X(ENCODED_DATA, "DATABLKE")                                                                    \
    X(LEAF_INDEX, "IDXLEAF2")                                                                      \
    X(BLOOM_CHUNK, "BLMFBLK2")                                                                     \
    X(META, "METABLKc")                                                                            \
    X(INTERMEDIATE_INDEX, "IDXINTE2")                                                              \
    X(ROOT_INDEX, "IDXROOT2")                                                                      \
    X(FILE_INFO, "FILEINF2")                                                                       \
    X(GENERAL_BLOOM_META, "BLMFMET2")                                                              \
    X(DELETE_FAMILY_BLOOM_META, "DFBLMET2")

#define HFILE_TRAILER_MAGIC "TRABLK\"$"

/* In front of every protobuf message but the trailer's. */
#define HFILE_PROTOBUF_MAGIC       "PBUF"
#define HFILE_PROTOBUF_MAGIC_BYTES 4

#define HFILE_BLOCK_HEADER_BYTES 33
#define HFILE_TRAILER_BYTES      4096
#define HFILE_CHECKSUM_BYTES     4

#define HFILE_MAJOR_VERSION      3
#define HFILE_MINOR_VERSION      3
#define HFILE_BLOOM_META_VERSION 3

#define HFILE_DEFAULT_BYTES_PER_CHECKSUM 16384
#define HFILE_LEAST_BYTES_PER_CHECKSUM   HFILE_BLOCK_HEADER_BYTES

/* A block as stored, and unpacked; more is not believed. */
#define HFILE_MOST_BLOCK_BYTES (256u << 20)

/* No file of HBase comes near. */
#define HFILE_MOST_INDEX_LEVELS 16

/* Numbers of checksum types in block headers: 0 NULL, 1 CRC32, and the last. */
#define HFILE_CHECKSUM_NUMBER_CRC32C 2

/* Encodings as they stand at the beginning of encoded blocks. */
#define HFILE_ENCODING_ID_PREFIX       2
#define HFILE_ENCODING_ID_DIFF         3
#define HFILE_ENCODING_ID_FAST_DIFF    4
#define HFILE_ENCODING_ID_ROW_INDEX_V1 7

/* Hash types as they stand in a filter's meta block. */
#define HFILE_HASH_JENKINS 0
#define HFILE_HASH_MURMUR  1
#define HFILE_HASH_MURMUR3 2

/* Keys of FILE_INFO. */
#define HFILE_INFO_AVERAGE_KEY_LENGTH     "hfile.AVG_KEY_LEN"
#define HFILE_INFO_AVERAGE_VALUE_LENGTH   "hfile.AVG_VALUE_LEN"
#define HFILE_INFO_LAST_KEY               "hfile.LASTKEY"
#define HFILE_INFO_CREATE_TIME            "hfile.CREATE_TIME_TS"
#define HFILE_INFO_MAX_TAGS_LENGTH        "hfile.MAX_TAGS_LEN"
#define HFILE_INFO_TAGS_COMPRESSED        "hfile.TAGS_COMPRESSED"
#define HFILE_INFO_KEY_OF_BIGGEST_CELL    "hfile.KEY_OF_BIGGEST_CELL"
#define HFILE_INFO_LENGTH_OF_BIGGEST_CELL "hfile.LEN_OF_BIGGEST_CELL"
#define HFILE_INFO_KEY_VALUE_VERSION      "KEY_VALUE_VERSION"
#define HFILE_INFO_MAX_MEMSTORE_TIMESTAMP "MAX_MEMSTORE_TS_KEY"
#define HFILE_INFO_DATA_BLOCK_ENCODING    "DATA_BLOCK_ENCODING"
#define HFILE_INFO_INDEX_BLOCK_ENCODING   "INDEX_BLOCK_ENCODING"
#define HFILE_INFO_BLOOM_FILTER_TYPE      "BLOOM_FILTER_TYPE"
#define HFILE_INFO_BLOOM_FILTER_PARAMETER "BLOOM_FILTER_PARAM"
#define HFILE_INFO_LAST_BLOOM_KEY         "LAST_BLOOM_KEY"
#define HFILE_INFO_DELETE_FAMILY_COUNT    "DELETE_FAMILY_COUNT"
#define HFILE_INFO_MAX_SEQUENCE_ID        "MAX_SEQ_ID_KEY"
#define HFILE_INFO_MAJOR_COMPACTION       "MAJOR_COMPACTION_KEY"
#define HFILE_INFO_TIME_RANGE             "TIMERANGE"
#define HFILE_INFO_EARLIEST_PUT           "EARLIEST_PUT_TS"
#define HFILE_INFO_BULK_LOAD_TIMESTAMP    "BULKLOAD_TIMESTAMP"
#define HFILE_INFO_BULK_LOAD_SOURCE       "BULKLOAD_SOURCE_TASK"
#define HFILE_INFO_COMPACTION_EVENT       "COMPACTION_EVENT_KEY"
#define HFILE_INFO_MOB_CELLS_COUNT        "MOB_CELLS_COUNT"
#define HFILE_INFO_MOB_FILE_REFERENCES    "MOB_FILE_REFS"

/* What a writer names as the order of keys, and the order of keys in a ROWCOL filter. */
#define HFILE_COMPARATOR              "org.apache.hadoop.hbase.KeyValue$KVComparator"
#define HFILE_BLOOM_ROWCOL_COMPARATOR "org.apache.hadoop.hbase.CellComparatorImpl"

#endif
