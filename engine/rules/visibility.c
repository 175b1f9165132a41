/* visibility.c -- see visibility.h. */
#include "engine/rules/visibility.h"

#include <assert.h>

/* For what every put of every read goes through. */
#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

void
visibility_rules_of(struct visibility_rules *rules, const petal_family_options *family,
                    enum visibility_purpose purpose, uint64_t read_point, int64_t now_ms)
{
    assert(purpose <= VISIBILITY_COMPACT);
    *rules = (struct visibility_rules){
        .purpose = purpose,
        .read_point = read_point,
        .now_ms = now_ms,
        .time_min = purpose <= VISIBILITY_RAW ? 0 : INT64_MIN,
        .time_limit = INT64_MAX,
        .oldest_unexpired = INT64_MIN,
        .versions = family->versions,
        .kept_versions = family->versions,
        .min_versions = family->min_versions,
        .keep_deleted = family->keep_deleted_cells,
        .new_version_behavior = family->new_version_behavior,
        .earliest_put = INT64_MIN,
    };
    /* Stamps are not negative, so a clock before the first TTL of its time changes nothing. */
    if (family->ttl_seconds != 0 && family->ttl_seconds < PETAL_FOREVER && now_ms > 0 &&
        purpose != VISIBILITY_RAW)
        rules->oldest_unexpired = now_ms - (int64_t)family->ttl_seconds * 1000;
}

const char *
visibility_reason_text(enum visibility_reason reason)
{
    static const char *const texts[VISIBILITY_REASONS] = {
        [VISIBILITY_MASKED] = "masked",        [VISIBILITY_SUPERSEDED] = "superseded",
        [VISIBILITY_SURPLUS] = "surplus",      [VISIBILITY_EXPIRED] = "expired",
        [VISIBILITY_OUTSIDE] = "out of range", [VISIBILITY_MARKER] = "marker",
    };

    return (unsigned)reason < VISIBILITY_REASONS ? texts[reason] : "unknown";
}

void
visibility_init(struct visibility *visibility, const petal_allocator *allocator,
                const struct visibility_rules *rules)
{
    *visibility = (struct visibility){.allocator = allocator, .rules = *rules};
}

void
visibility_fini(struct visibility *visibility)
{
    mem_free(visibility->allocator, visibility->family_versions,
             visibility->family_version_capacity * sizeof *visibility->family_versions);
    mem_free(visibility->allocator, visibility->qualifier, visibility->qualifier_capacity);
    version_history_fini(&visibility->history, visibility->allocator);
    visibility->qualifier = NULL;
    visibility->qualifier_capacity = 0;
    visibility->family_versions = NULL;
    visibility->family_version_capacity = 0;
}

void
visibility_start_row(struct visibility *visibility)
{
    visibility->plain =
        visibility->rules.purpose == VISIBILITY_READ && !visibility->rules.new_version_behavior;
    visibility->has_family_delete = false;
    visibility->family_version_count = 0;
    visibility->in_column = false;
    visibility->marker_types = 0;
    visibility->counted = 0;
    if (visibility->rules.new_version_behavior)
        version_history_start_row(&visibility->history);
}

/* ---- purposes ---- */

static bool
is_read(const struct visibility *visibility)
{
    return visibility->rules.purpose <= VISIBILITY_RAW;
}

/* A compaction of all files that leaves deleted versions and their markers where they are, as far
 * as they are wanted. */
static bool
keeps_deleted(const struct visibility_rules *rules)
{
    return rules->purpose == VISIBILITY_COMPACT && rules->keep_deleted > PETAL_KEEP_DELETED_FALSE;
}

static enum visibility_verdict
hide(struct visibility *visibility, enum visibility_reason reason)
{
    visibility->reason = reason;
    return VISIBILITY_HIDE;
}

/* Hide, and with it what follows of the column: a rewrite is shown that all the same, since markers
 * among it may have to stay. */
static enum visibility_verdict
finish_column(struct visibility *visibility, enum visibility_reason reason)
{
    visibility->reason = reason;
    return is_read(visibility) ? VISIBILITY_COLUMN_DONE : VISIBILITY_HIDE;
}

static bool
is_expired(const struct visibility *visibility, int64_t timestamp)
{
    return timestamp < visibility->rules.oldest_unexpired;
}

/* ---- markers ---- */

