/* facts.c -- see facts.h. */
#include "sstable/file/facts.h"

#include "base/coding.h"

#include <assert.h>

/* Where a number stands in the block, and which one it is. */
struct number {
    uint16_t at, bytes;
    uint16_t field, field_bytes; /* in struct file_facts */
};

#define NUMBER(at, bytes, field)                                                                   \
    {                                                                                              \
        at, bytes, offsetof(struct file_facts, field), sizeof(((struct file_facts *)NULL)->field)  \
    }

static const struct number numbers[] = {
    NUMBER(0, 8, cells),
    NUMBER(8, 8, rows),
    NUMBER(16, 8, puts),
    NUMBER(24, 8, deletes),
    NUMBER(32, 8, family_version_deletes),
    NUMBER(40, 8, column_deletes),
    NUMBER(48, 8, family_deletes),
    NUMBER(56, 8, time_min),
    NUMBER(64, 8, time_max),
    NUMBER(72, 8, sequence_min),
    NUMBER(80, 8, sequence_max),
    NUMBER(88, 8, data_blocks),
    NUMBER(96, 8, data_bytes),
    NUMBER(104, 8, raw_data_bytes),
    NUMBER(112, 8, index_bytes),
    NUMBER(120, 8, bloom_bytes),
    NUMBER(128, 8, bloom_keys),
    NUMBER(136, 8, bloom_chunks),
    NUMBER(144, 8, salt),
    NUMBER(152, 8, bloom_error_rate),
    NUMBER(160, 1, bloom),
    NUMBER(161, 1, bloom_layout),
    NUMBER(162, 2, bloom_hash_version),
    NUMBER(164, 4, block_bytes),
    NUMBER(168, 1, compression),
    NUMBER(170, 2, qualifier_count),
    NUMBER(176, 8, put_time_min),
    NUMBER(184, 8, ttl_cells),
    NUMBER(192, 4, bloom_prefix_bytes),
    NUMBER(200, 8, written_ms),
    NUMBER(208, 8, death_min),
    NUMBER(216, 8, death_max),
};

#define NUMBER_COUNT (sizeof numbers / sizeof *numbers)

enum {
    EXACT_AT = 169,
    FIXED_BYTES_AT = 172,
    RESERVED_AT = 196,
    ORIGIN_AT = 224,
    ORIGIN_RESERVED_AT = 225,
    FIXED_BYTES = 232, /* without an owner */
    TABLE_ID_AT = 232,
    FAMILY_ID_AT = 236,
    FAMILY_NAME_BYTES_AT = 238,
    TABLE_NAME_BYTES_AT = 239,
    OWNER_NAMES_AT = 240 /* the family's name, the table's */
};

#define SINGLE_CELLS 0x80u /* the bit beside the origin */

/* ---- gathering ---- */

void
facts_gatherer_init(struct facts_gatherer *gatherer, const petal_allocator *allocator)
{
    *gatherer = (struct facts_gatherer){.allocator = allocator};
    gatherer->facts.time_min = INT64_MAX;
    gatherer->facts.time_max = INT64_MIN;
    gatherer->facts.put_time_min = INT64_MAX;
    gatherer->facts.sequence_min = UINT64_MAX;
    gatherer->facts.single_cells = true;
    qualifier_set_init(&gatherer->qualifiers);
}

void
facts_gatherer_fini(struct facts_gatherer *gatherer)
{
    qualifier_set_fini(&gatherer->qualifiers, gatherer->allocator);
    kept_cell_fini(&gatherer->first, gatherer->allocator);
    kept_cell_fini(&gatherer->last, gatherer->allocator);
}

static void
count_type(struct file_facts *facts, enum petal_cell_type type)
{
    switch (type) {
    case PETAL_PUT:
        facts->puts++;
        break;
    case PETAL_DELETE:
        facts->deletes++;
        break;
    case PETAL_DELETE_FAMILY_VERSION:
        facts->family_version_deletes++;
        break;
    case PETAL_DELETE_COLUMN:
        facts->column_deletes++;
        break;
    case PETAL_DELETE_FAMILY:
        facts->family_deletes++;
        break;
    }
}

