/*
 * outgoing.h -- the cells of one family between two rows, in HBase's order, as HBase shall have
 * them.
 *
 * Of a put and a marker with one timestamp the later write wins in Petal, the marker in HBase. So a
 * marker that a put of its own timestamp T has outlived goes to HBase as one of T - 1 (those that
 * hide what is up to T), or not at all (those that hide T alone), and what it hides at T stays
 * here. Then HBase's readers see what Petal's do. Everything else goes as it is stored.
 */
#ifndef PETAL_HFILE_EXCHANGE_OUTGOING_H
#define PETAL_HFILE_EXCHANGE_OUTGOING_H

#include "tools/hfile/format/buffer.h"
#include "tools/hfile/petal_hfile.h"

/* Bytes of a tag with a time to live: length, type, milliseconds. */
#define OUTGOING_TTL_TAG_BYTES 11

/* Of markers of one row, those of T - 1 and T - 2 are the most that can wait for their place. */
#define OUTGOING_MOST_MOVED 4

struct outgoing_marker {
    bool of_family; /* in the column with the empty qualifier; else in `column` */
    enum petal_cell_type type;
    int64_t timestamp;
    bool has_ttl;
    int64_t ttl_ms;
};

struct outgoing {
    petal_table *table;
    petal_family *family;
    const petal_snapshot *snapshot;
    bool visible_only;
    petal_cursor *cursor;
    petal_result *answer;
    const petal_cell *at;            /* where the cursor stands, NULL after the last */
    bool at_is_given;                /* so the next step moves on first */
    struct hfile_buffer row, column; /* what the following is about */
    struct outgoing_marker moved[OUTGOING_MOST_MOVED]; /* to be given, in HBase's order */
    size_t moved_count;
    struct hfile_buffer
        family_ties; /* int64_t: times of the row's family markers outlived by a put */
    bool
        has_tie; /* puts of `column` at `tie`: the first is given if `tie_gives`, the others stay */
    int64_t tie;
    bool tie_gives;
    uint8_t tag[OUTGOING_TTL_TAG_BYTES];
    /* Markers that became earlier ones, markers and puts that stayed. */
    uint64_t moved_markers, left_markers, left_puts;
};

/* Of what readers see, or of all that is stored; with a snapshot as of that. Rows from `from` to
 * before `to`, which without bytes is the end of the table. */
enum petal_status outgoing_open(struct outgoing *outgoing, petal_db *db, petal_table *table,
                                petal_family *family, petal_slice from, petal_slice to,
                                const petal_snapshot *snapshot, bool visible_only,
                                petal_error *error);
void outgoing_close(struct outgoing *outgoing);

/* The next cell; false in *more: there is none. Good until the next call. */
enum petal_status outgoing_next(struct outgoing *outgoing, petal_hfile_cell *cell, bool *more,
                                petal_error *error);

#endif
