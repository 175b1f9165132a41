/*
 * visibility.h -- decides which cells of a row a reader sees, and which a flush or compaction
 * keeps; nothing else decides that. It judges the cells of a row of one family in cell order
 * (base/cell.h).
 *
 * THE RULES, along one column, newest to oldest. A cell is a point (timestamp, sequence); points
 * compare by timestamp, then by sequence, and cell order goes down:
 *
 *     (40,9) put   (30,8) DELETE_COLUMN  (30,5) put  (20,7) DELETE (20,6) put (20,3) put (10,1) put
 *     visible      hides all below it    hidden      hides (20,6)                         hidden
 *                                                    and (20,3)
 *
 *   1. Cells above the read point do not exist; nor does a cell, put or marker, whose own TTL is
 *      over.
 *   2. With MIN_VERSIONS = 0 nothing exists that is older than the family's TTL.
 *   3. A DELETE_COLUMN (12) or DELETE_FAMILY (14) at (T, S) hides puts at points below it.
 *      A DELETE (8) or DELETE_FAMILY_VERSION (10) at (T, S) hides puts at exactly T with a
 *      sequence below S.  A marker works wherever it stands; but under KEEP_DELETED_CELLS only
 *      inside the time range of the read.
 *   4. Of the puts that are left at one timestamp the one with the greatest sequence is the
 *      version.
 *   5. Time range: a version outside of it is not in the answer and does not count.
 *   6. Of what is left the newest `versions` are the answer; of these one that is older than the
 *      family's TTL only if it is among the newest MIN_VERSIONS.
 *
 * NEW_VERSION_BEHAVIOR replaces 3, 4 and the counting of 6 by the order of writes. Every put has a
 * life, from its sequence to the first later sequence of a marker that matches it (8, 10: at its
 * timestamp; 12, 14: at or above it) or of another put at its timestamp:
 *
 *     sequence   1        2        3        4              5
 *                put@10   put@20   put@30   DELETE@30      now          VERSIONS = 1
 *     put@30                       |========x                           hidden by the marker
 *     put@20              |========|--------|--------------             surplus at 4: hidden
 *     put@10     |========|------------------------------              the same
 *
 * A put is visible when its life has not ended, and at no matching moment of it (each marker at or
 * above its timestamp that was written in its life, and now) were there `versions` living, not
 * surplus puts with greater timestamps.
 *
 * RAW reads show every stored cell of the time range, markers included, but for rule 1; versions
 * count puts, and a marker shows unless more puts of its column than asked for came before it.
 * Their cells come in HBase's order, family markers beside the empty qualifier
 * (engine/read/raw_order.h).
 *
 * A REWRITE OF A PART (a flush, a compaction of some files, or of all files while a snapshot needs
 * markers) keeps what a reader at the `read_point` (the oldest open one) or above can need. Cells
 * above it are kept and hide nothing. Of the others it drops puts that rules 1 to 4 and 6 hide for
 * good, and markers that rules 1 and 2 hide. Every other marker stays: the cells it hides may be in
 * an older file, or be written later, and would reappear when the versions above it are deleted or
 * expire. (HBase's skips markers after hidden and surplus puts.) The rules hold for a part of a
 * column's cells: cells outside cannot make a masked or superseded put visible, since what hides it
 * stays, and puts outside only add versions that make one surplus. (That deletions outside take
 * versions away is so in HBase, too: see petal.h.) A version with its own TTL counts only until it
 * expires: what rules 4 and 6 hide because of it stays until MIN_VERSIONS versions without such a
 * TTL precede it. (HBase's rewrites drop it, so fewer than MIN_VERSIONS may be left.) With
 * KEEP_DELETED_CELLS markers hide nothing here. Under NEW_VERSION_BEHAVIOR everything stays. A
 * COMPACTION of all files does the same and drops the markers, too, whose work is then done (as
 * long as its input holds nothing above the read point, and no snapshot sees what is outside of it;
 * otherwise it is one of a part); under KEEP_DELETED_CELLS those that are older than every put of
 * the input, surplus or expired. Files that are past TTL as a whole, but for the newest, do not
 * count among the input there. Under NEW_VERSION_BEHAVIOR it keeps what a read shows. With
 * KEEP_DELETED_CELLS a put that a marker has ended stays, too, if fewer than VERSIONS timestamps of
 * its column are greater, deleted ones counted: so many puts are never surplus, so nothing that
 * goes can bring them back. What lives after them is hidden by no marker, so the column's markers
 * go from there on. Until there all stay, duplicates too: a put that ended with the first of two
 * may not have counted any more when the second was written. For MIN_VERSIONS stays what is surplus
 * now because of versions with their own TTL; what was surplus at a marker, or was replaced at its
 * timestamp, goes.
 *
 * Every marker that can hide a put sorts before it: family markers before all columns, and in a
 * column the marker at the greater point first. So one pass with little memory decides. Source:
 * HBase's ScanQueryMatcher family, ScanDeleteTracker, ScanWildcardColumnTracker and
 * NewVersionBehaviorTracker, with sequence instead of type at equal timestamps (petal.h, caveats).
 */
#ifndef PETAL_ENGINE_RULES_VISIBILITY_H
#define PETAL_ENGINE_RULES_VISIBILITY_H

#include "engine/rules/history.h"

enum visibility_purpose {
    VISIBILITY_READ,
    VISIBILITY_RAW,
    /* A flush, or a compaction beside which there is more, or a snapshot that needs markers. */
    VISIBILITY_PART,
    VISIBILITY_COMPACT /* a compaction of all files */
};