/* The time that a read must overlap for the cell to matter to it. */
static int64_t
earliest_time_touched(const struct cell *cell)
{
    bool hides_older = cell->type == PETAL_DELETE_COLUMN || cell->type == PETAL_DELETE_FAMILY;

    return hides_older && cell->timestamp > 0 ? 0 : cell->timestamp;
}

/* The cell has a time to live of its own. */
static void
note_death(struct file_facts *facts, const struct cell *cell)
{
    int64_t death = cell_death_ms(cell);

    if (facts->ttl_cells == 0 || death < facts->death_min)
        facts->death_min = death;
    if (facts->ttl_cells == 0 || death > facts->death_max)
        facts->death_max = death;
    facts->ttl_cells++;
}

enum succession
facts_gatherer_succession(const struct facts_gatherer *gatherer, const struct cell *cell)
{
    const struct cell *last = &gatherer->last.cell;
    int order;

    if (!gatherer->last.is_kept)
        return NEW_ROW;
    order = slice_compare(last->row, cell->row);
    if (order != 0)
        return order < 0 ? NEW_ROW : OUT_OF_ORDER;
    if (cell_is_family_marker(last->type) != cell_is_family_marker(cell->type))
        return cell_is_family_marker(last->type) ? NEW_COLUMN : OUT_OF_ORDER;
    order = slice_compare(last->qualifier, cell->qualifier);
    if (order != 0)
        return order < 0 ? NEW_COLUMN : OUT_OF_ORDER;
    if (last->timestamp != cell->timestamp)
        return last->timestamp > cell->timestamp ? SAME_COLUMN : OUT_OF_ORDER;
    return last->sequence > cell->sequence ? SAME_COLUMN : OUT_OF_ORDER;
}

enum petal_status
facts_gatherer_add(struct facts_gatherer *gatherer, const struct cell *cell,
                   enum succession succession)
{
    struct file_facts *facts = &gatherer->facts;
    int64_t earliest = earliest_time_touched(cell);
    bool new_column = succession != SAME_COLUMN;

    assert(cell->row.size > 0 && succession != OUT_OF_ORDER);
    assert(succession == facts_gatherer_succession(gatherer, cell));
    if ((!gatherer->first.is_kept &&
         !kept_cell_keep(&gatherer->first, gatherer->allocator, cell)) ||
        !kept_cell_keep(&gatherer->last, gatherer->allocator, cell))
        return PETAL_NO_MEMORY;
    if (new_column && !cell_is_family_marker(cell->type)) {
        enum petal_status status =
            qualifier_set_add(&gatherer->qualifiers, gatherer->allocator, cell->qualifier);

        if (status != PETAL_OK)
            return status;
    }
    facts->cells++;
    facts->rows += succession == NEW_ROW;
    facts->single_cells = facts->single_cells && new_column;
    count_type(facts, cell->type);
    if (cell->has_ttl)
        note_death(facts, cell);
    if (cell->type == PETAL_PUT && cell->timestamp < facts->put_time_min)
        facts->put_time_min = cell->timestamp;
    if (earliest < facts->time_min)
        facts->time_min = earliest;
    if (cell->timestamp > facts->time_max)
        facts->time_max = cell->timestamp;
    if (cell->sequence < facts->sequence_min)
        facts->sequence_min = cell->sequence;
    if (cell->sequence > facts->sequence_max)
        facts->sequence_max = cell->sequence;
    return PETAL_OK;
}

