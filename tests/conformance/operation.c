/* operation.c -- see tests/conformance/operation.h. */
#include "tests/conformance/operation.h"

#include <string.h>

#define MOST_MINOR_FILES 1000

/* ---- parts ---- */

static bool
take_time(struct reader *reader, bool may_be_now, int64_t *timestamp)
{
    if (!may_be_now || !reader_at_word(reader, "now"))
        return reader_take_number(reader, may_be_now ? "a time" : "a time (a number here)",
                                  timestamp);
    *timestamp = PETAL_LATEST;
    reader->token_next++;
    return true;
}

/* ---- items ---- */

static bool
read_put_item(struct reader *reader, struct recorded_item *item)
{
    item->kind = ITEM_PUT;
    return reader_take_string(reader, "a family", &item->family) &&
           reader_take_string(reader, "a qualifier", &item->qualifier) &&
           take_time(reader, true, &item->timestamp) &&
           reader_take_string(reader, "a value", &item->value);
}

static bool
read_change_item(struct reader *reader, enum mutation_kind kind, struct recorded_item *item)
{
    item->kind = kind == MUTATION_APPEND ? ITEM_APPEND : ITEM_INCREMENT;
    item->timestamp = PETAL_LATEST;
    if (!reader_take_string(reader, "a family", &item->family) ||
        !reader_take_string(reader, "a qualifier", &item->qualifier))
        return false;
    if (kind == MUTATION_APPEND)
        return reader_take_string(reader, "a value", &item->value);
    return reader_take_number(reader, "an amount", &item->amount);
}

static bool
read_delete_item(struct reader *reader, struct recorded_item *item)
{
    static const struct {
        const char *name;
        enum item_kind kind;
        bool has_family, has_qualifier, has_time, may_be_now;
    } forms[] = {{"version", ITEM_VERSION, true, true, true, false},
                 {"latest", ITEM_LATEST, true, true, false, false},
                 {"column", ITEM_COLUMN, true, true, true, true},
                 {"family", ITEM_FAMILY, true, false, true, true},
                 {"familyversion", ITEM_FAMILY_VERSION, true, false, true, false},
                 {"row", ITEM_ROW, false, false, true, true}};
    petal_slice word;
    size_t i = 0;

    if (!reader_take_word(reader, "what to delete", &word))
        return false;
    while (i < sizeof forms / sizeof *forms && !slice_is(word, forms[i].name))
        i++;
    if (i == sizeof forms / sizeof *forms)
        return reader_fail(reader, "'%.*s' is no item of a delete", (int)word.size,
                           (const char *)word.data);
    item->kind = forms[i].kind;
    item->timestamp = PETAL_LATEST;
    return (!forms[i].has_family || reader_take_string(reader, "a family", &item->family)) &&
           (!forms[i].has_qualifier ||
            reader_take_string(reader, "a qualifier", &item->qualifier)) &&
           (!forms[i].has_time || take_time(reader, forms[i].may_be_now, &item->timestamp));
}

/* Bring the last item to its place by family and qualifier, after its equals. */
static void
sort_last_item(struct recorded_mutation *mutation)
{
    for (size_t i = mutation->item_count - 1; i > 0; i--) {
        struct recorded_item *before = &mutation->items[i - 1], last = mutation->items[i];
        int order = slice_compare(before->family, last.family);

        if (order < 0 || (order == 0 && slice_compare(before->qualifier, last.qualifier) <= 0))
            return;
        mutation->items[i] = *before;
        *before = last;
    }
}

static bool
read_item(struct reader *reader, struct recorded_mutation *mutation)
{
    struct recorded_item item = {.kind = ITEM_PUT};
    bool fine;

    if (!reader_take_mark(reader, '{'))
        return false;
    if (mutation->kind == MUTATION_PUT)
        fine = read_put_item(reader, &item);
    else if (mutation->kind == MUTATION_DELETE)
        fine = read_delete_item(reader, &item);
    else
        fine = read_change_item(reader, mutation->kind, &item);
    if (!fine || !reader_take_mark(reader, '}'))
        return false;
    if (mutation->item_count > 0 && (item.kind == ITEM_ROW || mutation->items[0].kind == ITEM_ROW))
        return reader_fail(reader, "{row T} does not stand alone");
    mutation->items = arena_grow(reader->arena, mutation->items, mutation->item_count, sizeof item);
    mutation->items[mutation->item_count++] = item;
    if (item.kind == ITEM_APPEND || item.kind == ITEM_INCREMENT)
        sort_last_item(mutation);
    return true;
}

