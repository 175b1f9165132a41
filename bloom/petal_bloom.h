/*
 * petal_bloom.h -- sets that take little room: Bloom filters and their relatives, bitmaps, and
 * counts of distinct keys. A library of its own, libpetal-bloom: no database is needed.
 *
 * A FILTER answers "may this key be in the set?" False is certain; true is wrong for a part of the
 * keys that are not in the set: its RATE. It does not hold the keys, and cannot list them. There is
 * one kind for each use:
 *
 *   kind      bits a key at a rate of 1 %  what it is for
 *   BLOCKED    9.9                         one cache miss a question: the fastest, and the default
 *   COUNTING  43.4                         BLOCKED with counters of 4 bits: keys can be removed
 *   GROWING   11 to 24, twice as many      BLOCKED filters in a chain: the number of keys is not
 *             when it has just grown       known before
 *   RIBBON     6.9                         built once, of all keys: the smallest
 *
 * The first three are made empty (petal_bloom_create) and take keys at any time. RIBBON comes from
 * a builder and takes no keys afterwards.
 *
 * KEYS are bytes, or 64-bit hashes that the caller made: those of petal_bloom_hash, or any others
 * whose 64 bits are all evenly spread. Two keys of one hash are one key. A SALT goes into the hash:
 * where strangers choose the keys a random one keeps them from choosing keys that all pass. Filters
 * that are united, or asked with the hashes of another, have the same.
 *
 * FILES. Each kind of set can be saved to a file of its own, and is loaded from it, or mapped: then
 * nothing is copied, processes share the memory, and it can only be read. Files are the same on
 * every machine; bloom/FORMAT.md describes them byte by byte. A save replaces the file as a whole
 * and is durable when it returns: after a crash the old file is there or the new one. The new file
 * is its owner's alone (mode 0600), whatever mode the old one had. A symbolic link as the last part
 * of a path is refused, by a load as by a save (PETAL_INVALID): resolve it before. What a file
 * holds is checked: a wrong checksum is PETAL_CORRUPT, another version PETAL_UNSUPPORTED, each with
 * the file, the offset and what is wrong there.
 *
 * THREADS. Filters (but RIBBON, which takes no keys), bitmaps and counts of distinct take
 * keys from any number of threads at once, without locks, beside threads that ask; but while one of
 * them makes room in a GROWING filter that is full, others that add wait. What was added
 * before (a lock, a join, a release that was acquired says so) is found. What else changes a set or
 * reads it as a whole (union, intersection, save, free, and what their declarations name) wants it
 * for itself. A builder belongs to one thread at a time.
 *
 * ERRORS, OPTIONS AND OWNERSHIP are as in petal.h. Of an env (petal.h, petal_env) allocator and vfs
 * are used; both outlive the set. A NULL env means the defaults. What cannot fail and is given
 * NULL, or a slice with a size and without data, answers what can do no harm: every key may be in a
 * filter that is not there, and a bitmap or count that is not there is empty.
 */
#ifndef PETAL_BLOOM_H
#define PETAL_BLOOM_H

#include <petal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Laid out by hand: what does not fit beside a field stands above it, no declaration is torn. */
/* clang-format off */

/* ---- Hashes --------------------------------------------------------------------------------- */

/* XXH3-64 of the key's bytes, its seed the salt: the same in all versions of the library. */
PETAL_API uint64_t petal_bloom_hash(petal_slice key, uint64_t salt);

/* ---- What a filter takes -------------------------------------------------------------------- */

#define PETAL_BLOOM_DEFAULT_RATE 0.01
#define PETAL_BLOOM_MIN_RATE     1e-6
#define PETAL_BLOOM_MAX_RATE     0.5

/* How a filter is made. */
typedef struct petal_bloom_options {
    size_t size;
    enum petal_bloom_kind kind; /* default BLOCKED */
    /* So many different keys are expected: at least 1. Of GROWING, which may be given more, and of
     * a builder, which counts them, a hint that may be 0. */
    uint64_t keys;
    double rate; /* of the filter with so many keys; default 0.01 */
    uint64_t salt;
    const petal_env *env;
} petal_bloom_options;

