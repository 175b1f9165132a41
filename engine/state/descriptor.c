/* descriptor.c -- see descriptor.h. */
#include "engine/state/descriptor.h"

#include "base/mem.h"
#include "base/slice.h"
#include "engine/attributes.h"

/* ---- families ---- */

struct family_descriptor *
family_descriptor_new(const petal_family_options *options, const petal_allocator *allocator)
{
    struct family_descriptor *made = mem_alloc(allocator, sizeof *made + options->name.size);

    if (made == NULL)
        return NULL;
    made->before = NULL;
    made->options = *options;
    made->plain = !options->new_version_behavior &&
                  (options->ttl_seconds == 0 || options->ttl_seconds >= PETAL_FOREVER);
    memcpy(made + 1, options->name.data, options->name.size);
    made->options.name.data = made + 1;
    if (attributes_copy(&made->options.attributes, options->attributes, options->attribute_count,
                        allocator))
        return made;
    mem_free(allocator, made, sizeof *made + options->name.size);
    return NULL;
}

void
family_descriptor_free(struct family_descriptor *descriptor, const petal_allocator *allocator)
{
    while (descriptor != NULL) {
        struct family_descriptor *before = descriptor->before;

        attributes_free(descriptor->options.attributes, descriptor->options.attribute_count,
                        allocator);
        mem_free(allocator, descriptor, sizeof *descriptor + descriptor->options.name.size);
        descriptor = before;
    }
}

/* ---- tables ---- */

/* The families' options follow the handles, in the same memory; both hold pointers and 8-byte
 * numbers. */
static size_t
table_bytes(size_t family_count)
{
    return sizeof(struct table_descriptor) +
           family_count * (sizeof(petal_family *) + sizeof(petal_family_options));
}

static petal_family_options *
families_of(struct table_descriptor *descriptor)
{
    return (petal_family_options *)(void *)(descriptor->families + descriptor->family_count);
}

struct table_descriptor *
table_descriptor_new(const petal_table_options *options, size_t family_count,
                     const petal_allocator *allocator)
{
    struct table_descriptor *made = mem_zalloc(allocator, table_bytes(family_count));

    if (made == NULL)
        return NULL;
    made->family_count = family_count;
    made->options = *options;
    made->options.size = sizeof made->options;
    made->options.families = families_of(made);
    made->options.family_count = family_count;
    made->options.splits = NULL;
    made->options.split_count = 0;
    made->max_region_bytes =
        attributes_number(options->attributes, options->attribute_count, "MAX_FILESIZE", 0);
    made->keeps_regions =
        !attributes_bool(options->attributes, options->attribute_count, "SPLIT_ENABLED", true);
    made->keeps_small_regions =
        made->keeps_regions ||
        !attributes_bool(options->attributes, options->attribute_count, "MERGE_ENABLED", true);
    if (attributes_copy(&made->options.attributes, options->attributes, options->attribute_count,
                        allocator))
        return made;
    mem_free(allocator, made, table_bytes(family_count));
    return NULL;
}

void
table_descriptor_set(struct table_descriptor *descriptor, size_t index, petal_family *family,
                     const petal_family_options *options)
{
    descriptor->families[index] = family;
    families_of(descriptor)[index] = *options;
}

void
table_descriptor_sort(struct table_descriptor *descriptor)
{
    petal_family_options *options = families_of(descriptor);

    /* By insertion: handles and options move together. Most tables come sorted already. */
    for (size_t i = 1; i < descriptor->family_count; i++) {
        petal_family *family = descriptor->families[i];
        petal_family_options moved = options[i];
        size_t at = i;

        for (; at > 0 && slice_compare(options[at - 1].name, moved.name) > 0; at--) {
            descriptor->families[at] = descriptor->families[at - 1];
            options[at] = options[at - 1];
        }
        descriptor->families[at] = family;
        options[at] = moved;
    }
}

void
table_descriptor_free(struct table_descriptor *descriptor, const petal_allocator *allocator)
{
    while (descriptor != NULL) {
        struct table_descriptor *before = descriptor->before;

        attributes_free(descriptor->options.attributes, descriptor->options.attribute_count,
                        allocator);
        mem_free(allocator, descriptor, table_bytes(descriptor->family_count));
        descriptor = before;
    }
}
