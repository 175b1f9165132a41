/*
 * distinct.c -- counts of distinct keys: HyperLogLog.
 *
 * REGISTERS.  2^p of a byte each. The high p bits of a hash are its register; its rank is one more
 * than the number of zeros that the 64 - p bits after those begin with, so 1..65 - p. A register
 * has the greatest rank that came to it, 0 if none did: what it is does not depend on the order of
 * keys, nor on threads, and keys that come again change nothing.
 *
 * FOLDING to p' = p - d: a register becomes that of its number's high p' bits. The d low bits of
 * its number become the first bits of the rank: it is one more than their leading zeros, or, if all
 * are zero, d more than before. So the folded sketch is, bit by bit, the one that the keys would
 * have made with p'.
 *
 * THE COUNT is Ertl's improved raw estimate ("New cardinality estimation algorithms for HyperLogLog
 * sketches", 2017, algorithm 6): the raw estimate of Flajolet et al. with corrections for registers
 * that are 0 and for those that are full, derived, not measured. It is derived for infinitely many
 * registers, with the limit of Flajolet's constant: of m registers that are all in use it is too
 * high by 1.08/m, of m that are nearly all empty by half of that. So the constant is Flajolet's for
 * m, moved towards the limit by half the root of the part of registers that are empty: measured,
 * what is left is below 0.1/m at all numbers of keys.
 */
#include "base/argument.h"
#include "base/mem.h"
#include "bloom/file/set_file.h"
#include "bloom/hash.h"
#include "bloom/petal_bloom.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>

#define DEFAULT_ERROR 0.01
#define ERROR_FACTOR  1.04 /* times 1 / sqrt(registers) */

#define LEAST_PRECISION 4  /* PETAL_DISTINCT_MAX_ERROR */
#define MOST_PRECISION  21 /* PETAL_DISTINCT_MIN_ERROR */

#define FILE_LAYOUT       1
#define PRECISION_IN_FILE 0 /* of the parameters */

typedef _Atomic(uint8_t) distinct_register;
_Static_assert(sizeof(distinct_register) == 1, "registers are bytes of files");

struct petal_distinct {
    struct env env;
    uint64_t salt;
    unsigned precision; /* p */
    distinct_register *registers;
    size_t register_bytes; /* taken; more than 2^p once it was folded */
    bool is_read_only;
    struct set_file file; /* mapped: the registers are its body */
};

static size_t
count_registers(const petal_distinct *distinct)
{
    return (size_t)1 << distinct->precision;
}

static uint8_t
load(const distinct_register *reg)
{
    return atomic_load_explicit(reg, memory_order_relaxed);
}

/* ---- making ---- */

static double
error_of(unsigned precision)
{
    return ERROR_FACTOR / sqrt((double)((uint64_t)1 << precision));
}

static petal_distinct *
new_distinct(const struct env *env, unsigned precision, uint64_t salt)
{
    petal_distinct *distinct = mem_zalloc(env->allocator, sizeof *distinct);

    if (distinct == NULL)
        return NULL;
    distinct->env = *env;
    distinct->precision = precision;
    distinct->salt = salt;
    distinct->register_bytes = count_registers(distinct);
    return distinct;
}

enum petal_status
petal_distinct_create(double standard_error, uint64_t salt, const petal_env *env,
                      petal_distinct **distinct, petal_error *error)
{
    RETURN_IF_NULL(distinct, error);
    *distinct = NULL;

    unsigned precision = LEAST_PRECISION;
    enum petal_status status;
    struct env resolved;

    if (standard_error == 0)
        standard_error = DEFAULT_ERROR;
    if (!(standard_error >= PETAL_DISTINCT_MIN_ERROR && standard_error <= PETAL_DISTINCT_MAX_ERROR))
        return error_set(error, PETAL_INVALID,
                         "standard_error is %g; it must be 0 or between %g and %g", standard_error,
                         PETAL_DISTINCT_MIN_ERROR, PETAL_DISTINCT_MAX_ERROR);
    while (error_of(precision) > standard_error)
        precision++;
    assert(precision <= MOST_PRECISION);
    status = env_check(env, error);
    if (status != PETAL_OK)
        return status;
    env_init(&resolved, env);
    *distinct = new_distinct(&resolved, precision, salt);
    if (*distinct == NULL)
        return error_no_memory(error);
    (*distinct)->registers = set_memory(&resolved, (*distinct)->register_bytes);
    if ((*distinct)->registers == NULL) {
        petal_distinct_free(*distinct);
        *distinct = NULL;
        return error_no_memory(error);
    }
    return PETAL_OK;
}

void
petal_distinct_free(petal_distinct *distinct)
{
    const petal_allocator *allocator;

    if (distinct == NULL)
        return;
    allocator = distinct->env.allocator;
    if (distinct->is_read_only)
        set_file_close(&distinct->file);
    else
        mem_free(allocator, distinct->registers, distinct->register_bytes);
    mem_free(allocator, distinct, sizeof *distinct);
}