/* ---- mutations ---- */

static bool
read_mutation_option(struct reader *reader, struct recorded_mutation *mutation)
{
    petal_mutation_options *options = &mutation->options;
    bool reads = mutation->kind == MUTATION_APPEND || mutation->kind == MUTATION_INCREMENT;
    petal_slice name, value;
    bool has_value, twice = false;
    struct time_range range;

    if (!reader_take_option(reader, &name, &has_value, &value))
        return false;
    if (slice_is(name, "ttl") && has_value) {
        twice = options->has_ttl;
        options->has_ttl = true;
        if (!slice_number(value, &options->ttl_ms))
            return reader_fail(reader, "ttl= is not followed by a number");
    } else if (slice_is(name, "timerange") && has_value && reads) {
        twice = options->has_time_range;
        if (!time_range_read(reader, value, &range))
            return false;
        options->has_time_range = true;
        options->time_min = range.min;
        options->time_limit = range.limit;
    } else if (slice_is(name, "noresults") && !has_value && reads) {
        twice = options->no_results;
        options->no_results = true;
    } else {
        return reader_fail(reader, "'%.*s' is no option of this mutation", (int)name.size,
                           (const char *)name.data);
    }
    return !twice || reader_fail(reader, "the option '%.*s' is given twice", (int)name.size,
                                 (const char *)name.data);
}

static const char *const mutation_names[] = {"put", "delete", "append", "increment"};

static bool
is_mutation(petal_slice word)
{
    for (int i = 0; i < 4; i++) {
        if (slice_is(word, mutation_names[i]))
            return true;
    }
    return false;
}

/* A mutation whose first word is at hand. */
static bool
read_mutation(struct reader *reader, struct recorded_operation *operation)
{
    struct recorded_mutation *mutation;
    petal_slice word;

    if (!reader_take_word(reader, "put, delete, append or increment", &word))
        return false;
    if (!is_mutation(word))
        return reader_fail(reader, "'%.*s' is no mutation", (int)word.size,
                           (const char *)word.data);
    operation->mutations = arena_grow(reader->arena, operation->mutations,
                                      operation->mutation_count, sizeof *mutation);
    mutation = &operation->mutations[operation->mutation_count++];
    *mutation = (struct recorded_mutation){.options.size = sizeof mutation->options};
    while (!slice_is(word, mutation_names[mutation->kind]))
        mutation->kind++;
    if (!reader_take_string(reader, "a row", &mutation->row))
        return false;
    while (reader_peek(reader) != NULL && !reader_at_mark(reader, '{') &&
           !reader_at_mark(reader, ']')) {
        if (!read_mutation_option(reader, mutation))
            return false;
    }
    while (reader_peek(reader) != NULL && !reader_at_mark(reader, ']')) {
        if (!read_item(reader, mutation))
            return false;
    }
    return true;
}

static bool
read_bracketed_mutations(struct reader *reader, struct recorded_operation *operation)
{
    while (reader_peek(reader) != NULL) {
        const struct recorded_mutation *mutation;

        if (!reader_take_mark(reader, '[') || !read_mutation(reader, operation) ||
            !reader_take_mark(reader, ']'))
            return false;
        mutation = &operation->mutations[operation->mutation_count - 1];
        if ((operation->kind == OPERATION_BATCH || operation->kind == OPERATION_ATOMIC) &&
            mutation->kind != MUTATION_PUT && mutation->kind != MUTATION_DELETE)
            return reader_fail(reader, "batch and atomic take puts and deletes only");
    }
    return true;
}

/* ---- check and mutate ---- */

