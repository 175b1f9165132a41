/* filter_object.c -- see tools/shell/data/filter_object.h. */
#include "tools/shell/data/filter_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What constructors take, a letter for each argument, as HBase's have them:
 *
 *     s bytes or a text   o the same, or nil for an open end    b boolean   n number
 *     = comparison        c comparator                          v comparator, or bytes to compare
 *     | what follows may be left out
 *     S a list of texts   N a list of numbers   P pairs of texts   R ranges of rows, or prefixes
 *     d a fraction
 */
static const struct filter_class {
    const char *name, *signature, *arguments;
} classes[] = {
    {"ColumnCountGetFilter", "n", "limit"},
    {"ColumnPaginationFilter", "nn", "limit, offset"},
    {"ColumnPrefixFilter", "s", "prefix"},
    {"ColumnRangeFilter", "obob", "from, inclusive, to, inclusive"},
    {"ColumnValueFilter", "ss=v", "family, qualifier, comparison, value or comparator"},
    {"DependentColumnFilter", "ss|b|=c", "family, qualifier, drop, comparison, comparator"},
    {"FamilyFilter", "=c", "comparison, comparator"},
    {"FilterList", "", "operator, filter, .."},
    {"FirstKeyOnlyFilter", "", ""},
    {"FuzzyRowFilter", "P", "[Pair.new(pattern, mask), ..]"},
    {"InclusiveStopFilter", "s", "row"},
    {"KeyOnlyFilter", "|b", "length as value"},
    {"MultiRowRangeFilter", "R", "[RowRange.new(from, inclusive, to, inclusive), ..]"},
    {"MultipleColumnPrefixFilter", "S", "[prefix, ..]"},
    {"PageFilter", "n", "rows"},
    {"PrefixFilter", "s", "prefix"},
    {"QualifierFilter", "=c", "comparison, comparator"},
    {"RandomRowFilter", "d", "chance"},
    {"RowFilter", "=c", "comparison, comparator"},
    {"SingleColumnValueExcludeFilter", "ss=v",
     "family, qualifier, comparison, value or comparator"},
    {"SingleColumnValueFilter", "ss=v", "family, qualifier, comparison, value or comparator"},
    {"SkipFilter", "", "filter"},
    {"TimestampsFilter", "N|b", "[timestamp, ..]"},
    {"ValueFilter", "=c", "comparison, comparator"},
    {"WhileMatchFilter", "", "filter"},
};

/* Comparators, and what stands before the colon. */
static const struct {
    const char *name, *type;
} comparators[] = {
    {"BinaryComparator", "binary"},
    {"BinaryPrefixComparator", "binaryprefix"},
    {"BitComparator", "bit"},
    {"LongComparator", "long"},
    {"NullComparator", "null"},
    {"RegexStringComparator", "regexstring"},
    {"SubstringComparator", "substring"},
};

static const struct {
    const char *name;
    enum petal_compare compare;
} comparisons[] = {
    {"LESS", PETAL_LESS},
    {"LESS_OR_EQUAL", PETAL_LESS_OR_EQUAL},
    {"EQUAL", PETAL_EQUAL},
    {"NOT_EQUAL", PETAL_NOT_EQUAL},
    {"GREATER_OR_EQUAL", PETAL_GREATER_OR_EQUAL},
    {"GREATER", PETAL_GREATER},
};