void
facts_gatherer_finish(struct facts_gatherer *gatherer)
{
    struct file_facts *facts = &gatherer->facts;

    assert(facts->rows <= facts->cells && facts->ttl_cells <= facts->cells);
    assert(facts->puts + facts->deletes + facts->column_deletes + facts_family_markers(facts) ==
           facts->cells);
    facts->row_min = gatherer->first.cell.row;
    facts->row_max = gatherer->last.cell.row;
    facts->qualifiers_exact = gatherer->qualifiers.exact;
    facts->qualifier_count = gatherer->qualifiers.count;
    facts->qualifiers = gatherer->qualifiers.slices;
}

/* ---- bytes ---- */

static size_t
slice_encoded_bytes(petal_slice slice)
{
    return varint64_size(slice.size) + slice.size;
}

/* Of the numbers, before the rows. */
static size_t
fixed_encoded_bytes(const struct file_facts *facts)
{
    const struct file_owner *owner = &facts->owner;

    return owner->table.size > 0 ? OWNER_NAMES_AT + owner->family.size + owner->table.size
                                 : FIXED_BYTES;
}

static void
encode_owner(const struct file_owner *owner, uint8_t *to)
{
    if (owner->table.size == 0)
        return;
    assert(owner->table.size <= UINT8_MAX && owner->family.size <= UINT8_MAX);
    assert(owner->family.size > 0);
    put_le32(to + TABLE_ID_AT, owner->table_id);
    put_le16(to + FAMILY_ID_AT, owner->family_id);
    to[FAMILY_NAME_BYTES_AT] = (uint8_t)owner->family.size;
    to[TABLE_NAME_BYTES_AT] = (uint8_t)owner->table.size;
    memcpy(to + OWNER_NAMES_AT, owner->family.data, owner->family.size);
    memcpy(to + OWNER_NAMES_AT + owner->family.size, owner->table.data, owner->table.size);
}

size_t
facts_encoded_bytes(const struct file_facts *facts)
{
    size_t bytes = fixed_encoded_bytes(facts) + slice_encoded_bytes(facts->row_min) +
                   slice_encoded_bytes(facts->row_max);

    for (uint32_t i = 0; i < facts->qualifier_count; i++)
        bytes += slice_encoded_bytes(facts->qualifiers[i]);
    return bytes;
}

static uint8_t *
put_slice(uint8_t *to, petal_slice slice)
{
    return put_bytes(put_varint64(to, slice.size), slice.data, slice.size);
}

static void
put_number(const struct number *number, const struct file_facts *facts, uint8_t *to)
{
    const char *field = (const char *)facts + number->field;
    uint64_t value;
    uint32_t short_value;

    if (number->field_bytes == sizeof value) {
        memcpy(&value, field, sizeof value);
    } else {
        assert(number->field_bytes == sizeof short_value);
        memcpy(&short_value, field, sizeof short_value);
        value = short_value;
    }
    for (unsigned i = 0; i < number->bytes; i++)
        to[number->at + i] = (uint8_t)(value >> 8 * i);
}

static void
get_number(const struct number *number, struct file_facts *facts, const uint8_t *from)
{
    char *field = (char *)facts + number->field;
    uint64_t value = 0;
    uint32_t short_value;

    for (unsigned i = 0; i < number->bytes; i++)
        value |= (uint64_t)from[number->at + i] << 8 * i;
    short_value = (uint32_t)value;
    if (number->field_bytes == sizeof value)
        memcpy(field, &value, sizeof value);
    else
        memcpy(field, &short_value, sizeof short_value);
}

void
facts_encode(const struct file_facts *facts, uint8_t *to)
{
    const uint8_t *behind = to + facts_encoded_bytes(facts);

    assert(facts->qualifier_count <= FACTS_MAX_QUALIFIERS);
    assert(slice_compare(facts->row_min, facts->row_max) <= 0);
    memset(to, 0, FIXED_BYTES);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        put_number(&numbers[i], facts, to);
    to[EXACT_AT] = facts->qualifiers_exact;
    put_le32(to + FIXED_BYTES_AT, (uint32_t)fixed_encoded_bytes(facts));
    to[ORIGIN_AT] = (uint8_t)((unsigned)facts->origin | (facts->single_cells ? SINGLE_CELLS : 0));
    encode_owner(&facts->owner, to);
    to = put_slice(to + fixed_encoded_bytes(facts), facts->row_min);
    to = put_slice(to, facts->row_max);
    for (uint32_t i = 0; i < facts->qualifier_count; i++)
        to = put_slice(to, facts->qualifiers[i]);
    assert(to == behind);
    (void)behind;
}