/* What a filter would take. */
typedef struct petal_bloom_plan {
    size_t size;
    uint64_t bits;       /* all that tells keys apart: without headers; of COUNTING 4 a counter */
    unsigned probes;     /* of RIBBON 0 */
    double bits_per_key;
    double rate;         /* by theory, with the keys expected */
    uint64_t bytes;      /* of memory, or of a file without its header */
    /* Of memory while it is built of all keys: of RIBBON in one piece, with the hashes. */
    uint64_t build_bytes;
} petal_bloom_plan;

/*
 * Works out what petal_bloom_create or a builder would make. *plan is overwritten but for its size.
 * PETAL_INVALID: no keys, a rate outside MIN_RATE..MAX_RATE, more than memory can be addressed by;
 * the text says which.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_plan_for(const petal_bloom_options *options, petal_bloom_plan *plan,
                     petal_error *error);

/* ---- Filters that take keys ----------------------------------------------------------------- */

typedef struct petal_bloom petal_bloom;

/* BLOCKED, COUNTING or GROWING, empty. Memory is taken at once, but by GROWING. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_create(const petal_bloom_options *options, petal_bloom **bloom, petal_error *error);

/* NULL: nothing. */
PETAL_API void petal_bloom_free(petal_bloom *bloom);

/*
 * Enter a key. *was_new (may be NULL): true if it certainly was not in the filter before; false
 * if it was, or, at the filter's rate, if it was not. Of threads that add one key at once at least
 * one is told that it was new, if it was.
 * PETAL_NO_MEMORY: GROWING only; the key is not entered. PETAL_READ_ONLY: the filter is mapped, or
 * of a kind that is built once.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_add(petal_bloom *bloom, petal_slice key, bool *was_new, petal_error *error);

/* The same of many hashes at a time, which hides the cache misses of one after others. were_new
 * (may be NULL) has `count` places. On an error some may be entered. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                       petal_error *error);

/*
 * Take back one petal_bloom_add of the key, of a filter of kind COUNTING. A counter that has come
 * to 15 stays there: the key and others may pass ever after, but none is missed.
 * PETAL_NOT_FOUND: the key is certainly not in the filter, nothing is changed. Removing a key that
 * was never added, and passes by chance, makes others be missed: who may not be sure must not
 * remove.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_remove(petal_bloom *bloom, petal_slice key, petal_error *error);

/* ---- Questions ------------------------------------------------------------------------------ */

/* False only if the key was not entered. Neither allocates nor fails. */
PETAL_API bool petal_bloom_may_contain(const petal_bloom *bloom, petal_slice key);
PETAL_API bool petal_bloom_may_contain_hash(const petal_bloom *bloom, uint64_t hash);

/* Many at a time: out of cache several times faster than one by one. Fills answers[0..count);
 * returns how many are true. */
PETAL_API size_t
petal_bloom_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                               bool *answers);

typedef struct petal_bloom_info {
    size_t size;
    enum petal_bloom_kind kind;
    uint64_t keys;       /* that it was made for; of a kind that is built once, that it has */
    double rate;         /* that was asked for */
    uint64_t bits;       /* as in petal_bloom_plan */
    unsigned probes;
    uint64_t salt;
    uint64_t bytes;      /* of memory, or of the map */
    unsigned segments;   /* of GROWING: filters in its chain; of those built once: parts; else 1 */
    bool is_read_only;
} petal_bloom_info;

/* What the filter is. *info is overwritten but for its size. */
PETAL_API void petal_bloom_get_info(const petal_bloom *bloom, petal_bloom_info *info);

/* The rate by theory once it has so many different keys. Of those built once: as built, whatever
 * `keys` is; of GROWING: of the chain that it would be. */
PETAL_API double petal_bloom_expected_rate(const petal_bloom *bloom, uint64_t keys);

/* The rate now, from the bits that are set; and about how many different keys were added. Both look
 * at all bits. */
PETAL_API double petal_bloom_present_rate(const petal_bloom *bloom);
PETAL_API uint64_t petal_bloom_count(const petal_bloom *bloom);

/* ---- Two filters ---------------------------------------------------------------------------- */

/* *bloom as if all keys of `other` had been added, too (COUNTING: each as often). PETAL_INVALID:
 * the two are not of one kind of BLOCKED and COUNTING, or differ in bits, probes or salt; the text
 * says in what. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_unite(petal_bloom *bloom, const petal_bloom *other, petal_error *error);

/* ---- Files ---------------------------------------------------------------------------------- */

