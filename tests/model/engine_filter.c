/* engine_filter.c -- the model's filters as the engine has them: made, combined, or in the filter
 * language; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

static petal_filter_argument
bytes_argument(petal_slice bytes)
{
    return (petal_filter_argument){.kind = PETAL_FILTER_BYTES, .bytes = bytes};
}

static petal_filter_argument
number_argument(int64_t number)
{
    return (petal_filter_argument){.kind = PETAL_FILTER_NUMBER, .number = number};
}

/* ---- lists ---- */

#define MOST_ARGUMENTS 4

/* The name and arguments of a leaf. */
struct described {
    const char *name;
    petal_filter_argument arguments[MOST_ARGUMENTS];
    size_t count;
    uint8_t comparator[16 + MODEL_BYTES];
};

static void
add_argument(struct described *described, petal_filter_argument argument)
{
    described->arguments[described->count++] = argument;
}

/* "type:value", after the comparison. */
static void
add_comparator(struct described *described, const struct model_leaf *leaf, const char *type)
{
    size_t length = strlen(type);

    memcpy(described->comparator, type, length);
    memcpy(described->comparator + length, leaf->bytes.bytes, leaf->bytes.size);
    add_argument(described,
                 (petal_filter_argument){.kind = PETAL_FILTER_COMPARE, .number = leaf->compare});
    add_argument(described,
                 bytes_argument(slice_make(described->comparator, length + leaf->bytes.size)));
}

static void
describe(const struct model_leaf *leaf, struct described *described)
{
    static const char *const names[MODEL_LEAVES] = {
        "RowFilter",       "PrefixFilter",       "FamilyFilter",      "QualifierFilter",
        "QualifierFilter", "ColumnPrefixFilter", "ColumnRangeFilter", "ValueFilter",
        "ValueFilter",     "ValueFilter",        "TimestampsFilter"};
    petal_filter_argument inclusive = {.kind = PETAL_FILTER_BOOLEAN, .number = leaf->flag};

    *described = (struct described){.name = names[leaf->kind]};
    switch (leaf->kind) {
    case MODEL_LEAF_ROW_PREFIX:
    case MODEL_LEAF_COLUMN_PREFIX:
        add_argument(described, bytes_argument(model_slice(&leaf->bytes)));
        break;
    case MODEL_LEAF_COLUMN_RANGE:
        add_argument(described, bytes_argument(model_slice(&leaf->bytes)));
        add_argument(described, inclusive);
        add_argument(described, bytes_argument(model_slice(&leaf->more)));
        add_argument(described, inclusive);
        break;
    case MODEL_LEAF_QUALIFIER_PREFIX:
    case MODEL_LEAF_VALUE_PREFIX:
        add_comparator(described, leaf, "binaryprefix:");
        break;
    case MODEL_LEAF_VALUE_CONTAINS:
        add_comparator(described, leaf, "substring:");
        break;
    case MODEL_LEAF_TIMESTAMPS:
        add_argument(described, number_argument(leaf->number));
        add_argument(described, number_argument(leaf->number + 1));
        break;
    default:
        add_comparator(described, leaf, "binary:");
        break;
    }
}

/* Replace *filter by `operation` on it. */
static enum petal_status
surround(petal_db *db, enum petal_filter_operation operation, petal_filter **filter,
         petal_error *error)
{
    petal_filter *member = *filter;
    enum petal_status status = petal_filter_combine(db, operation, &member, 1, filter, error);

    petal_filter_free(member);
    return status;
}

static enum petal_status
make_list(petal_db *db, const struct model_filter *wanted, petal_filter **filter,
          petal_error *error)
{
    petal_filter *members[MODEL_MOST_LEAVES] = {NULL};
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < wanted->leaf_count; i++) {
        struct described described;

        describe(&wanted->leaves[i], &described);
        status = petal_filter_make(db, described.name, described.arguments, described.count,
                                   &members[i], error);
    }
    if (status == PETAL_OK)
        status = petal_filter_combine(db, wanted->one_of ? PETAL_FILTER_OR : PETAL_FILTER_AND,
                                      members, wanted->leaf_count, filter, error);
    for (size_t i = 0; i < wanted->leaf_count; i++)
        petal_filter_free(members[i]);
    if (status == PETAL_OK && wanted->skip)
        status = surround(db, PETAL_FILTER_SKIP, filter, error);
    if (status == PETAL_OK && wanted->while_match)
        status = surround(db, PETAL_FILTER_WHILE, filter, error);
    return status;
}

/* ---- the filter language ---- */

/* Any bytes may stand there; a quote is doubled. */
static size_t
add_quoted(petal_slice bytes, char *to)
{
    size_t size = 0;

    to[size++] = '\'';
    for (size_t i = 0; i < bytes.size; i++) {
        to[size++] = (char)slice_bytes(bytes)[i];
        if (slice_bytes(bytes)[i] == '\'')
            to[size++] = '\'';
    }
    to[size++] = '\'';
    return size;
}