static void
decode_fixed(struct file_facts *facts, const uint8_t *from)
{
    unsigned origin = from[ORIGIN_AT] & ~SINGLE_CELLS;

    *facts = (struct file_facts){
        .qualifiers_exact = from[EXACT_AT] == 1,
        .origin = origin <= FILE_ORIGIN_BULK ? (enum file_origin)origin : FILE_ORIGIN_UNKNOWN,
        .single_cells = (from[ORIGIN_AT] & SINGLE_CELLS) != 0,
    };
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        get_number(&numbers[i], facts, from);
}

/* NULL, or what is wrong. */
static const char *
decode_owner(struct file_owner *owner, const uint8_t *from, size_t fixed_bytes)
{
    size_t family, table;

    if (fixed_bytes < OWNER_NAMES_AT)
        return NULL;
    family = from[FAMILY_NAME_BYTES_AT];
    table = from[TABLE_NAME_BYTES_AT];
    if (fixed_bytes - OWNER_NAMES_AT < family + table || (family == 0) != (table == 0))
        return "malformed names of table and family";
    owner->table_id = get_le32(from + TABLE_ID_AT);
    owner->family_id = get_le16(from + FAMILY_ID_AT);
    owner->family = slice_make(from + OWNER_NAMES_AT, family);
    owner->table = slice_make(from + OWNER_NAMES_AT + family, table);
    return NULL;
}

static bool
any_set(const uint8_t *from, const uint8_t *limit)
{
    while (from < limit && *from == 0)
        from++;
    return from < limit;
}

/* NULL, or what is wrong with the numbers from PUT_TIME_MIN_AT on. */
static const char *
check_later_numbers(const struct file_facts *facts, const uint8_t *from)
{
    bool prefixed = facts->bloom == PETAL_BLOOM_ROW_PREFIX;

    if (facts->puts == 0
            ? facts->put_time_min != INT64_MAX
            : facts->put_time_min < facts->time_min || facts->put_time_min > facts->time_max)
        return "impossible least timestamp of a put";
    if (facts->ttl_cells > facts->cells)
        return "impossible number of cells with a time to live";
    if (facts->bloom_prefix_bytes > PETAL_MAX_ROW_BYTES ||
        (prefixed && facts->bloom_prefix_bytes == 0) ||
        (facts->bloom < PETAL_BLOOM_ROW_PREFIX && facts->bloom_prefix_bytes != 0))
        return "impossible prefix of rows in the filter";
    if (facts->ttl_cells == 0 ? facts->death_min != 0 || facts->death_max != 0
                              : facts->death_min > facts->death_max)
        return "impossible times of death";
    if (get_le32(from + RESERVED_AT) != 0 || any_set(from + ORIGIN_RESERVED_AT, from + FIXED_BYTES))
        return "malformed numbers";
    return NULL;
}

/* NULL, or what is wrong. */
static const char *
check_numbers(const struct file_facts *facts, const uint8_t *from)
{
    const uint64_t parts[] = {facts->puts, facts->deletes, facts->family_version_deletes,
                              facts->column_deletes, facts->family_deletes};
    uint64_t rest = facts->cells;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i] > rest)
            return "the numbers of cells by type add up to more than all";
        rest -= parts[i];
    }
    if (rest != 0)
        return "the numbers of cells by type do not add up to all";
    if (facts->cells == 0 || facts->rows == 0 || facts->rows > facts->cells)
        return "impossible number of rows";
    if (facts->data_blocks == 0 || facts->data_blocks > facts->cells)
        return "impossible number of data blocks";
    if (facts->time_min > facts->time_max)
        return "time range is empty";
    if (facts->sequence_min > facts->sequence_max)
        return "sequence range is empty";
    if (from[EXACT_AT] > 1 || facts->qualifier_count > FACTS_MAX_QUALIFIERS ||
        (!facts->qualifiers_exact && facts->qualifier_count != 0))
        return "malformed number of qualifiers";
    return check_later_numbers(facts, from);
}

