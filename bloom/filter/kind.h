/*
 * kind.h -- the common part of all filters, and the table of functions of each kind.
 *
 * filter.c has the public calls (bloom/petal_bloom.h): it checks arguments, hashes keys, and calls
 * the kind's functions, which need not check again. A kind's object begins with a struct
 * petal_bloom, and is made by the kind's `create`, its `open`, or a builder.
 */
#ifndef PETAL_BLOOM_FILTER_KIND_H
#define PETAL_BLOOM_FILTER_KIND_H

#include "base/env.h"
#include "bloom/file/set_file.h"
#include "bloom/petal_bloom.h"

struct filter_kind;

struct petal_bloom {
    const struct filter_kind *functions; /* set by filter.c, or the builder */
    enum petal_bloom_kind kind;
    unsigned probes; /* of RIBBON and GROWING 0 */
    uint64_t bits;   /* as in petal_bloom_plan; of GROWING 0: its chain knows */
    uint64_t keys, salt;
    double rate; /* that was asked for */
    bool is_read_only;
    struct env env;
};

/* What a filter holds besides what its head says. */
struct filter_extent {
    uint64_t bits, bytes;
    unsigned segments;
};

/* All but `plan`, `open` and the questions may be NULL: the kind cannot do it. */
struct filter_kind {
    /* `options` are resolved (filter_options_resolve). Fills all of *plan but its size. */
    enum petal_status (*plan)(const petal_bloom_options *options, petal_bloom_plan *plan,
                              petal_error *error);
    enum petal_status (*create)(const petal_bloom_options *options, petal_bloom **bloom,
                                petal_error *error);
    void (*free)(petal_bloom *bloom);

    /* Of a filter that is not read-only. were_new may be NULL. */
    enum petal_status (*add_hashes)(petal_bloom *bloom, const uint64_t *hashes, size_t count,
                                    bool *were_new, petal_error *error);
    /* False: it is certainly not in. */
    bool (*remove_hash)(petal_bloom *bloom, uint64_t hash);

    bool (*may_contain_hash)(const petal_bloom *bloom, uint64_t hash);
    size_t (*may_contain_hashes)(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                                 bool *answers);

    void (*extent)(const petal_bloom *bloom, struct filter_extent *extent);
    double (*expected_rate)(const petal_bloom *bloom, uint64_t keys);
    double (*present_rate)(const petal_bloom *bloom);
    uint64_t (*count)(const petal_bloom *bloom);

    /* Of compatible filters, the first not read-only; the two may be one. */
    void (*unite)(petal_bloom *bloom, const petal_bloom *other);

    /* Append the body, and set the head's parameters from FILTER_OWN_PARAMETERS on; the rest of
     * the head is filled. */
    enum petal_status (*save)(const petal_bloom *bloom, struct set_file_writer *writer,
                              struct set_file_head *head, petal_error *error);
    /*
     * Make the filter of a file whose head's common part was checked: `like` has it. Takes the file
     * over (filter_take_file) once nothing can fail any more. The head's other parameters and the
     * body are believed only after they are checked.
     */
    enum petal_status (*open)(const char *path, const petal_bloom *like, struct set_file *file,
                              petal_bloom **bloom, petal_error *error);
};

extern const struct filter_kind filter_blocked, filter_counting, filter_growing, filter_ribbon;

/* As the public header has it, in capitals; NULL: there is no such kind. */
const char *filter_kind_name(enum petal_bloom_kind kind);

/* ---- options ---- */

/* What was given, with defaults filled in; each field is checked but `keys`, which not every kind
 * needs. The kind is one that filters have. */
enum petal_status filter_options_resolve(petal_bloom_options *options,
                                         const petal_bloom_options *given, petal_error *error);

/* Fill in what `options`, which are resolved, say of a filter; not its functions. */
void filter_init(petal_bloom *bloom, const petal_bloom_options *options);

/* ---- files ---- */

/* Of the body of each kind. */
#define FILTER_LAYOUT 1

/* Parameters of the head of a filter's file. */
enum filter_parameter {
    FILTER_KEYS = 0,
    FILTER_RATE = 1, /* the bits of a double of IEEE 754 */
    FILTER_OWN_PARAMETERS = 2
};

/* The head of a filter's file but for its kind's own parameters. */
void filter_describe(const petal_bloom *bloom, struct set_file_head *head);

/* PETAL_CORRUPT, at the parameter's place in the file: `text` says what is wrong with it. */
enum petal_status filter_bad_parameter(petal_error *error, const char *path, unsigned parameter,
                                       const char *text);

/* Are the parameters from `first` on 0? */
enum petal_status filter_check_unused(const struct set_file *file, const char *path, unsigned first,
                                      petal_error *error);

static inline struct set_file
filter_take_file(struct set_file *file)
{
    struct set_file taken = *file;

    file->body = NULL;
    return taken;
}

#endif