struct visibility_rules {
    enum visibility_purpose purpose;
    uint64_t read_point;
    int64_t now_ms;
    int64_t time_min, time_limit; /* of reads */
    int64_t oldest_unexpired; /* timestamps below are past the family's TTL; INT64_MIN: no TTL */
    uint32_t versions;        /* the newest so many are the answer, or are kept */
    uint32_t kept_versions;   /* VERSIONS of the family, for the lives of NEW_VERSION_BEHAVIOR */
    uint32_t min_versions;
    enum petal_keep_deleted keep_deleted;
    bool new_version_behavior;
    int64_t earliest_put; /* COMPACT: the least timestamp of a put in the input */
};

/* The rules of a family at a time, for all purposes; versions = VERSIONS, no time range. */
void visibility_rules_of(struct visibility_rules *rules, const petal_family_options *family,
                         enum visibility_purpose purpose, uint64_t read_point, int64_t now_ms);

/* Can the marker hide anything in a read: rules 1, 2 and 3 above except for its place? For gets,
 * before they show it to visibility_judge, and for that itself, so that the two agree. Flushes and
 * compactions have another rule, heeds_marker in visibility.c. */
static inline bool
visibility_rules_heed_marker(const struct visibility_rules *rules, const struct cell *marker)
{
    if (cell_is_dead(marker, rules->now_ms) || marker->timestamp < rules->time_min ||
        (rules->min_versions == 0 && marker->timestamp < rules->oldest_unexpired))
        return false;
    return rules->keep_deleted <= PETAL_KEEP_DELETED_FALSE || marker->timestamp < rules->time_limit;
}

enum visibility_verdict {
    VISIBILITY_SHOW, /* part of the answer; to be kept */
    VISIBILITY_HIDE, /* not part of it */
    /* Not part of it, and nothing of this column that follows is. Not said by rewrites. */
    VISIBILITY_COLUMN_DONE
};

/* Why a cell is hidden or dropped. */
enum visibility_reason {
    VISIBILITY_MASKED,     /* by a marker */
    VISIBILITY_SUPERSEDED, /* by another put with its timestamp */
    VISIBILITY_SURPLUS,    /* more versions than wanted */
    VISIBILITY_EXPIRED,    /* past a TTL */
    VISIBILITY_OUTSIDE,    /* of the time range or above the read point */
    VISIBILITY_MARKER,     /* a marker whose work is done; in reads every marker */
    VISIBILITY_REASONS
};
const char *visibility_reason_text(enum visibility_reason reason);

struct visibility {
    const petal_allocator *allocator;
    struct visibility_rules rules;
    enum visibility_reason reason; /* of the latest verdict that was not SHOW */
    /* The row. */
    bool plain; /* READ without NEW_VERSION_BEHAVIOR: most puts are judged by a shorter way */
    bool has_family_delete;
    struct version_point family_delete;    /* the greatest of kind 14 */
    struct version_point *family_versions; /* of kind 10, in cell order */
    size_t family_version_count, family_version_capacity;
    /* The column. */
    bool in_column;
    uint8_t *qualifier; /* a copy: the source's bytes go when it steps on */
    size_t qualifier_bytes, qualifier_capacity;
    bool has_column_delete, has_version_delete;
    struct version_point column_delete,
        version_delete; /* the greatest of kind 12; the latest of kind 8 */
    bool has_put;       /* a version was counted; in raw reads also a put */
    int64_t put_timestamp;
    uint32_t counted;
    /* Rewrites under MIN_VERSIONS: versions without their own TTL that stay, and whether the latest
     * version that stays is one. */
    uint32_t lasting;
    bool is_lasting;
    uint32_t distinct; /* with NEW_VERSION_BEHAVIOR: timestamps of puts that were seen */
    struct version_history history; /* with NEW_VERSION_BEHAVIOR */
    /* Duplicates: the types of the markers that were kept or shown at the latest timestamp of the
     * column, or of the family markers. */
    uint32_t marker_types; /* bit (1 << type) */
    int64_t marker_timestamp;
};

void visibility_init(struct visibility *visibility, const petal_allocator *allocator,
                     const struct visibility_rules *rules);
void visibility_fini(struct visibility *visibility);

/* Begin with another row. */
void visibility_start_row(struct visibility *visibility);

/* The qualifier of the last judged cell, a copy, good until the next one. After SHOW and
 * COLUMN_DONE of reads. */
static inline petal_slice
visibility_column(const struct visibility *visibility)
{
    return slice_make(visibility->qualifier, visibility->qualifier_bytes);
}

/* No cell of the row so far can hide a put of another column. */
static inline bool
visibility_row_is_free(const struct visibility *visibility)
{
    return visibility->plain && !visibility->has_family_delete &&
           visibility->family_version_count == 0;
}

/* The kind of the marker that hides a put just judged MASKED.  Not with NEW_VERSION_BEHAVIOR,
 * which keeps no such marker at hand. */
enum petal_cell_type visibility_masked_by(const struct visibility *visibility,
                                          const struct cell *cell);

/*
 * Judge the row's next cell. PETAL_NO_MEMORY when a long qualifier or many markers cannot be
 * remembered. For PART and COMPACT the caller shows every cell of the row; reads may go on with the
 * next column after COLUMN_DONE.
 */
enum petal_status visibility_judge(struct visibility *visibility, const struct cell *cell,
                                   enum visibility_verdict *verdict);

#endif
