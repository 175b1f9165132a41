/* options.h -- options are checked and their defaults filled in here, once. */
#ifndef PETAL_ENGINE_OPTIONS_H
#define PETAL_ENGINE_OPTIONS_H

#include "base/error.h"
#include "base/options.h"

/* Of all together when no size is given; and of each when only the other one is. */
#define DEFAULT_MEMORY_BYTES   ((size_t)64 << 20)
#define DEFAULT_CACHE_BYTES    ((size_t)32 << 20)
#define DEFAULT_MEMTABLE_BYTES ((size_t)8 << 20)
/* Of a memory_bytes that was given memtables take an eighth, and by default no more than this. */
#define MOST_DEFAULT_MEMTABLE_BYTES  ((size_t)64 << 20)
#define DEFAULT_OPEN_FILES           512
#define LEAST_OPEN_FILES             8
#define LEAST_MEMORY_BYTES           ((size_t)1 << 20)
#define DEFAULT_LOG_SYNC_INTERVAL_MS 1000
#define DEFAULT_BLOCK_BYTES          65536
#define DEFAULT_BLOOM_ERROR_RATE     0.01
#define MOST_FAMILIES                4096
#define MOST_SPLITS                  65536

/* PETAL_INVALID: a value is set and its flag is not. */
enum petal_status options_check_time_range(bool has_time_range, int64_t time_min,
                                           int64_t time_limit, petal_error *error);
enum petal_status options_check_ttl(bool has_ttl, int64_t ttl_ms, petal_error *error);

/* PETAL_INVALID: it is none. Here, since each write with options asks. */
static inline enum petal_status
options_check_durability(enum petal_durability durability, petal_error *error)
{
    return durability <= PETAL_FSYNC_WAL
               ? PETAL_OK
               : error_set(error, PETAL_INVALID, "durability is %d; it must be 0 to %d",
                           (int)durability, (int)PETAL_FSYNC_WAL);
}

enum petal_status options_resolve(petal_options *options, const petal_options *given,
                                  petal_error *error);

/* Check and complete one family's attributes; name and list of attributes are not copied. */
enum petal_status family_options_resolve(petal_family_options *options,
                                         const petal_family_options *given, petal_error *error);

/* Durability and the list of attributes. */
enum petal_status table_attributes_check(const petal_table_options *options, petal_error *error);

enum petal_status table_name_check(petal_slice name, petal_error *error);

/* What stands before the colon of a table's name; empty: the namespace default. */
petal_slice table_name_namespace(petal_slice name);
enum petal_status snapshot_name_check(petal_slice name, petal_error *error);

#endif
