/* case.c -- see tests/conformance/case.h. */
#include "tests/conformance/case.h"

#include <inttypes.h>

/* ---- families ---- */

enum attribute {
    ATTRIBUTE_VERSIONS,
    ATTRIBUTE_MIN_VERSIONS,
    ATTRIBUTE_TTL,
    ATTRIBUTE_BLOCKSIZE,
    ATTRIBUTE_PREFIX_LENGTH,
    ATTRIBUTE_KEEP_DELETED_CELLS, /* these have words */
    ATTRIBUTE_BLOOMFILTER,
    ATTRIBUTE_NEW_VERSION_BEHAVIOR,
    ATTRIBUTES
};

static const char *const attribute_names[ATTRIBUTES] = {
    [ATTRIBUTE_VERSIONS] = "VERSIONS",
    [ATTRIBUTE_MIN_VERSIONS] = "MIN_VERSIONS",
    [ATTRIBUTE_TTL] = "TTL",
    [ATTRIBUTE_BLOCKSIZE] = "BLOCKSIZE",
    [ATTRIBUTE_PREFIX_LENGTH] = "RowPrefixBloomFilter.prefix_length",
    [ATTRIBUTE_KEEP_DELETED_CELLS] = "KEEP_DELETED_CELLS",
    [ATTRIBUTE_BLOOMFILTER] = "BLOOMFILTER",
    [ATTRIBUTE_NEW_VERSION_BEHAVIOR] = "NEW_VERSION_BEHAVIOR"};

static const struct attribute_word {
    enum attribute attribute;
    const char *word;
    int value;
} attribute_words[] = {
    {ATTRIBUTE_KEEP_DELETED_CELLS, "FALSE", PETAL_KEEP_DELETED_FALSE},
    {ATTRIBUTE_KEEP_DELETED_CELLS, "TRUE", PETAL_KEEP_DELETED_TRUE},
    {ATTRIBUTE_KEEP_DELETED_CELLS, "TTL", PETAL_KEEP_DELETED_TTL},
    {ATTRIBUTE_BLOOMFILTER, "NONE", PETAL_BLOOM_NONE},
    {ATTRIBUTE_BLOOMFILTER, "ROW", PETAL_BLOOM_ROW},
    {ATTRIBUTE_BLOOMFILTER, "ROWCOL", PETAL_BLOOM_ROWCOL},
    {ATTRIBUTE_BLOOMFILTER, "ROWPREFIX_FIXED_LENGTH", PETAL_BLOOM_ROW_PREFIX},
    {ATTRIBUTE_NEW_VERSION_BEHAVIOR, "false", 0},
    {ATTRIBUTE_NEW_VERSION_BEHAVIOR, "true", 1},
};

static bool
set_number(struct reader *reader, petal_family_options *family, enum attribute attribute,
           petal_slice value)
{
    uint32_t *const fields[] = {
        [ATTRIBUTE_VERSIONS] = &family->versions,
        [ATTRIBUTE_MIN_VERSIONS] = &family->min_versions,
        [ATTRIBUTE_TTL] = &family->ttl_seconds,
        [ATTRIBUTE_BLOCKSIZE] = &family->block_bytes,
        [ATTRIBUTE_PREFIX_LENGTH] = &family->bloom_prefix_bytes,
    };
    int64_t least = attribute == ATTRIBUTE_MIN_VERSIONS ? 0 : 1, number;

    if (!slice_number(value, &number) || number < least || number > INT32_MAX)
        return reader_fail(reader, "%s should be a number from %" PRId64 " to %" PRId32,
                           attribute_names[attribute], least, INT32_MAX);
    *fields[attribute] = (uint32_t)number;
    return true;
}

static bool
set_word(struct reader *reader, petal_family_options *family, enum attribute attribute,
         petal_slice value)
{
    for (size_t i = 0; i < sizeof attribute_words / sizeof *attribute_words; i++) {
        const struct attribute_word *form = &attribute_words[i];

        if (form->attribute != attribute || !slice_is(value, form->word))
            continue;
        if (attribute == ATTRIBUTE_KEEP_DELETED_CELLS)
            family->keep_deleted_cells = (enum petal_keep_deleted)form->value;
        else if (attribute == ATTRIBUTE_BLOOMFILTER)
            family->bloom = (enum petal_bloom_type)form->value;
        else
            family->new_version_behavior = form->value != 0;
        return true;
    }
    return reader_fail(reader, "%s cannot be '%.*s'", attribute_names[attribute], (int)value.size,
                       (const char *)value.data);
}