/* Whether a marker takes part in hiding: in a read by the rule in visibility.h, which looks at the
 * time range; in a flush or a compaction, which comes here with no marker that is dead or expired
 * but under MIN_VERSIONS, by KEEP_DELETED_CELLS alone, or, where the order of writes rules, always:
 * it asks which versions a read shows. */
static bool
heeds_marker(const struct visibility *visibility, const struct cell *marker)
{
    const struct visibility_rules *rules = &visibility->rules;

    if (rules->purpose == VISIBILITY_READ)
        return visibility_rules_heed_marker(rules, marker);
    return rules->new_version_behavior || rules->keep_deleted <= PETAL_KEEP_DELETED_FALSE ||
           (rules->keep_deleted == PETAL_KEEP_DELETED_TTL &&
            is_expired(visibility, marker->timestamp));
}

static enum petal_status
note_family_marker(struct visibility *visibility, const struct cell *cell)
{
    struct version_point point = {cell->timestamp, cell->sequence};
    void *array = visibility->family_versions;
    bool grown;

    if (visibility->rules.new_version_behavior)
        return version_history_add_marker(&visibility->history, visibility->allocator, cell);
    if (cell->type == PETAL_DELETE_FAMILY) {
        /* The first is the greatest. */
        if (!visibility->has_family_delete)
            visibility->family_delete = point;
        visibility->has_family_delete = true;
        return PETAL_OK;
    }
    grown = mem_grow(visibility->allocator, &array, &visibility->family_version_capacity,
                     visibility->family_version_count, visibility->family_version_count + 1,
                     sizeof *visibility->family_versions);
    visibility->family_versions = array;
    if (!grown)
        return PETAL_NO_MEMORY;
    visibility->family_versions[visibility->family_version_count++] = point;
    return PETAL_OK;
}

static enum petal_status
note_column_marker(struct visibility *visibility, const struct cell *cell)
{
    struct version_point point = {cell->timestamp, cell->sequence};

    if (visibility->rules.new_version_behavior)
        return version_history_add_marker(&visibility->history, visibility->allocator, cell);
    if (cell->type == PETAL_DELETE_COLUMN) {
        if (!visibility->has_column_delete)
            visibility->column_delete = point;
        visibility->has_column_delete = true;
    } else {
        /* Cells come newest first, so only puts at the timestamp of the latest one can still
         * follow. */
        visibility->has_version_delete = true;
        visibility->version_delete = point;
    }
    return PETAL_OK;
}

/* A marker of this type and timestamp was kept or shown before. */
static bool
is_double_marker(const struct visibility *visibility, const struct cell *marker)
{
    return visibility->marker_timestamp == marker->timestamp &&
           (visibility->marker_types & 1u << marker->type) != 0;
}

static void
note_shown_marker(struct visibility *visibility, const struct cell *marker)
{
    if (visibility->marker_timestamp != marker->timestamp)
        visibility->marker_types = 0;
    visibility->marker_timestamp = marker->timestamp;
    visibility->marker_types |= 1u << marker->type;
}

static bool
keeps_min_versions(const struct visibility *visibility)
{
    return !is_read(visibility) && visibility->rules.min_versions > 0;
}

/* A rewrite has kept so many versions of the column that have no TTL of their own that MIN_VERSIONS
 * asks for no more. */
static bool
has_lasting_versions(const struct visibility *visibility)
{
    return visibility->lasting >= visibility->rules.min_versions;
}

/* Whether so many puts of the column were seen, however they fared, that no deleted version after
 * them is kept. */
static bool
is_past_kept(const struct visibility *visibility, int64_t timestamp)
{
    const struct visibility_rules *rules = &visibility->rules;

    return visibility->distinct >= rules->versions ||
           (is_expired(visibility, timestamp) && visibility->distinct >= rules->min_versions);
}

/* What becomes of a marker itself, after it was noted. */
static enum visibility_verdict
judge_marker(struct visibility *visibility, const struct cell *cell)
{
    const struct visibility_rules *rules = &visibility->rules;

    assert(cell->type != PETAL_PUT && rules->purpose != VISIBILITY_RAW);
    if (rules->purpose == VISIBILITY_PART)
        return VISIBILITY_SHOW;
    if (!keeps_deleted(rules) ||
        (rules->keep_deleted == PETAL_KEEP_DELETED_TTL && is_expired(visibility, cell->timestamp)))
        return hide(visibility, VISIBILITY_MARKER);
    if (cell->timestamp < rules->earliest_put)
        return hide(visibility, VISIBILITY_MARKER);
    if (rules->new_version_behavior)
        return !cell_is_family_marker(cell->type) && is_past_kept(visibility, cell->timestamp)
                   ? hide(visibility, VISIBILITY_MARKER)
                   : VISIBILITY_SHOW;
    if (is_double_marker(visibility, cell))
        return hide(visibility, VISIBILITY_SUPERSEDED);
    if (!cell_is_family_marker(cell->type) && has_lasting_versions(visibility)) {
        if (visibility->counted > rules->versions)
            return hide(visibility, VISIBILITY_MARKER);
        if (is_expired(visibility, cell->timestamp) && visibility->counted > rules->min_versions)
            return hide(visibility, VISIBILITY_MARKER);
    }
    note_shown_marker(visibility, cell);
    return VISIBILITY_SHOW;
}