double
petal_distinct_standard_error(const petal_distinct *distinct)
{
    return distinct != NULL ? error_of(distinct->precision) : 0;
}

uint64_t
petal_distinct_registers(const petal_distinct *distinct)
{
    return distinct != NULL ? count_registers(distinct) : 0;
}

uint64_t
petal_distinct_salt(const petal_distinct *distinct)
{
    return distinct != NULL ? distinct->salt : 0;
}

/* ---- keys ---- */

/* How many zeros a word begins with; REQUIRES: it is not 0. */
static unsigned
leading_zeros(uint64_t word)
{
    return (unsigned)__builtin_clzll(word);
}

/* Of the bits that are left of a hash, moved up; a 1 after them ends the zeros. */
static uint8_t
rank_of(uint64_t hash, unsigned precision)
{
    return (uint8_t)(leading_zeros(hash << precision | (uint64_t)1 << (precision - 1)) + 1);
}

/* What is there already is only read: its cache line stays with all cores. */
static void
raise_register(distinct_register *reg, uint8_t rank)
{
    uint8_t before = load(reg);

    while (before < rank && !atomic_compare_exchange_weak_explicit(
                                reg, &before, rank, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void
add_hash(petal_distinct *distinct, uint64_t hash)
{
    raise_register(&distinct->registers[hash >> (64 - distinct->precision)],
                   rank_of(hash, distinct->precision));
}

void
petal_distinct_add(petal_distinct *distinct, petal_slice key)
{
    /* The same as petal_bloom_hash. */
    if (distinct != NULL && !slice_lacks_bytes(key) && !distinct->is_read_only)
        add_hash(distinct, bloom_hash_row(distinct->salt, key.data, key.size));
}

#define AHEAD 16

void
petal_distinct_add_hashes(petal_distinct *distinct, const uint64_t *hashes, size_t count)
{
    unsigned shift;

    if (distinct == NULL || hashes == NULL || distinct->is_read_only)
        return;
    shift = 64 - distinct->precision;
    for (size_t i = 0; i < count; i++) {
        if (count - i > AHEAD)
            mem_prefetch((const void *)&distinct->registers[hashes[i + AHEAD] >> shift], 1);
        add_hash(distinct, hashes[i]);
    }
}

/* ---- the count ---- */

/* x + sum of 2^(k-1) x^(2^k), k from 1; infinite for 1. */
static double
sigma(double x)
{
    double power = 1, sum = x, before;

    if (x == 1)
        return INFINITY;
    do {
        x *= x;
        before = sum;
        sum += x * power;
        power += power;
    } while (sum != before);
    return sum;
}

/* (1 - x - sum of 2^-k (1 - x^(2^-k))^2, k from 1) / 3. */
static double
tau(double x)
{
    double power = 1, sum = 1 - x, before;

    if (x == 0 || x == 1)
        return 0;
    do {
        x = sqrt(x);
        before = sum;
        power *= 0.5;
        sum -= (1 - x) * (1 - x) * power;
    } while (sum != before);
    return sum / 3;
}

/* How many registers have each rank; one that no key can have is taken for the greatest. */
static void
count_ranks(const petal_distinct *distinct, uint64_t counts[65])
{
    unsigned most = 65 - distinct->precision;

    for (unsigned rank = 0; rank < 65; rank++)
        counts[rank] = 0;
    for (size_t i = 0; i < count_registers(distinct); i++) {
        unsigned rank = load(&distinct->registers[i]);

        counts[rank < most ? rank : most]++;
    }
}

/* Flajolet's constant for so many registers, of which that part is empty: see the top. */
static double
constant_of(double registers, double empty)
{
    const double limit = 1 / (2 * log(2));
    double constant = registers == 16   ? 0.673
                      : registers == 32 ? 0.697
                      : registers == 64 ? 0.709
                                        : 0.7213 / (1 + 1.079 / registers);

    return constant + (limit - constant) * sqrt(empty) / 2;
}

double
petal_distinct_count(const petal_distinct *distinct)
{
    if (distinct == NULL)
        return 0;

    const double most = 18446744073709551616.0; /* there are no more hashes */
    double registers = (double)count_registers(distinct), empty, sum;
    unsigned most_rank = 65 - distinct->precision;
    uint64_t counts[65];

    count_ranks(distinct, counts);
    sum = registers * tau(1 - (double)counts[most_rank] / registers);
    for (unsigned rank = most_rank - 1; rank >= 1; rank--)
        sum = 0.5 * (sum + (double)counts[rank]);
    empty = (double)counts[0] / registers;
    sum += registers * sigma(empty);
    return fmin(constant_of(registers, empty) * registers * registers / sum, most);
}

/* ---- two counts ---- */

/* The register `number` as it would be with `less` bits of precision less. */
static uint8_t
folded(const distinct_register *registers, size_t number, unsigned less)
{
    const distinct_register *from = &registers[number << less];
    size_t count = (size_t)1 << less, i = count;
    uint8_t own = load(from);
    unsigned rank = own == 0 ? 0 : own + less;

    while (--i > 0) {
        unsigned zeros = leading_zeros(i) - (64 - less);

        if (load(&from[i]) != 0 && rank < zeros + 1)
            rank = zeros + 1;
    }
    return (uint8_t)rank;
}

static void
fold(petal_distinct *distinct, unsigned precision)
{
    unsigned less = distinct->precision - precision;

    for (size_t i = 0; i < (size_t)1 << precision; i++) /* what is read lies at i or after */
        atomic_store_explicit(&distinct->registers[i], folded(distinct->registers, i, less),
                              memory_order_relaxed);
    distinct->precision = precision;
}

enum petal_status
petal_distinct_unite(petal_distinct *distinct, const petal_distinct *other, petal_error *error)
{
    RETURN_IF_NULL(distinct, error);
    RETURN_IF_NULL(other, error);
    if (distinct->is_read_only)
        return error_set(error, PETAL_READ_ONLY, "the count is mapped and cannot be changed");
    if (distinct->salt != other->salt)
        return error_set(error, PETAL_INVALID, "the counts have different salts");
    if (distinct->precision > other->precision)
        fold(distinct, other->precision);
    for (size_t i = 0; i < count_registers(distinct); i++)
        raise_register(&distinct->registers[i],
                       folded(other->registers, i, other->precision - distinct->precision));
    return PETAL_OK;
}

/* ---- files ---- */

enum petal_status
petal_distinct_save(const petal_distinct *distinct, const char *path, petal_error *error)
{
    RETURN_IF_NULL(distinct, error);
    RETURN_IF_NULL(path, error);

    const struct set_file_head head = {
        .type = PETAL_BLOOM_FILE_DISTINCT,
        .layout = FILE_LAYOUT,
        .salt = distinct->salt,
        .parameters = {[PRECISION_IN_FILE] = distinct->precision},
    };
    struct set_file_writer *writer;
    enum petal_status status = set_file_create(&distinct->env, path, &writer, error);

    if (status != PETAL_OK)
        return status;
    status = set_file_append(writer, (const void *)distinct->registers, count_registers(distinct),
                             error);
    if (status != PETAL_OK) {
        set_file_abandon(writer);
        return status;
    }
    return set_file_finish(writer, &head, error);
}

/* What the head says of the body. */
static enum petal_status
check_file(const struct set_file *file, const char *path, petal_error *error)
{
    uint64_t precision = file->head.parameters[PRECISION_IN_FILE];

    if (file->head.layout != FILE_LAYOUT)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "the count has layout %u, this library reads layout %u",
                          file->head.layout, FILE_LAYOUT);
    if (precision < LEAST_PRECISION || precision > MOST_PRECISION)
        return error_corrupt(error, path, 0,
                             "the count has a precision of %llu bits; it must have %u to %u",
                             (unsigned long long)precision, LEAST_PRECISION, MOST_PRECISION);
    if (file->body_bytes != (uint64_t)1 << precision)
        return error_corrupt(
            error, path, 0, "the count has %llu registers; its precision means %llu",
            (unsigned long long)file->body_bytes, (unsigned long long)1 << precision);
    return PETAL_OK;
}

static enum petal_status
check_registers(const struct set_file *file, const char *path, petal_error *error)
{
    unsigned most = 65 - (unsigned)file->head.parameters[PRECISION_IN_FILE];

    for (size_t i = 0; i < file->body_bytes; i++) {
        if (file->body[i] > most)
            return error_corrupt(error, path, SET_FILE_PAGE_BYTES + i,
                                 "a register holds %u; no key gives it more than %u", file->body[i],
                                 most);
    }
    return PETAL_OK;
}

enum petal_status
petal_distinct_load(const char *path, const petal_bloom_load_options *options,
                    petal_distinct **distinct, petal_error *error)
{
    RETURN_IF_NULL(distinct, error);
    *distinct = NULL;
    RETURN_IF_NULL(path, error);

    struct set_file file;
    enum petal_status status;

    status = set_file_open(path, options, PETAL_BLOOM_FILE_DISTINCT, &file, error);
    if (status != PETAL_OK)
        return status;
    status = check_file(&file, path, error);
    if (status == PETAL_OK)
        status = check_registers(&file, path, error);
    if (status == PETAL_OK) {
        *distinct = new_distinct(&file.env, (unsigned)file.head.parameters[PRECISION_IN_FILE],
                                 file.head.salt);
        status = *distinct == NULL ? error_no_memory(error) : PETAL_OK;
    }
    if (status != PETAL_OK) {
        set_file_close(&file);
        return status;
    }
    (*distinct)->registers = (distinct_register *)file.body;
    (*distinct)->is_read_only = file.is_mapped;
    (*distinct)->file = file;
    return PETAL_OK;
}
