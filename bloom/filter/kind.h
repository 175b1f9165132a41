/*
 * kind.h -- what filters of all kinds have, and the table of what each kind does in its own way.
 *
 * filter.c has what a caller sees (bloom/petal_bloom.h): it checks what comes from outside, makes
 * hashes of keys, and hands on to the kind's functions, which need not check again. A kind's object
 * begins with a struct petal_bloom, and is made by the kind's `create`, its `open`, or a builder.
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
    unsigned probes; /* 0: RIBBON, FUSE */
    uint64_t bits;   /* as in petal_bloom_plan; of GROWING 0: its chain knows */
    uint64_t keys, salt;
    double rate; /* that was asked for; 0: bits and probes were given, and none */
    bool is_read_only;
    struct env env;
};

/* What a filter holds besides what its head says. */
struct filter_extent {
    uint64_t bits, bytes;
    unsigned segments;
};

/* All but `plan`, `open` and what asks may be NULL: the kind cannot do it. */
struct filter_kind {
    /* `options` are resolved (options.h). Fills all of *plan but its size. */
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
    void (*clear)(petal_bloom *bloom);

    bool (*may_contain_hash)(const petal_bloom *bloom, uint64_t hash);
    size_t (*may_contain_hashes)(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                                 bool *answers);

    void (*extent)(const petal_bloom *bloom, struct filter_extent *extent);
    double (*expected_rate)(const petal_bloom *bloom, uint64_t keys);
    double (*present_rate)(const petal_bloom *bloom);
    uint64_t (*count)(const petal_bloom *bloom);

    /* Of compatible filters, the first not read-only. Of two that are one the caller takes care. */
    void (*unite)(petal_bloom *bloom, const petal_bloom *other);
    void (*intersect)(petal_bloom *bloom, const petal_bloom *other);

    /* Append the body, and say in the head's parameters, from FILTER_OWN_PARAMETERS on, and its
     * layout how it is read; the rest of the head is filled. */
    enum petal_status (*save)(const petal_bloom *bloom, struct set_file_writer *writer,
                              struct set_file_head *head, petal_error *error);
    /*
     * Make the filter of a file whose head's common part was checked: `like` has it. Takes the file
     * over (filter_take_file) once nothing can fail any more. What the head's other parameters and
     * the body say is believed only when it was checked.
     */
    enum petal_status (*open)(const char *path, const petal_bloom *like, struct set_file *file,
                              petal_bloom **bloom, petal_error *error);
};

/* Of the body of each kind; a kind that gets a new one counts for itself. */
#define FILTER_LAYOUT 1

/* Parameters of the head of a filter's file. */
enum filter_parameter {
    FILTER_KEYS = 0,
    FILTER_RATE = 1, /* the bits of a double of IEEE 754 */
    FILTER_OWN_PARAMETERS = 2
};

/* What the head of a filter's file says but for its kind's own parameters. */
void filter_describe(const petal_bloom *bloom, struct set_file_head *head);

/* PETAL_CORRUPT, at the parameter's place in the file: `text` says what is wrong with it. */
enum petal_status filter_bad_parameter(petal_error *error, const char *path, unsigned parameter,
                                       const char *text);

/* Are those from `first` on 0? */
enum petal_status filter_check_unused(const struct set_file *file, const char *path, unsigned first,
                                      petal_error *error);

static inline struct set_file
filter_take_file(struct set_file *file)
{
    struct set_file taken = *file;

    file->body = NULL;
    return taken;
}

extern const struct filter_kind filter_standard, filter_blocked, filter_counting, filter_growing,
    filter_ribbon, filter_fuse;

/* The numbers of kinds lie below. */
#define FILTER_KINDS (PETAL_BLOOM_KIND_FUSE + 1)

/* As the public header has it, in capitals; NULL: there is no such kind. */
const char *filter_kind_name(enum petal_bloom_kind kind);

/* Fill what `options`, which are resolved, say of a filter; but not `functions`: they know nothing
 * of the table of kinds. */
void filter_init(petal_bloom *bloom, const petal_bloom_options *options);

#endif