/* ---- columns ---- */

static enum petal_status
begin_column(struct visibility *visibility, petal_slice qualifier)
{
    void *copy = visibility->qualifier;
    bool grown;

    visibility->in_column = false;
    grown = mem_grow(visibility->allocator, &copy, &visibility->qualifier_capacity, 0,
                     qualifier.size, 1);
    visibility->qualifier = copy;
    if (!grown)
        return PETAL_NO_MEMORY;
    if (qualifier.size > 0)
        memcpy(visibility->qualifier, qualifier.data, qualifier.size);
    visibility->qualifier_bytes = qualifier.size;
    visibility->in_column = true;
    visibility->has_column_delete = false;
    visibility->has_version_delete = false;
    visibility->has_put = false;
    visibility->marker_types = 0;
    visibility->counted = 0;
    visibility->distinct = 0;
    visibility->lasting = 0;
    visibility->is_lasting = false;
    if (visibility->rules.new_version_behavior)
        return version_history_start_column(&visibility->history, visibility->allocator);
    return PETAL_OK;
}

static inline enum petal_status
enter_column(struct visibility *visibility, petal_slice qualifier)
{
    if (visibility->in_column && visibility->qualifier_bytes == qualifier.size &&
        (qualifier.size == 0 || memcmp(visibility->qualifier, qualifier.data, qualifier.size) == 0))
        return PETAL_OK;
    return begin_column(visibility, qualifier);
}

/* A kind 10 marker at exactly this timestamp with a greater sequence; they are sorted, greatest
 * first. */