static bool
read_attribute(struct reader *reader, petal_family_options *family, bool seen[ATTRIBUTES])
{
    petal_slice name, value;
    bool has_value;
    unsigned i = 0;

    if (!reader_take_option(reader, &name, &has_value, &value))
        return false;
    while (i < ATTRIBUTES && !slice_is(name, attribute_names[i]))
        i++;
    if (i == ATTRIBUTES || !has_value)
        return reader_fail(reader, "'%.*s' is no attribute of a family with its value",
                           (int)name.size, (const char *)name.data);
    if (seen[i])
        return reader_fail(reader, "the attribute %s is given twice", attribute_names[i]);
    seen[i] = true;
    return i < ATTRIBUTE_KEEP_DELETED_CELLS ? set_number(reader, family, (enum attribute)i, value)
                                            : set_word(reader, family, (enum attribute)i, value);
}

static bool
read_family(struct reader *reader, struct recorded_case *recorded)
{
    petal_family_options family = {.size = sizeof family};
    bool seen[ATTRIBUTES] = {false};

    reader->token_next++;
    if (!reader_take_string(reader, "the name of a family", &family.name))
        return false;
    for (size_t i = 0; i < recorded->family_count; i++) {
        if (slice_equal(recorded->families[i].name, family.name))
            return reader_fail(reader, "the case has this family already");
    }
    while (reader_peek(reader) != NULL) {
        if (!read_attribute(reader, &family, seen))
            return false;
    }
    if (seen[ATTRIBUTE_PREFIX_LENGTH] != (family.bloom == PETAL_BLOOM_ROW_PREFIX))
        return reader_fail(reader, "%s goes with BLOOMFILTER=ROWPREFIX_FIXED_LENGTH, and only so",
                           attribute_names[ATTRIBUTE_PREFIX_LENGTH]);
    recorded->families = arena_grow(reader->arena, recorded->families, recorded->family_count,
                                    sizeof *recorded->families);
    recorded->families[recorded->family_count++] = family;
    return true;
}

/* ---- cases ---- */

/* An operation and its answer. */
static bool
read_step(struct reader *reader, struct recorded_case *recorded, int64_t *clock_ms)
{
    struct recorded_step *step;

    recorded->steps =
        arena_grow(reader->arena, recorded->steps, recorded->step_count, sizeof *recorded->steps);
    step = &recorded->steps[recorded->step_count++];
    if (!operation_read(reader, &step->operation))
        return false;
    if (recorded->step_count == 1 && step->operation.kind != OPERATION_CLOCK)
        return reader_fail(reader, "the first operation of a case is not clock");
    if (step->operation.kind == OPERATION_CLOCK) {
        if (step->operation.clock_ms < *clock_ms)
            return reader_fail(reader, "the clock goes back, or below 0");
        *clock_ms = step->operation.clock_ms;
    }
    return (reader_next_line(reader) || reader_fail(reader, "the file ends inside a case")) &&
           answer_read(reader, &step->operation, &step->answer);
}

static bool
read_head(struct reader *reader, struct recorded_case *recorded)
{
    petal_slice word, seed;
    const char *name;

    *recorded = (struct recorded_case){.line = reader->line};
    if (!reader_take_word(reader, "case", &word))
        return false;
    if (!slice_is(word, "case"))
        return reader_fail(reader, "there should be the beginning of a case, not '%.*s'",
                           (int)word.size, (const char *)word.data);
    if (!reader_take_word(reader, "the name of the case", &recorded->name) ||
        !reader_take_word(reader, "the seed of the case", &seed) || !reader_take_end(reader))
        return false;
    name = recorded->name.data;
    recorded->group = recorded->name;
    for (size_t i = 0; i < recorded->name.size; i++) {
        if (name[i] == '-')
            recorded->group.size = i;
    }
    return true;
}

bool
case_read(struct reader *reader, struct recorded_case *recorded)
{
    int64_t clock_ms = 0;
    bool more;

    if (!reader_next_line(reader) || !read_head(reader, recorded))
        return false;
    while ((more = reader_next_line(reader)) && reader_at_word(reader, "family")) {
        if (!read_family(reader, recorded))
            return false;
    }
    if (more && recorded->family_count == 0)
        return reader_fail(reader, "the case has no family");
    while (more && !reader_at_word(reader, "end"))
        more = read_step(reader, recorded, &clock_ms);
    if (!more)
        return reader_fail(reader, "the file ends inside a case");
    reader->token_next++;
    return reader_take_end(reader);
}
