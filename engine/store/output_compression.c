/* output_compression.c -- see output_compression.h. */
#include "engine/store/output_compression.h"

#include "base/slice.h"

#include <assert.h>

static const struct {
    const char *value;
    struct output_compression means;
} known[] = {
    {"NONE", {PETAL_COMPRESSION_NONE, false}},
    {"LZ4", {PETAL_COMPRESSION_LZ4, false}},
    {"LZ4HC", {PETAL_COMPRESSION_LZ4, true}},
};

/* What the family's attribute says; false: there is none, or none that Petal has. */
static bool
find(const petal_family_options *family, const char *name, struct output_compression *found)
{
    for (size_t i = 0; i < family->attribute_count; i++) {
        const petal_attribute *attribute = &family->attributes[i];

        if (attribute->kind != PETAL_KEPT_ATTRIBUTE ||
            !slice_equal(attribute->name, slice_from_text(name)))
            continue;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
            if (slice_equal(attribute->value, slice_from_text(known[k].value))) {
                *found = known[k].means;
                return true;
            }
        }
    }
    return false;
}

struct output_compression
output_compression_of(const petal_family_options *family, enum file_origin origin)
{
    const char *own =
        origin == FILE_ORIGIN_ALL_FILES ? "COMPRESSION_COMPACT_MAJOR" : "COMPRESSION_COMPACT_MINOR";
    struct output_compression found = {family->compression, false};

    bool compaction = origin == FILE_ORIGIN_MINOR || origin == FILE_ORIGIN_ALL_FILES;

    if (compaction && !find(family, own, &found))
        (void)find(family, "COMPRESSION_COMPACT", &found);
    return found;
}