static bool
family_version_hides(const struct visibility *visibility, struct version_point put)
{
    size_t low = 0, high = visibility->family_version_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (visibility->family_versions[middle].timestamp > put.timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < visibility->family_version_count &&
           visibility->family_versions[low].timestamp == put.timestamp &&
           visibility->family_versions[low].sequence > put.sequence;
}

/* A put that no marker hides: time range, versions, TTL. */
static ALWAYS_INLINE enum visibility_verdict
count_put(struct visibility *visibility, int64_t timestamp)
{
    const struct visibility_rules *rules = &visibility->rules;

    visibility->has_put = true;
    visibility->put_timestamp = timestamp;
    if (timestamp >= rules->time_limit && is_read(visibility))
        return hide(visibility, VISIBILITY_OUTSIDE);
    if (timestamp < rules->time_min)
        return finish_column(visibility, VISIBILITY_OUTSIDE);
    if (visibility->counted >= rules->versions) {
        visibility->counted = rules->versions + (rules->versions < UINT32_MAX);
        return finish_column(visibility, VISIBILITY_SURPLUS);
    }
    visibility->counted++;
    if (is_expired(visibility, timestamp) && visibility->counted > rules->min_versions)
        return finish_column(visibility, VISIBILITY_EXPIRED);
    return VISIBILITY_SHOW;
}

static ALWAYS_INLINE enum visibility_verdict
judge_put(struct visibility *visibility, struct version_point put)
{
    if (visibility->has_family_delete && version_point_below(put, visibility->family_delete))
        return finish_column(visibility, VISIBILITY_MASKED);
    if (visibility->has_column_delete && version_point_below(put, visibility->column_delete))
        return finish_column(visibility, VISIBILITY_MASKED);
    if (visibility->has_version_delete && visibility->version_delete.timestamp == put.timestamp)
        return hide(visibility, VISIBILITY_MASKED);
    if (visibility->has_put && visibility->put_timestamp == put.timestamp)
        return hide(visibility, VISIBILITY_SUPERSEDED);
    if (visibility->family_version_count > 0 && family_version_hides(visibility, put))
        return hide(visibility, VISIBILITY_MASKED);
    return count_put(visibility, put.timestamp);
}

/*
 * What a rewrite makes of a put, after the verdict of a read. One with its own TTL counts as a
 * version only as long as it lives: what it made surplus, expired or superseded stays until
 * MIN_VERSIONS lasting versions came before.
 */
static enum visibility_verdict
keep_min_versions(struct visibility *visibility, const struct cell *cell,
                  enum visibility_verdict verdict)
{
    struct version_point put = {cell->timestamp, cell->sequence};
    bool superseded = verdict == VISIBILITY_HIDE && visibility->reason == VISIBILITY_SUPERSEDED;

    assert(keeps_min_versions(visibility) && cell->type == PETAL_PUT);
    if (verdict == VISIBILITY_HIDE &&
        (visibility->reason == VISIBILITY_MASKED || has_lasting_versions(visibility)))
        return VISIBILITY_HIDE;
    if (superseded && (visibility->is_lasting || family_version_hides(visibility, put)))
        return VISIBILITY_HIDE;
    visibility->is_lasting = !cell->has_ttl;
    visibility->lasting += visibility->is_lasting;
    return VISIBILITY_SHOW;
}

enum petal_cell_type
visibility_masked_by(const struct visibility *visibility, const struct cell *cell)
{
    struct version_point put = {cell->timestamp, cell->sequence};

    assert(cell->type == PETAL_PUT && !visibility->rules.new_version_behavior);
    if (visibility->has_family_delete && version_point_below(put, visibility->family_delete))
        return PETAL_DELETE_FAMILY;
    if (visibility->has_column_delete && version_point_below(put, visibility->column_delete))
        return PETAL_DELETE_COLUMN;
    if (visibility->has_version_delete && visibility->version_delete.timestamp == put.timestamp)
        return PETAL_DELETE;
    return PETAL_DELETE_FAMILY_VERSION;
}

/*
 * A put whose life has ended, in a compaction that keeps deleted versions: they count when it is
 * asked which of them stay, and of one timestamp only the latest write can. `before` puts with
 * greater timestamps were seen. All that hides it must stay, too.
 */
static bool
keeps_deleted_put(const struct visibility *visibility, struct version_point put, uint32_t before)
{
    const struct visibility_rules *rules = &visibility->rules;

    assert(rules->purpose == VISIBILITY_COMPACT && rules->new_version_behavior);
    assert(before <= visibility->distinct);
    if (visibility->distinct == before || before >= rules->versions ||
        (is_expired(visibility, put.timestamp) && before >= rules->min_versions))
        return false;
    return rules->keep_deleted == PETAL_KEEP_DELETED_TRUE ||
           !is_expired(visibility, version_history_least_end(&visibility->history, put));
}

/* A put in the order of writes: older timestamps may have been written later, so a hidden one
 * says nothing of those that follow. */
static enum petal_status
judge_put_life(struct visibility *visibility, const struct cell *cell,
               enum visibility_verdict *verdict)
{
    struct version_point put = {cell->timestamp, cell->sequence};
    enum version_fate fate;
    enum petal_status status = version_history_judge(&visibility->history, visibility->allocator,
                                                     put, visibility->rules.kept_versions, &fate);
    uint32_t before = visibility->distinct;

    assert(visibility->rules.new_version_behavior && visibility->in_column);
    visibility->distinct += !visibility->has_put || visibility->put_timestamp != put.timestamp;
    visibility->has_put = true;
    visibility->put_timestamp = put.timestamp;
    if (fate == VERSION_LIVES)
        *verdict = count_put(visibility, put.timestamp);
    else if (fate == VERSION_SURPLUS || fate == VERSION_SURPLUS_NOW)
        *verdict = hide(visibility, VISIBILITY_SURPLUS);
    else if (keeps_deleted(&visibility->rules) && keeps_deleted_put(visibility, put, before))
        *verdict = VISIBILITY_SHOW;
    else
        *verdict = hide(visibility, VISIBILITY_MASKED);
    if (keeps_min_versions(visibility) && (fate == VERSION_LIVES || fate == VERSION_SURPLUS_NOW))
        *verdict = keep_min_versions(visibility, cell, *verdict);
    return status;
}

static enum visibility_verdict
judge_raw(struct visibility *visibility, const struct cell *cell)
{
    assert(visibility->rules.purpose == VISIBILITY_RAW);
    if (cell->timestamp >= visibility->rules.time_limit)
        return hide(visibility, VISIBILITY_OUTSIDE);
    if (cell->timestamp < visibility->rules.time_min)
        return finish_column(visibility, VISIBILITY_OUTSIDE);
    if (cell->type == PETAL_PUT) {
        if (visibility->has_put && visibility->put_timestamp == cell->timestamp)
            return hide(visibility, VISIBILITY_SUPERSEDED);
        return count_put(visibility, cell->timestamp);
    }
    if (is_double_marker(visibility, cell))
        return hide(visibility, VISIBILITY_SUPERSEDED);
    if (visibility->counted > visibility->rules.versions)
        return finish_column(visibility, VISIBILITY_SURPLUS);
    note_shown_marker(visibility, cell);
    return VISIBILITY_SHOW;
}

/* ---- a cell ---- */

static enum petal_status
judge_family_marker(struct visibility *visibility, const struct cell *cell,
                    enum visibility_verdict *verdict)
{
    enum petal_status status = PETAL_OK;

    if (heeds_marker(visibility, cell))
        status = note_family_marker(visibility, cell);
    *verdict = judge_marker(visibility, cell);
    return status;
}

static enum petal_status
judge_in_column(struct visibility *visibility, const struct cell *cell,
                enum visibility_verdict *verdict)
{
    enum petal_status status = enter_column(visibility, cell->qualifier);

    if (status != PETAL_OK)
        return status;
    if (visibility->rules.purpose == VISIBILITY_RAW) {
        *verdict = judge_raw(visibility, cell);
    } else if (cell->type != PETAL_PUT) {
        if (heeds_marker(visibility, cell))
            status = note_column_marker(visibility, cell);
        *verdict = judge_marker(visibility, cell);
    } else if (visibility->rules.new_version_behavior) {
        status = judge_put_life(visibility, cell, verdict);
    } else {
        *verdict = judge_put(visibility, (struct version_point){cell->timestamp, cell->sequence});
        if (keeps_min_versions(visibility))
            *verdict = keep_min_versions(visibility, cell, *verdict);
    }
    return status;
}

/* A cell past the family's TTL, without MIN_VERSIONS. */
static enum petal_status
judge_expired(struct visibility *visibility, const struct cell *cell,
              enum visibility_verdict *verdict)
{
    visibility->reason = VISIBILITY_EXPIRED;
    if (!is_read(visibility) || cell_is_family_marker(cell->type))
        return PETAL_OK;
    *verdict = VISIBILITY_COLUMN_DONE;
    return enter_column(visibility, cell->qualifier);
}

/* Every case but that of visibility_judge. */
static enum petal_status
judge_any(struct visibility *visibility, const struct cell *cell, enum visibility_verdict *verdict)
{
    const struct visibility_rules *rules = &visibility->rules;

    *verdict = VISIBILITY_HIDE;
    if (cell->sequence > rules->read_point) {
        if (!is_read(visibility))
            *verdict = VISIBILITY_SHOW;
        visibility->reason = VISIBILITY_OUTSIDE;
        return PETAL_OK;
    }
    if (rules->purpose == VISIBILITY_PART && rules->new_version_behavior) {
        *verdict = VISIBILITY_SHOW;
        return PETAL_OK;
    }
    if (cell_is_dead(cell, rules->now_ms)) {
        visibility->reason = VISIBILITY_EXPIRED;
        return PETAL_OK;
    }
    if (rules->min_versions == 0 && is_expired(visibility, cell->timestamp))
        return judge_expired(visibility, cell, verdict);
    if (cell_is_family_marker(cell->type) && rules->purpose != VISIBILITY_RAW)
        return judge_family_marker(visibility, cell, verdict);
    return judge_in_column(visibility, cell, verdict);
}

enum petal_status
visibility_judge(struct visibility *visibility, const struct cell *cell,
                 enum visibility_verdict *verdict)
{
    const struct visibility_rules *rules = &visibility->rules;
    enum petal_status status;

    /* A put that nothing special is known of: what nearly all cells of nearly all reads are. */
    if (cell->type != PETAL_PUT || !visibility->plain || cell->has_ttl ||
        cell->sequence > rules->read_point || cell->timestamp < rules->oldest_unexpired)
        return judge_any(visibility, cell, verdict);
    *verdict = VISIBILITY_HIDE;
    status = enter_column(visibility, cell->qualifier);
    if (status == PETAL_OK)
        *verdict = judge_put(visibility, (struct version_point){cell->timestamp, cell->sequence});
    return status;
}
