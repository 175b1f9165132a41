/*
 * sweep.h -- a gallery whose files are damaged one at a time, and what a database may make of it.
 *
 * THE RULE.  Damage to a store file: the database opens; questions about other families get the
 * answers that they had; those about the file's family, too, or PETAL_CORRUPT by the file's name,
 * and no cell before it is wrong. Damage to the manifest: what FORMAT.md promises (promises.h). In
 * all cases memory, calls and processor time are bounded, and an opening that is refused leaves all
 * files as they were.
 */
#ifndef PETAL_TESTS_DAMAGE_SWEEP_H
#define PETAL_TESTS_DAMAGE_SWEEP_H

#include "tests/damage/answers.h"

/* What became of the mutants of one kind of file. */
struct sweep_count {
    uint64_t tried;
    uint64_t harmless; /* all that was asked was answered */
    uint64_t refused;  /* opening or some question was refused by name */
    uint64_t questions, openings, lives;
};

struct sweep_file {
    char *path;
    enum file_kind kind;
    size_t family; /* of a store file; GALLERY_FAMILIES: of none that is asked about */
    uint8_t *bytes;
    size_t size;
};

struct sweep {
    struct gallery gallery;
    struct memory_vfs *vfs; /* the gallery's files, as they should be but for the mutant */
    struct sweep_file *files;
    size_t file_count;
    struct answers answers;
    /* After a life of writes, flushes, and compactions, or without these: of the latter. */
    struct answers after_life, after_life_uncompacted;
    struct visit hot; /* open all the time, without a cache */
    struct visit cold;
    uint64_t turn;                  /* of the mutants */
    const struct sweep_file *other; /* that is damaged besides; NULL: none */
    bool all_is_told;               /* of the mutant at hand: verify has to find it */
    /* The mutant at hand has right checksums and lies: a wrong answer is the lie itself, unless
     * another family gives it, and errors may be of other kinds. */
    bool lies;
    bool told;                        /* it gave a wrong answer */
    uint64_t lies_told, lies_unfound; /* of these; those that verify did not find */
    uint64_t refused_unchanged; /* openings for writing that were refused, and changed nothing */
    struct sweep_count counts[FILE_KINDS];
};

void sweep_init(struct sweep *sweep, uint64_t seed, unsigned scale);
void sweep_fini(struct sweep *sweep);

/* How many of the questions are asked: those whose number and the turn leave no rest. */
struct sweep_share {
    unsigned own;    /* of those that concern the damaged file */
    unsigned others; /* of the others; 0: none */
};

/* Every one in the long run. */
struct sweep_share sweep_usual_share(void);

/* Mutants are tried by these; each puts other bytes in the place of the file's, and the right ones
 * back. `what` and `at` tell a reader of a failure which mutant it was. */
void sweep_begin(struct sweep *sweep, const struct sweep_file *file, const char *what, uint64_t at,
                 const uint8_t *bytes, size_t size);
void sweep_end(struct sweep *sweep, const struct sweep_file *file);

/* Questions that read that part of the file, asked of the database that is open. */
void sweep_ask_open(struct sweep *sweep, const struct sweep_file *file, const size_t *questions,
                    size_t count, struct sweep_share share);

/* Open, ask, close.  Returns the status of opening. */
enum petal_status sweep_ask_anew(struct sweep *sweep, const struct sweep_file *file,
                                 struct sweep_share share);

/* Open: refused by the file's name; or so, and with such answers, some of which may be failures. */
void sweep_expect_refusal(struct sweep *sweep, const struct sweep_file *file);
void sweep_expect_answers(struct sweep *sweep, const struct sweep_file *file,
                          enum petal_status status, const struct answers *answers,
                          struct sweep_share share);

/* The manifest or a log lies: any state may be what it says. Open, ask, close; `live`: also open
 * for writing, write, flush, compact, close, and open again. Whatever fails says why; what could be
 * closed can be opened. */
void sweep_believe(struct sweep *sweep, const struct sweep_file *file, unsigned share, bool live);

/* Open for writing a copy of the files, write, flush, compact, close, open again, ask; and again
 * with the right bytes back. */
void sweep_live(struct sweep *sweep, const struct sweep_file *file, struct sweep_share share);

void sweep_print(const struct sweep *sweep, const char *what, double seconds);

#endif
