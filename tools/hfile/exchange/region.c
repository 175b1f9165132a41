/* region.c -- see region.h. */
#include "tools/hfile/exchange/region.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/protobuf.h"

#include <stdlib.h>

/* Of RegionInfo. */
enum { REGION_ID = 1, REGION_START = 3, REGION_END = 4, REGION_SPLIT = 6, REGION_REPLICA = 7 };

#define SHOWN_NAME_BYTES 80

/* ---- What is known of a region --------------------------------------------------------------- */

static enum petal_status
not_a_region(const char *file, petal_error *error)
{
    return hfile_error_corrupt(error, file, 0, "this is not a description of a region");
}

static bool
keep(struct arena *arena, petal_slice *kept, petal_slice bytes)
{
    const char *copy = arena_copy(arena, bytes);

    *kept = hfile_slice(copy, bytes.size);
    return copy != NULL;
}

enum petal_status
region_parse(struct region *region, struct arena *arena, petal_slice message, const char *file,
             petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message);
    struct hfile_field field;
    uint64_t id = UINT64_MAX;
    bool is_kept = true;

    while (hfile_field_take(&left, &field)) {
        if (field.is_bytes && field.number == REGION_START)
            is_kept &= keep(arena, &region->start, field.bytes);
        else if (field.is_bytes && field.number == REGION_END)
            is_kept &= keep(arena, &region->end, field.bytes);
        else if (!field.is_bytes && field.number == REGION_ID)
            id = field.value;
        else if (!field.is_bytes && field.number == REGION_SPLIT)
            region->is_split = field.value != 0;
        else if (!field.is_bytes && field.number == REGION_REPLICA)
            region->is_replica = field.value != 0;
    }
    if (!is_kept)
        return hfile_error_no_memory(error);
    if (hfile_bytes_left(&left) > 0 ||
        (region->end.size > 0 && hfile_slice_compare(region->start, region->end) >= 0))
        return not_a_region(file, error);
    /* HBase's MobUtils.getMobRegionInfo. */
    region->is_mob = id == 0 && hfile_slice_equal(region->start, hfile_text_slice(".mob"));
    return PETAL_OK;
}

enum petal_status
region_parse_file(struct region *region, struct arena *arena, petal_slice bytes, const char *file,
                  petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(bytes);
    petal_slice message;
    uint64_t size;

    if (!hfile_take_protobuf_magic(&left) || !hfile_take_varint(&left, &size) ||
        !hfile_take_slice(&left, size, &message) || message.size == 0)
        return not_a_region(file, error);
    return region_parse(region, arena, message, file, error);
}

/* ---- Rows and regions ------------------------------------------------------------------------ */

static int
compare_starts(const void *a, const void *b)
{
    const struct region *const *first = a, *const *second = b;

    return hfile_slice_compare((*first)->start, (*second)->start);
}

/* No region's end is after `row`, the end of another: an empty one is after all rows. */
static bool
ends_before_or_at(const struct region *region, petal_slice row)
{
    return region->end.size > 0 && hfile_slice_compare(region->end, row) <= 0;
}

/* The end of a region's name that errors have room for two of; folders are left out as wholes. */
static const char *
end_of_name(const char *name)
{
    size_t size = strlen(name);
    const char *end = size > SHOWN_NAME_BYTES ? name + size - SHOWN_NAME_BYTES : name;
    const char *folder = end == name ? NULL : strchr(end, '/');

    return folder == NULL ? end : folder + 1;
}

static enum petal_status
check_apart(const struct region *const *sorted, size_t count, petal_error *error)
{
    for (size_t i = 1; i < count; i++)
        if (!ends_before_or_at(sorted[i - 1], sorted[i]->start))
            return hfile_error_set(error, PETAL_INVALID, "",
                                   "regions overlap: '%s' and '%s'. If HBase has split or merged "
                                   "regions and not yet taken away the old ones, "
                                   "catalogjanitor_run does so, and a snapshot tells them apart; "
                                   "single files are taken as they are",
                                   end_of_name(sorted[i - 1]->name), end_of_name(sorted[i]->name));
    return PETAL_OK;
}

/* Do regions that lie apart and are sorted have all rows of `split`? */
static bool
is_covered(const struct region *split, const struct region *const *sorted, size_t count)
{
    size_t low = 0, high = count;

    /* The last one that begins at or before it. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (hfile_slice_compare(sorted[middle]->start, split->start) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || ends_before_or_at(sorted[low - 1], split->start))
        return false;
    for (size_t i = low - 1;; i++) {
        if (sorted[i]->end.size == 0)
            return true;
        if (split->end.size > 0 && hfile_slice_compare(sorted[i]->end, split->end) >= 0)
            return true;
        if (i + 1 == count || !hfile_slice_equal(sorted[i]->end, sorted[i + 1]->start))
            return false;
    }
}

enum petal_status
regions_check(const struct region *regions, size_t count, struct arena *arena, petal_error *error)
{
    const struct region **sorted = arena_allocate(arena, count * sizeof *sorted);
    size_t kept = 0;
    enum petal_status status;

    if (sorted == NULL)
        return hfile_error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!regions[i].is_split && !regions[i].is_replica && !regions[i].is_mob)
            sorted[kept++] = &regions[i];
    if (kept > 1)
        qsort(sorted, kept, sizeof *sorted, compare_starts);
    status = check_apart(sorted, kept, error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        if (regions[i].is_split && !is_covered(&regions[i], sorted, kept))
            return hfile_error_set(error, PETAL_NOT_FOUND, "",
                                   "'%s' was split or merged, and not all regions are here that "
                                   "came of it",
                                   regions[i].name);
    return status;
}