static bool
read_condition(struct reader *reader, struct recorded_condition *condition)
{
    petal_slice name, value, word;
    bool has_value;

    if (!reader_take_option(reader, &name, &has_value, &value))
        return false;
    if (has_value && (slice_is(name, "filter") || slice_is(name, "filterx"))) {
        condition->kind = CONDITION_FILTER;
        if (!recorded_filter_read(reader, name, &condition->filter))
            return false;
    } else if (!has_value && (slice_is(name, "absent") || slice_is(name, "value"))) {
        condition->kind = CONDITION_VALUE;
        if (!reader_take_string(reader, "a family", &condition->family) ||
            !reader_take_string(reader, "a qualifier", &condition->qualifier))
            return false;
        if (slice_is(name, "absent")) {
            condition->compare = PETAL_EQUAL; /* to nothing: HBase's absent is "none or empty" */
        } else {
            if (!reader_take_word(reader, "an operator", &word))
                return false;
            condition->compare = compare_of(word);
            if (condition->compare == 0)
                return reader_fail(reader, "'%.*s' is no operator", (int)word.size,
                                   (const char *)word.data);
            if (!reader_take_string(reader, "a value", &condition->value))
                return false;
        }
    } else {
        return reader_fail(reader, "a condition is absent, value, filter= or filterx=, not '%.*s'",
                           (int)name.size, (const char *)name.data);
    }
    if (reader_at_word(reader, "then"))
        return true;
    if (!reader_take_option(reader, &name, &has_value, &value))
        return false;
    if (!has_value || !slice_is(name, "timerange"))
        return reader_fail(reader, "a condition is followed by '%.*s', not timerange= or then",
                           (int)name.size, (const char *)name.data);
    return time_range_read(reader, value, &condition->time_range);
}

static bool
read_check(struct reader *reader, struct recorded_operation *operation)
{
    petal_slice word;

    if (!reader_take_string(reader, "a row", &operation->row) ||
        !read_condition(reader, &operation->condition))
        return false;
    if (!reader_at_word(reader, "then"))
        return reader_fail(reader, "then is missing");
    if (!reader_take_word(reader, "then", &word))
        return false;
    if (!reader_at_word(reader, "rowmutations"))
        return read_mutation(reader, operation);
    operation->action_is_row_mutations = true;
    return reader_take_word(reader, "rowmutations", &word) &&
           reader_take_string(reader, "a row", &operation->action_row) &&
           read_bracketed_mutations(reader, operation);
}

/* ---- operations ---- */

static bool
read_clock(struct reader *reader, struct recorded_operation *operation)
{
    return reader_take_number(reader, "the time", &operation->clock_ms);
}

static bool
read_minor(struct reader *reader, struct recorded_operation *operation)
{
    int64_t files;

    if (!reader_take_number(reader, "the number of files", &files))
        return false;
    if (files < 1 || files > MOST_MINOR_FILES)
        return reader_fail(reader, "minor merges 1 to %d files", MOST_MINOR_FILES);
    operation->files = (size_t)files;
    return true;
}

static bool
read_nothing(struct reader *reader, struct recorded_operation *operation)
{
    (void)reader;
    (void)operation;
    return true;
}

static bool
read_row_mutations(struct reader *reader, struct recorded_operation *operation)
{
    return reader_take_string(reader, "a row", &operation->row) &&
           read_bracketed_mutations(reader, operation);
}

static bool
read_get(struct reader *reader, struct recorded_operation *operation)
{
    return reader_take_string(reader, "a row", &operation->row) &&
           read_options_read(reader, false, &operation->read);
}

static bool
read_scan(struct reader *reader, struct recorded_operation *operation)
{
    return read_options_read(reader, true, &operation->read);
}

bool
operation_read(struct reader *reader, struct recorded_operation *operation)
{
    static const struct {
        const char *name;
        enum operation_kind kind;
        bool (*read)(struct reader *reader, struct recorded_operation *operation);
    } forms[] = {{"clock", OPERATION_CLOCK, read_clock},
                 {"flush", OPERATION_FLUSH, read_nothing},
                 {"compact", OPERATION_COMPACT, read_nothing},
                 {"minor", OPERATION_MINOR, read_minor},
                 {"reopen", OPERATION_REOPEN, read_nothing},
                 {"rowmutations", OPERATION_ROW_MUTATIONS, read_row_mutations},
                 {"batch", OPERATION_BATCH, read_bracketed_mutations},
                 {"atomic", OPERATION_ATOMIC, read_bracketed_mutations},
                 {"checkandmutate", OPERATION_CHECK, read_check},
                 {"get", OPERATION_GET, read_get},
                 {"scan", OPERATION_SCAN, read_scan}};
    const struct token *first = reader_peek(reader);
    petal_slice word;

    *operation = (struct recorded_operation){
        .kind = OPERATION_MUTATION, .line = reader->line, .text = reader->line_text};
    if (first->kind == TOKEN_WORD && is_mutation(first->text))
        return read_mutation(reader, operation) && reader_take_end(reader);
    if (!reader_take_word(reader, "an operation", &word))
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (slice_is(word, forms[i].name)) {
            operation->kind = forms[i].kind;
            return forms[i].read(reader, operation) && reader_take_end(reader);
        }
    }
    return reader_fail(reader, "'%.*s' is no operation", (int)word.size, (const char *)word.data);
}