static const uint8_t *
get_slice(const uint8_t *from, const uint8_t *limit, petal_slice *slice)
{
    uint32_t size;

    from = get_varint32(from, limit, &size);
    if (from == NULL || size > (size_t)(limit - from))
        return NULL;
    *slice = slice_make(from, size);
    return from + size;
}

/* NULL, or what is wrong. */
static const char *
decode_slices(struct file_facts *facts, petal_slice *qualifiers, const uint8_t *from,
              const uint8_t *limit)
{
    from = get_slice(from, limit, &facts->row_min);
    if (from != NULL)
        from = get_slice(from, limit, &facts->row_max);
    for (uint32_t i = 0; from != NULL && i < facts->qualifier_count; i++) {
        from = get_slice(from, limit, &qualifiers[i]);
        if (from != NULL && i > 0 && slice_compare(qualifiers[i - 1], qualifiers[i]) >= 0)
            return "qualifiers are out of order";
    }
    if (from != limit)
        return "lengths do not fit";
    if (facts->row_min.size == 0 || slice_compare(facts->row_min, facts->row_max) > 0)
        return "row range is empty";
    return NULL;
}

enum petal_status
facts_decode(struct file_facts *facts, petal_slice bytes, const petal_allocator *allocator,
             const char **what)
{
    const uint8_t *from = bytes.data;
    petal_slice *qualifiers = NULL;
    size_t fixed_bytes;

    *facts = (struct file_facts){0};
    *what = "too short";
    if (bytes.size < FIXED_BYTES)
        return PETAL_CORRUPT;
    fixed_bytes = get_le32(from + FIXED_BYTES_AT);
    if (fixed_bytes > bytes.size)
        return PETAL_CORRUPT;
    *what = "malformed size of its numbers";
    if (fixed_bytes < FIXED_BYTES)
        return PETAL_CORRUPT;
    decode_fixed(facts, from);
    *what = check_numbers(facts, from);
    if (*what == NULL)
        *what = decode_owner(&facts->owner, from, fixed_bytes);
    if (*what != NULL) {
        *facts = (struct file_facts){0};
        return PETAL_CORRUPT;
    }
    if (facts->qualifier_count > 0) {
        qualifiers = mem_alloc(allocator, facts->qualifier_count * sizeof *qualifiers);
        if (qualifiers == NULL) {
            *facts = (struct file_facts){0};
            return PETAL_NO_MEMORY;
        }
        facts->qualifiers = qualifiers;
    }
    *what = decode_slices(facts, qualifiers, from + fixed_bytes, from + bytes.size);
    if (*what != NULL) {
        facts_fini(facts, allocator);
        return PETAL_CORRUPT;
    }
    return PETAL_OK;
}

void
facts_fini(struct file_facts *facts, const petal_allocator *allocator)
{
    petal_slice *qualifiers = (petal_slice *)(uintptr_t)facts->qualifiers;

    mem_free(allocator, qualifiers, facts->qualifier_count * sizeof *qualifiers);
    *facts = (struct file_facts){0};
}

bool
facts_may_have_qualifier(const struct file_facts *facts, petal_slice qualifier)
{
    uint32_t at;

    if (!facts->qualifiers_exact)
        return true;
    at = qualifiers_lower_bound(facts->qualifiers, facts->qualifier_count, qualifier);
    return at < facts->qualifier_count && slice_equal(facts->qualifiers[at], qualifier);
}