static size_t
add_words(const char *words, char *to)
{
    size_t size = strlen(words);

    memcpy(to, words, size);
    return size;
}

static size_t
add_text_of_argument(const petal_filter_argument *argument, char *to)
{
    static const char *const compare[] = {"", "<", "<=", "=", "!=", ">=", ">"};
    char number[24];

    switch (argument->kind) {
    case PETAL_FILTER_BYTES:
        return add_quoted(argument->bytes, to);
    case PETAL_FILTER_COMPARE:
        return add_words(compare[argument->number], to);
    case PETAL_FILTER_BOOLEAN:
        return add_words(argument->number != 0 ? "true" : "false", to);
    default:
        snprintf(number, sizeof number, "%lld", (long long)argument->number);
        return add_words(number, to);
    }
}

#define TEXT_BYTES 1024 /* of a list */

static enum petal_status
parse_list(petal_db *db, const struct model_filter *wanted, petal_filter **filter,
           petal_error *error)
{
    char text[TEXT_BYTES];
    size_t size = add_words(wanted->while_match ? "WHILE (" : wanted->skip ? "SKIP (" : "(", text);

    for (size_t i = 0; i < wanted->leaf_count; i++) {
        struct described described;

        describe(&wanted->leaves[i], &described);
        if (i > 0)
            size += add_words(wanted->one_of ? " OR " : " AND ", text + size);
        size += add_words(described.name, text + size);
        for (size_t k = 0; k < described.count; k++) {
            size += add_words(k == 0 ? "(" : ", ", text + size);
            size += add_text_of_argument(&described.arguments[k], text + size);
        }
        size += add_words(")", text + size);
    }
    size += add_words(")", text + size);
    return petal_filter_parse(db, slice_make(text, size), filter, error);
}

/* ---- the others ---- */

enum petal_status
engine_make_filter(petal_db *db, const struct model_filter *wanted, petal_filter **filter,
                   petal_error *error)
{
    static const petal_filter_argument inclusive = {.kind = PETAL_FILTER_BOOLEAN, .number = 1};
    petal_slice bytes = model_slice(&wanted->bytes);
    uint8_t binary[7 + MODEL_BYTES] = "binary:", fuzzy[2] = {0, wanted->bytes.bytes[0]};
    petal_filter_argument compare[] = {
        {.kind = PETAL_FILTER_COMPARE,
         .number = wanted->kind == MODEL_FILTER_SKIP ? PETAL_NOT_EQUAL : PETAL_EQUAL},
        bytes_argument(slice_make(binary, 7 + bytes.size))};
    petal_filter_argument prefix = bytes_argument(bytes), page = number_argument(wanted->number);
    petal_filter_argument fuzzy_row[] = {bytes_argument(slice_make(fuzzy, 2)),
                                         bytes_argument(slice_make("\1\0", 2))};
    petal_filter_argument ranges[] = {bytes_argument(bytes),
                                      inclusive,
                                      bytes_argument(bytes),
                                      inclusive,
                                      bytes_argument(model_slice(&wanted->more)),
                                      inclusive,
                                      bytes_argument(slice_make(NULL, 0)),
                                      inclusive};
    petal_filter *member;
    enum petal_status status;

    memcpy(binary + 7, wanted->bytes.bytes, bytes.size);
    *filter = NULL;
    switch (wanted->kind) {
    case MODEL_FILTER_NONE:
        return PETAL_OK;
    case MODEL_FILTER_COLUMN_PREFIX:
        return petal_filter_make(db, "ColumnPrefixFilter", &prefix, 1, filter, error);
    case MODEL_FILTER_FAMILY:
        return petal_filter_make(db, "FamilyFilter", compare, 2, filter, error);
    case MODEL_FILTER_FIRST_KEY:
        return petal_filter_make(db, "FirstKeyOnlyFilter", NULL, 0, filter, error);
    case MODEL_FILTER_ROW_RANGES:
        return petal_filter_make(db, "MultiRowRangeFilter", ranges, 8, filter, error);
    case MODEL_FILTER_FUZZY_ROW:
        return petal_filter_make(db, "FuzzyRowFilter", fuzzy_row, 2, filter, error);
    case MODEL_FILTER_PAGE:
        return petal_filter_make(db, "PageFilter", &page, 1, filter, error);
    case MODEL_FILTER_LIST:
        return wanted->by_text ? parse_list(db, wanted, filter, error)
                               : make_list(db, wanted, filter, error);
    case MODEL_FILTER_SKIP:
        break;
    }
    status = petal_filter_make(db, "QualifierFilter", compare, 2, &member, error);
    if (status != PETAL_OK)
        return status;
    status = petal_filter_combine(db, PETAL_FILTER_SKIP, &member, 1, filter, error);
    petal_filter_free(member);
    return status;
}