/* How the file of a filter, a bitmap or a count is opened; NULL means all defaults. */
typedef struct petal_bloom_load_options {
    size_t size;
    /* Map the file instead of reading it: the set is read-only. The file must not be cut short
     * while it is mapped: that ends the process (SIGBUS); petal_bloom_save replaces files. */
    bool map;
    const petal_env *env;
} petal_bloom_load_options;

/* Save the filter as a file. PETAL_NO_SPACE, PETAL_IO: the file at `path`, if there was one, is
 * what it was; but where the error tells of the sync of the directory: then the new one is there,
 * and after a crash either. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_save(const petal_bloom *bloom, const char *path, petal_error *error);

/* The filter that a file has, as it was saved; errors as FILES above has them. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_load(const char *path, const petal_bloom_load_options *options, petal_bloom **bloom,
                 petal_error *error);

enum petal_bloom_file_type {
    PETAL_BLOOM_FILE_FILTER = 1,
    PETAL_BLOOM_FILE_BITMAP = 2,
    PETAL_BLOOM_FILE_BITMAP2 = 3,
    PETAL_BLOOM_FILE_DISTINCT = 4
};

/* What kind of set a file holds, from its header, which is checked. `env` may be NULL. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_file_type(const char *path, const petal_env *env, enum petal_bloom_file_type *type,
                      petal_error *error);

/* ---- Filters that are built of all keys ----------------------------------------------------- */

typedef struct petal_bloom_builder petal_bloom_builder;

typedef struct petal_bloom_builder_options {
    size_t size;
    petal_bloom_options filter; /* kind (default and only one: RIBBON), rate, salt, env */
    /* Of hashes in memory, 8 bytes a key, and what building needs; the rest waits in files without
     * names in `directory`. Default 64 MiB, at least 8 MiB. Without a directory memory grows with
     * the keys. */
    size_t memory_bytes;
    const char *directory;
} petal_bloom_builder_options;

/* Begin to build a filter. PETAL_NOT_FOUND: there is no directory of this path. PETAL_INVALID: it
 * is empty, or a number is out of range. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_builder_create(const petal_bloom_builder_options *options,
                           petal_bloom_builder **builder, petal_error *error);

/* Release the builder, at any stage; NULL: nothing. What it made stays. */
PETAL_API void petal_bloom_builder_free(petal_bloom_builder *builder);

/* A key may be added more than once. After an error the builder can only be freed:
 * PETAL_NO_MEMORY, with less than memory_bytes or without a directory; PETAL_NO_SPACE, PETAL_IO:
 * the directory's. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_builder_add(petal_bloom_builder *builder, petal_slice key, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_builder_add_hashes(petal_bloom_builder *builder, const uint64_t *hashes, size_t count,
                               petal_error *error);

/*
 * Build the filter in memory, or into a file, part by part within memory_bytes, as petal_bloom_save
 * would write it. One of them, once; then the builder can only be freed.
 * PETAL_NO_SPACE: the disk of the directory or of the path is full; nothing is left on either.
 * PETAL_INVALID: hashes that the caller made, and that are not evenly spread, could not be built.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_builder_finish(petal_bloom_builder *builder, petal_bloom **bloom, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bloom_builder_save(petal_bloom_builder *builder, const char *path, petal_error *error);

/* ---- Bitmaps -------------------------------------------------------------------------------- */

/* A set of the numbers 0..bits-1, a bit for each: up to 2^40. Memory that no number was entered
 * near is not taken from the system. Numbers from `bits` on cannot be entered. */
typedef struct petal_bitmap petal_bitmap;

#define PETAL_BITMAP_MAX_BITS (UINT64_C(1) << 40)
#define PETAL_BITMAP_NONE     UINT64_MAX /* there is no such number */

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap_create(uint64_t bits, const petal_env *env, petal_bitmap **bitmap,
                    petal_error *error);
PETAL_API void petal_bitmap_free(petal_bitmap *bitmap);
PETAL_API uint64_t petal_bitmap_bits(const petal_bitmap *bitmap);

/* Was it there before? Of a number out of range, or a mapped bitmap: nothing changes; false. */
PETAL_API bool petal_bitmap_set(petal_bitmap *bitmap, uint64_t number);
PETAL_API bool petal_bitmap_test(const petal_bitmap *bitmap, uint64_t number);
PETAL_API uint64_t petal_bitmap_count(const petal_bitmap *bitmap);

/* The least number from `from` on that is in the set, or that is not; PETAL_BITMAP_NONE: there is
 * none below `bits`. */
