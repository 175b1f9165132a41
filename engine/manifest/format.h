/*
 * format.h -- the bytes of the manifest.
 *
 *   header of the file (64)                   record (24 + payload, zeros up to a multiple of 8)
 *    0  8  magic "PETALMAN"                    0  8  checksum of all that follows, padding included
 *    8  4  version                             8  8  promise: the file was synced up to this offset
 *   12  4  bytes of this header               16  4  bytes of payload
 *   16  8  identity of the database           20  1  kind
 *   24  8  salt                               21  3  zero
 *   32  8  identity of this file
 *   40  8  end of the snapshot                item: a change of an edit, or an attribute in one
 *   48  8  zero                                0  2  tag
 *   56  8  checksum of the 56 bytes before     2  2  zero
 *                                              4  4  bytes of payload
 *                                              8     payload
 *
 * Little endian.  Records begin at multiples of 8.  The payload of an EDIT is a list of items; a
 * SEAL has none.  A file gets the name MANIFEST when its snapshot has been synced, so the end of
 * the snapshot is a promise as well.
 */
#ifndef PETAL_ENGINE_MANIFEST_FORMAT_H
#define PETAL_ENGINE_MANIFEST_FORMAT_H

#include <stdint.h>

#define MANIFEST_MAGIC           "PETALMAN"
#define MANIFEST_VERSION         1u
#define MANIFEST_HEADER_BYTES    64
#define MANIFEST_HEADER_CHECKSUM 56 /* where it stands */
#define MANIFEST_RECORD_BYTES    24 /* of a record's header */
#define MANIFEST_CHECKSUM_BYTES  8
#define MANIFEST_ALIGNMENT       8
#define MANIFEST_ITEM_BYTES      8 /* of an item's header */

enum manifest_record_kind { MANIFEST_EDIT = 1, MANIFEST_SEAL = 2 };

/* A reader must know every tag below; one at or above it may be stepped over. */
#define MANIFEST_OPTIONAL_TAG 0x8000u

/* Stored; never renumbered. */
enum manifest_tag {
    MANIFEST_COUNTERS = 1,
    MANIFEST_OLDEST_LOG = 2,
    MANIFEST_WAL_PROMISE = 3,
    MANIFEST_CREATE_TABLE = 4,
    MANIFEST_CREATE_FAMILY = 5,
    MANIFEST_DROP_TABLE = 6,
    MANIFEST_ADD_FILE = 7,
    MANIFEST_REMOVE_FILE = 8,
    MANIFEST_FLUSHED = 9,
    MANIFEST_ALTER_TABLE = 10,
    MANIFEST_ALTER_FAMILY = 11,
    MANIFEST_DROP_FAMILY = 12,
    MANIFEST_NEXT_FAMILY = 13,
    MANIFEST_AHEAD = 14,
    MANIFEST_STATE = 15,
    MANIFEST_CREATE_REGION = 16,
    MANIFEST_DROP_REGION = 17
};

/* Of tables (NAME, DURABILITY, READ_ONLY, TEXT, SNAPSHOT) and families (the rest, NAME, TEXT).
 * Stored; never renumbered.  From MIN_VERSIONS on they are written only when they are not the
 * default, so that older versions read what they can. */
enum manifest_attribute {
    MANIFEST_NAME = 1,
    MANIFEST_DURABILITY = 2,
    MANIFEST_VERSIONS = 3,
    MANIFEST_BLOCK_BYTES = 4,
    MANIFEST_COMPRESSION = 5,
    MANIFEST_BLOOM = 6,
    MANIFEST_BLOOM_ERROR_RATE = 7,
    MANIFEST_IN_MEMORY = 8,
    MANIFEST_NO_BLOCK_CACHE = 9,
    MANIFEST_MIN_VERSIONS = 10,
    MANIFEST_TTL = 11,
    MANIFEST_KEEP_DELETED_CELLS = 12,
    MANIFEST_NEW_VERSION_BEHAVIOR = 13,
    MANIFEST_BLOOM_PREFIX = 14,
    MANIFEST_READ_ONLY = 15,
    MANIFEST_TEXT = 16, /* a petal_attribute; as often as there are some */
    MANIFEST_BLOOM_RATE_PER_FILE = 17,
    MANIFEST_SNAPSHOT = 18, /* of a table: makes it a snapshot */
    MANIFEST_BLOOM_KIND = 19
};

/* Payload bytes of the items of fixed size. */
#define MANIFEST_COUNTERS_BYTES    32
#define MANIFEST_OLDEST_LOG_BYTES  8
#define MANIFEST_WAL_PROMISE_BYTES 16
#define MANIFEST_DROP_TABLE_BYTES  8
#define MANIFEST_ADD_FILE_BYTES    72
#define MANIFEST_REMOVE_FILE_BYTES 16
#define MANIFEST_FLUSHED_BYTES     16
#define MANIFEST_AHEAD_BYTES       16
#define MANIFEST_STATE_BYTES       8
#define MANIFEST_DROP_FAMILY_BYTES 8
#define MANIFEST_NEXT_FAMILY_BYTES 8
#define MANIFEST_DROP_REGION_BYTES 8
/* CREATE_ and ALTER_, of TABLE and FAMILY, begin with so many bytes of ids; attributes follow. */
#define MANIFEST_IDS_BYTES 8
/* Ids and time; the row follows where the region starts. */
#define MANIFEST_CREATE_REGION_BYTES 16

/* Numbers of logs and store files are below, so far that counting on from any of them never ends.
 */
#define MANIFEST_FILE_NUMBER_END ((uint64_t)1 << 62)
#define MANIFEST_STATE_END       ((uint64_t)1 << 62)
/* The attribute TEXT begins with so many bytes: kind and size of the name; name and value follow.
 */
#define MANIFEST_TEXT_BYTES 4
/* The attribute SNAPSHOT begins with so many bytes: when it was made, its time to live; its name
 * follows. */
#define MANIFEST_SNAPSHOT_BYTES 16

#endif