const char *
filter_class_name(size_t index)
{
    if (index < COUNT_OF(classes))
        return classes[index].name;
    index -= COUNT_OF(classes);
    return index < COUNT_OF(comparators) ? comparators[index].name : NULL;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static petal_slice
class_of(const struct value *object)
{
    return object->kind == VALUE_OBJECT ? class_simple_name(object->as.items[0].as.bytes)
                                        : (petal_slice){"", 0};
}

static const struct filter_class *
find_class(petal_slice name)
{
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (slice_is(name, classes[i].name))
            return &classes[i];
    return NULL;
}

static bool
is_filter(const struct value *value)
{
    return value->kind == VALUE_OBJECT && find_class(class_of(value)) != NULL;
}

static bool
is_comparator(const struct value *value)
{
    for (size_t i = 0; i < COUNT_OF(comparators); i++)
        if (slice_is(class_of(value), comparators[i].name))
            return true;
    return false;
}

/* An object that grows. */
struct making {
    struct session *session;
    const char *class; /* its simple name */
    struct value object;
    size_t capacity;
};

static void
add(struct making *making, const struct value *item)
{
    value_list_add(&making->session->arena, &making->object, &making->capacity, item);
}

static void
add_text(struct making *making, const char *before, petal_slice bytes)
{
    struct text text = {0};
    struct value item;

    text_add_string(&text, before);
    text_add_slice(&text, bytes);
    item = value_string_copy(&making->session->arena, text_slice(&text));
    text_free(&text);
    add(making, &item);
}

static bool
wants(struct making *making, size_t argument, const char *wanted)
{
    (void)session_fail(making->session, SHELL_USAGE, "%s: argument %zu must be %s", making->class,
                       argument + 1, wanted);
    return false;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* The comparator that stands for bytes is BinaryComparator. */
static bool
add_comparator(struct making *making, const struct value *value, size_t argument, bool or_bytes)
{
    if (is_comparator(value)) {
        add(making, &value->as.items[1]);
        return true;
    }
    if (or_bytes && value->kind == VALUE_STRING) {
        add_text(making, "binary:", value->as.bytes);
        return true;
    }
    return wants(making, argument,
                 or_bytes ? "bytes or a comparator such as SubstringComparator.new('x')"
                          : "a comparator such as BinaryComparator.new(Bytes.toBytes('x'))");
}

static bool
add_comparison(struct making *making, const struct value *value, size_t argument)
{
    for (size_t i = 0; i < COUNT_OF(comparisons); i++) {
        if (value->kind == VALUE_OBJECT && value->count == 2 &&
            value->as.items[1].kind == VALUE_SYMBOL &&
            slice_is(value->as.items[1].as.bytes, comparisons[i].name)) {
            add(making, &value->as.items[1]);
            return true;
        }
    }
    return wants(making, argument, "a comparison such as CompareOperator::EQUAL");
}

/* Two texts each: Pair.new('key', 'mask'), or ['key', 'mask']. */
static bool
add_pairs(struct making *making, const struct value *value)
{
    for (size_t i = 0; i < value->count; i++) {
        const struct value *pair = &value->as.items[i];
        size_t first = pair->kind == VALUE_OBJECT && slice_is(class_of(pair), "Pair");

        if ((pair->kind != VALUE_ARRAY && first == 0) || pair->count - first != 2)
            return wants(making, 0,
                         "a list of pairs, such as [Pair.new('key', \"\\x00\\x00\\x01\")]");
        add(making, &pair->as.items[first]);
        add(making, &pair->as.items[first + 1]);
    }
    return true;
}

/* Rows that begin with a prefix lie before the next text that does not. */
static void
add_prefix_range(struct making *making, petal_slice prefix)
{
    const struct value yes = value_boolean(true), no = value_boolean(false);
    struct text end = {0};

    text_add_slice(&end, prefix);
    while (end.size > 0 && (unsigned char)end.bytes[end.size - 1] == 0xff)
        end.size--;
    if (end.size > 0)
        end.bytes[end.size - 1] = (char)((unsigned char)end.bytes[end.size - 1] + 1);
    add_text(making, "", prefix);
    add(making, &yes);
    add_text(making, "", text_slice(&end));
    add(making, &no);
    text_free(&end);
}

static bool
add_ranges(struct making *making, const struct value *value)
{
    for (size_t i = 0; i < value->count; i++) {
        const struct value *range = &value->as.items[i];

        if (range->kind == VALUE_STRING) {
            add_prefix_range(making, range->as.bytes);
            continue;
        }
        if (!slice_is(class_of(range), "RowRange"))
            return wants(making, 0,
                         "a list of RowRange.new('start', true, 'stop', false), or of prefixes");
        for (size_t k = 1; k < range->count; k++)
            add(making, &range->as.items[k]);
    }
    return true;
}

static bool
add_list(struct making *making, char letter, const struct value *value)
{
    if (value->kind != VALUE_ARRAY)
        return wants(making, 0, "a list in [ ]");
    if (letter == 'P')
        return add_pairs(making, value);
    if (letter == 'R')
        return add_ranges(making, value);
    for (size_t i = 0; i < value->count; i++) {
        if (value->as.items[i].kind != (letter == 'S' ? VALUE_STRING : VALUE_INTEGER))
            return wants(making, 0, letter == 'S' ? "a list of texts" : "a list of numbers");
        add(making, &value->as.items[i]);
    }
    return true;
}

static bool
add_argument(struct making *making, char letter, const struct value *value, size_t argument)
{
    bool number = value->kind == VALUE_INTEGER || value->kind == VALUE_FLOAT;

    switch (letter) {
    case '=':
        return add_comparison(making, value, argument);
    case 'c':
    case 'v':
        return add_comparator(making, value, argument, letter == 'v');
    case 'd':
        if (!number)
            return wants(making, argument, "a fraction from 0.0 to 1.0");
        add_text(making, "", value_to_bytes(&making->session->arena, value));
        return true;
    case 's':
    case 'o':
        if (value->kind != VALUE_STRING && (letter == 's' || value->kind != VALUE_NIL))
            return wants(making, argument, "bytes, such as Bytes.toBytes('text')");
        break;
    case 'b':
        if (value->kind != VALUE_BOOLEAN)
            return wants(making, argument, "true or false");
        break;
    case 'n':
        if (value->kind != VALUE_INTEGER)
            return wants(making, argument, "a number");
        break;
    default:
        return add_list(making, letter, value);
    }
    add(making, value);
    return true;
}

static bool
add_arguments(struct making *making, const struct filter_class *class,
              const struct value *arguments, size_t count)
{
    const char *signature = class->signature;
    size_t used = 0;

    for (; *signature != '\0'; signature++) {
        if (*signature == '|' && used == count)
            return true;
        if (*signature == '|')
            continue;
        if (used == count || !add_argument(making, *signature, &arguments[used], used))
            break;
        if (*signature != 'N' && *signature != 'S')
            used++;
        else
            used = count; /* what may stand behind a list is a hint */
    }
    if (*signature == '\0' && used == count)
        return true;
    if (making->session->message.size == 0)
        (void)session_fail(making->session, SHELL_USAGE, "it is %s.new(%s), and there %s %zu %s",
                           class->name, class->arguments, count == 1 ? "is" : "are", count,
                           count == 1 ? "argument" : "arguments");
    return false;
}

/* ---- Lists of filters ------------------------------------------------------------------------ */

static bool
add_member(struct making *making, const struct value *value, size_t argument)
{
    if (value->kind == VALUE_ARRAY) {
        for (size_t i = 0; i < value->count; i++)
            if (!is_filter(&value->as.items[i]))
                return wants(making, argument, "filters");
        for (size_t i = 0; i < value->count; i++)
            add(making, &value->as.items[i]);
        return true;
    }
    if (!is_filter(value))
        return wants(making, argument, "a filter");
    add(making, value);
    return true;
}

static bool
add_members(struct making *making, const struct value *arguments, size_t count)
{
    struct value operation = {.kind = VALUE_SYMBOL, .as.bytes = slice_of_string("MUST_PASS_ALL")};
    size_t first = count > 0 && arguments[0].kind == VALUE_OBJECT && !is_filter(&arguments[0]);

    if (first == 1) {
        if (arguments[0].count != 2 || arguments[0].as.items[1].kind != VALUE_SYMBOL)
            return wants(making, 0, "FilterList::Operator::MUST_PASS_ALL or MUST_PASS_ONE");
        operation = arguments[0].as.items[1];
    }
    if (!slice_is(operation.as.bytes, "MUST_PASS_ALL") &&
        !slice_is(operation.as.bytes, "MUST_PASS_ONE"))
        return wants(making, 0, "FilterList::Operator::MUST_PASS_ALL or MUST_PASS_ONE");
    add(making, &operation);
    for (size_t i = first; i < count; i++)
        if (!add_member(making, &arguments[i], i))
            return false;
    return true;
}

/* ---- Comparators ----------------------------------------------------------------------------- */

static bool
make_comparator(struct making *making, const char *type, const struct value *arguments,
                size_t count)
{
    bool bits = strcmp(type, "bit") == 0, number = strcmp(type, "long") == 0;
    char before[32];
    petal_slice name;

    if (strcmp(type, "null") == 0 && count == 0) {
        add_text(making, "null:", (petal_slice){"", 0});
        return true;
    }
    /* RegexStringComparator may have flags behind its text: 2 is Pattern::CASE_INSENSITIVE. */
    if (strcmp(type, "regexstring") == 0 && count == 2 && arguments[0].kind == VALUE_STRING &&
        arguments[1].kind == VALUE_INTEGER &&
        (arguments[1].as.integer == 0 || arguments[1].as.integer == 2)) {
        add_text(making, arguments[1].as.integer == 2 ? "regexstringnocase:" : "regexstring:",
                 arguments[0].as.bytes);
        return true;
    }
    if (count != (bits ? 2u : 1u) || arguments[0].kind != (number ? VALUE_INTEGER : VALUE_STRING))
        return wants(making, 0, number ? "a number" : "a text, and nothing else with it");
    (void)snprintf(before, sizeof(before), "%s:", type);
    if (bits) {
        name = arguments[1].kind == VALUE_OBJECT && arguments[1].count == 2 &&
                       arguments[1].as.items[1].kind == VALUE_SYMBOL
                   ? arguments[1].as.items[1].as.bytes
                   : (petal_slice){"", 0};
        if (!slice_is(name, "AND") && !slice_is(name, "OR") && !slice_is(name, "XOR"))
            return wants(making, 1, "BitComparator::BitwiseOp::AND, OR or XOR");
        (void)snprintf(before, sizeof(before), "bit%s:",
                       slice_is(name, "AND")  ? "and"
                       : slice_is(name, "OR") ? "or"
                                              : "xor");
    }
    add_text(making, before, value_to_bytes(&making->session->arena, &arguments[0]));
    return true;
}

/* ---- Making objects -------------------------------------------------------------------------- */

/* What HBase's objects have without being told: the column may be missing, only its newest version
 * counts. */
static void
add_defaults(struct making *making, petal_slice name)
{
    const struct value if_missing = value_boolean(false), latest_only = value_boolean(true);

    if (!slice_is(name, "SingleColumnValueFilter") &&
        !slice_is(name, "SingleColumnValueExcludeFilter"))
        return;
    add(making, &if_missing);
    add(making, &latest_only);
}

static bool
add_items(struct making *making, petal_slice name, const struct value *arguments, size_t count)
{
    const struct filter_class *class = find_class(name);

    for (size_t i = 0; i < COUNT_OF(comparators); i++)
        if (slice_is(name, comparators[i].name))
            return make_comparator(making, comparators[i].type, arguments, count);
    if (class == NULL) {
        (void)session_fail(making->session, SHELL_USAGE, "%s has no constructor here",
                           making->class);
        return false;
    }
    if (slice_is(name, "FilterList"))
        return add_members(making, arguments, count);
    if (slice_is(name, "SkipFilter") || slice_is(name, "WhileMatchFilter"))
        return count == 1 ? add_member(making, &arguments[0], 0) : wants(making, 0, "one filter");
    if (!add_arguments(making, class, arguments, count))
        return false;
    add_defaults(making, name);
    return true;
}

enum shell_status
filter_object_new(struct session *session, const struct value *class, const struct value *arguments,
                  size_t count, struct value *object)
{
    petal_slice name = class_simple_name(class->as.bytes);
    struct value bytes = value_string(name);
    struct making making = {.session = session,
                            .class = value_to_string(&session->arena, &bytes),
                            .object = {.kind = VALUE_OBJECT}};
    petal_filter *filter = NULL;
    enum shell_status status;

    text_clear(&session->message);
    add(&making, class);
    if (!add_items(&making, name, arguments, count))
        return SHELL_USAGE;
    *object = making.object;
    if (session->db == NULL || is_comparator(object) ||
        (slice_is(name, "FilterList") && object->count == 2))
        return SHELL_FINE;
    /* What the library refuses is told here and not by the read that has the filter. */
    status = filter_object_make(session, object, &filter);
    petal_filter_free(filter);
    return status;
}

bool
filter_object_set(struct session *session, struct value *object, petal_slice method,
                  const struct value *arguments, size_t count)
{
    petal_slice name = class_of(object);
    bool single = slice_is(name, "SingleColumnValueFilter") ||
                  slice_is(name, "SingleColumnValueExcludeFilter");
    bool missing = slice_is(method, "setFilterIfMissing") ||
                   slice_is(method, "set_filter_if_missing") ||
                   slice_is(method, "filterIfMissing=");
    bool latest =
        slice_is(method, "setLatestVersionOnly") || slice_is(method, "set_latest_version_only");
    struct making making = {.session = session, .class = "addFilter", .object = *object};

    text_clear(&session->message);
    if (single && (missing || latest)) {
        if (count != 1 || arguments[0].kind != VALUE_BOOLEAN) {
            (void)session_fail(session, SHELL_USAGE, "%.*s wants true or false", SLICE(method));
            return true;
        }
        object->as.items[object->count - (missing ? 2 : 1)] = arguments[0];
        return true;
    }
    if (!slice_is(name, "FilterList") ||
        (!slice_is(method, "addFilter") && !slice_is(method, "add_filter")))
        return false;
    if (object->count > 0)
        making.object.as.items =
            arena_copy(&session->arena, object->as.items, object->count * sizeof(struct value));
    making.capacity = object->count;
    for (size_t i = 0; i < count; i++)
        if (!add_member(&making, &arguments[i], i))
            return true;
    *object = making.object;
    return true;
}

/* ---- The library's filters ------------------------------------------------------------------- */

static petal_filter_argument
argument_of(const struct value *value)
{
    petal_filter_argument argument = {.kind = PETAL_FILTER_OPEN};

    switch (value->kind) {
    case VALUE_STRING:
        argument.kind = PETAL_FILTER_BYTES;
        argument.bytes = value->as.bytes;
        break;
    case VALUE_INTEGER:
        argument.kind = PETAL_FILTER_NUMBER;
        argument.number = value->as.integer;
        break;
    case VALUE_BOOLEAN:
        argument.kind = PETAL_FILTER_BOOLEAN;
        argument.number = value->as.boolean;
        break;
    case VALUE_SYMBOL:
        argument.kind = PETAL_FILTER_COMPARE;
        for (size_t i = 0; i < COUNT_OF(comparisons); i++)
            if (slice_is(value->as.bytes, comparisons[i].name))
                argument.number = comparisons[i].compare;
        break;
    case VALUE_NIL:
    case VALUE_FLOAT:
    case VALUE_ARRAY:
    case VALUE_HASH:
    case VALUE_RANGE:
    case VALUE_TABLE:
    case VALUE_CLASS:
    case VALUE_OBJECT:
        break;
    }
    return argument;
}

static enum shell_status
make_one(struct session *session, const struct value *object, petal_filter **filter)
{
    petal_filter_argument *arguments =
        arena_allocate(&session->arena, object->count * sizeof(*arguments));
    struct value name = value_string(class_of(object));
    petal_error error;

    for (size_t i = 1; i < object->count; i++)
        arguments[i - 1] = argument_of(&object->as.items[i]);
    if (petal_filter_make(session->db, value_to_string(&session->arena, &name), arguments,
                          object->count - 1, filter, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

static enum shell_status
make_combination(struct session *session, const struct value *object, petal_filter **filter)
{
    bool list = slice_is(class_of(object), "FilterList");
    size_t first = list ? 2 : 1, made = 0;
    petal_filter **members =
        arena_allocate(&session->arena, object->count * sizeof(petal_filter *));
    enum shell_status status = SHELL_FINE;
    petal_error error;

    for (size_t i = first; i < object->count && status == SHELL_FINE; i++) {
        status = filter_object_make(session, &object->as.items[i], &members[made]);
        made += status == SHELL_FINE;
    }
    if (status == SHELL_FINE &&
        petal_filter_combine(session->db,
                             !list ? (slice_is(class_of(object), "SkipFilter") ? PETAL_FILTER_SKIP
                                                                               : PETAL_FILTER_WHILE)
                             : slice_is(object->as.items[1].as.bytes, "MUST_PASS_ALL")
                                 ? PETAL_FILTER_AND
                                 : PETAL_FILTER_OR,
                             members, made, filter, &error) != PETAL_OK)
        status = session_fail_petal(session, &error);
    while (made > 0)
        petal_filter_free(members[--made]); /* the combination keeps them */
    return status;
}

enum shell_status
filter_object_make(struct session *session, const struct value *object, petal_filter **filter)
{
    petal_slice name = class_of(object);

    if (!is_filter(object))
        return session_fail(session, SHELL_USAGE, "%.*s is no filter",
                            SLICE_UP_TO(80, value_to_bytes(&session->arena, object)));
    /* How deep an object may nest the library says when filter_object_new tries it. */
    if (slice_is(name, "FilterList") || slice_is(name, "SkipFilter") ||
        slice_is(name, "WhileMatchFilter"))
        return make_combination(session, object, filter);
    return make_one(session, object, filter);
}