PETAL_API uint64_t petal_bitmap_next_set(const petal_bitmap *bitmap, uint64_t from);
PETAL_API uint64_t petal_bitmap_next_clear(const petal_bitmap *bitmap, uint64_t from);

/* *bitmap as if all numbers of `other` had been entered, too. PETAL_INVALID: the two have different
 * sizes. PETAL_READ_ONLY: the first one is mapped. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap_unite(petal_bitmap *bitmap, const petal_bitmap *other, petal_error *error);

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap_save(const petal_bitmap *bitmap, const char *path, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap_load(const char *path, const petal_bloom_load_options *options, petal_bitmap **bitmap,
                  petal_error *error);

/* Two bits a number: was it entered never, once, or more often? Doubles are found with it. */
typedef struct petal_bitmap2 petal_bitmap2;

enum petal_bitmap2_state {
    PETAL_BITMAP2_NONE = 0,
    PETAL_BITMAP2_ONE = 1,
    PETAL_BITMAP2_MORE = 2
};

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap2_create(uint64_t numbers, const petal_env *env, petal_bitmap2 **bitmap,
                     petal_error *error);
PETAL_API void petal_bitmap2_free(petal_bitmap2 *bitmap);
PETAL_API uint64_t petal_bitmap2_numbers(const petal_bitmap2 *bitmap);

/* Add a number and tell what it was before; a number out of range, or in a mapped one, stays what
 * it is. */
PETAL_API enum petal_bitmap2_state petal_bitmap2_add(petal_bitmap2 *bitmap, uint64_t number);
PETAL_API enum petal_bitmap2_state petal_bitmap2_get(const petal_bitmap2 *bitmap, uint64_t number);
PETAL_API uint64_t
petal_bitmap2_count(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state);
/* The least number from `from` on in this state; PETAL_BITMAP_NONE: there is none. */
PETAL_API uint64_t
petal_bitmap2_next(const petal_bitmap2 *bitmap, enum petal_bitmap2_state state, uint64_t from);

/* As if what was added to the other one had been added to this one; errors as of bitmaps. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap2_unite(petal_bitmap2 *bitmap, const petal_bitmap2 *other, petal_error *error);

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap2_save(const petal_bitmap2 *bitmap, const char *path, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bitmap2_load(const char *path, const petal_bloom_load_options *options,
                   petal_bitmap2 **bitmap, petal_error *error);

/* ---- Counts of distinct keys ---------------------------------------------------------------- */

/* How many different keys there were, in a few kilobytes: HyperLogLog (Flajolet et al. 2007), read
 * by Ertl's estimator (2017), which needs no tables and no change of method between few and many
 * keys. */
typedef struct petal_distinct petal_distinct;

#define PETAL_DISTINCT_MIN_ERROR 0.001
#define PETAL_DISTINCT_MAX_ERROR 0.26

/* `standard_error` of the count, as a part of it: two of three counts are within it, 95 of 100
 * within twice. 0 means 0.01 (16 KiB). The registers' number is the least power of two that
 * holds it. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_distinct_create(double standard_error, uint64_t salt, const petal_env *env,
                      petal_distinct **distinct, petal_error *error);
PETAL_API void petal_distinct_free(petal_distinct *distinct);

/* The error that it has by theory, 1.04 / sqrt(registers); registers, a byte each; its salt. */
PETAL_API double petal_distinct_standard_error(const petal_distinct *distinct);
PETAL_API uint64_t petal_distinct_registers(const petal_distinct *distinct);
PETAL_API uint64_t petal_distinct_salt(const petal_distinct *distinct);

/* Count a key; a mapped one takes none. */
PETAL_API void petal_distinct_add(petal_distinct *distinct, petal_slice key);
PETAL_API void
petal_distinct_add_hashes(petal_distinct *distinct, const uint64_t *hashes, size_t count);

PETAL_API double petal_distinct_count(const petal_distinct *distinct);

/* As if all keys of the other had been added. One salt; with fewer registers in one of the two the
 * result has so many. PETAL_INVALID: the salts differ. PETAL_READ_ONLY: the first one is mapped. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_distinct_unite(petal_distinct *distinct, const petal_distinct *other, petal_error *error);

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_distinct_save(const petal_distinct *distinct, const char *path, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_distinct_load(const char *path, const petal_bloom_load_options *options,
                    petal_distinct **distinct, petal_error *error);

/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
