/* list_methods.c -- methods of arrays, hashes and ranges; see tools/shell/eval/call.h. */
#include "tools/shell/eval/call.h"
#include "tools/shell/eval/operator.h"
#include "tools/shell/eval/rounds.h"
#include "tools/shell/language/value_hash.h"
#include "tools/shell/language/value_index.h"

#include <stdlib.h>
#include <string.h>

static struct value
new_list(struct call *call, size_t count)
{
    struct value list = {.kind = VALUE_ARRAY};

    list.as.items = arena_allocate(&call->session->arena, count * sizeof(struct value));
    return list;
}

static bool
wants_shorter(struct call *call)
{
    return call_wants(call, "a shorter range: a list has at most ten million items");
}

/* Items of a list, or of a range that is written out; false: it is too long. */
static bool
items_of(struct call *call, struct value *list)
{
    size_t capacity = 0;
    struct rounds rounds;
    struct value item;
    uint64_t count;

    if (call->receiver->kind == VALUE_ARRAY) {
        *list = *call->receiver;
        return true;
    }
    *list = (struct value){.kind = VALUE_ARRAY};
    if (!rounds_begin(&rounds, call->receiver, &call->complaint))
        return false;
    if (rounds_count(&rounds, &count) && count > MOST_ITEMS)
        return wants_shorter(call);
    while (rounds_next(&rounds, &call->session->arena, &item)) {
        if (list->count == MOST_ITEMS) {
            rounds_end(&rounds);
            return wants_shorter(call);
        }
        value_list_add(&call->session->arena, list, &capacity, &item);
    }
    rounds_end(&rounds);
    return true;
}

/* ---- Arrays and ranges ----------------------------------------------------------------------- */

static bool
run_size(struct call *call)
{
    *call->value = value_integer((int64_t)call->receiver->count);
    return true;
}

/* Numbers are counted without being written out. */
static bool
run_size_of_range(struct call *call)
{
    struct rounds rounds;
    struct value list;
    uint64_t count;
    bool counted;

    if (!rounds_begin(&rounds, call->receiver, &call->complaint))
        return false;
    counted = rounds_count(&rounds, &count);
    rounds_end(&rounds);
    if (!counted) {
        if (!items_of(call, &list))
            return false;
        count = list.count;
    }
    if (count > INT64_MAX)
        return complain(&call->complaint, "RangeError", "the result does not fit into 64 bits");
    *call->value = value_integer((int64_t)count);
    return true;
}

static bool
run_empty(struct call *call)
{
    return call_gives_boolean(call, call->receiver->count == 0);
}

static bool
run_to_a(struct call *call)
{
    return items_of(call, call->value);
}

/* The first or last item, or so many of them. */
static bool
run_first(struct call *call)
{
    bool first = slice_is(call->name, "first");
    struct value list;
    size_t count;

    if (call->count == 0 && call->receiver->kind == VALUE_RANGE) {
        *call->value = call->receiver->as.items[first ? 0 : 1];
        return true;
    }
    if (!items_of(call, &list) || (call->count == 1 && !call_wants_integer(call, 0)))
        return false;
    if (call->count == 0) {
        *call->value = list.count == 0 ? value_nil() : list.as.items[first ? 0 : list.count - 1];
        return true;
    }
    if (call->arguments[0].as.integer < 0)
        return call_wants(call, "a number of items");
    count = (uint64_t)call->arguments[0].as.integer < list.count
                ? (size_t)call->arguments[0].as.integer
                : list.count;
    *call->value = list;
    call->value->count = count;
    if (!first)
        call->value->as.items += list.count - count;
    return true;
}

static bool
run_include(struct call *call)
{
    const struct value *wanted = &call->arguments[0];
    int order;

    if (call->receiver->kind == VALUE_RANGE)
        return call_gives_boolean(call, range_includes(call->receiver, wanted));
    for (size_t i = 0; i < call->receiver->count; i++)
        if (value_equal(&call->receiver->as.items[i], wanted) ||
            (values_compare(&call->receiver->as.items[i], wanted, &order) && order == 0))
            return call_gives_boolean(call, true);
    return call_gives_boolean(call, false);
}

static void
join(struct text *text, const struct value *list, petal_slice between, bool *first)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->as.items[i].kind == VALUE_ARRAY) {
            join(text, &list->as.items[i], between, first);
            continue;
        }
        if (!*first)
            text_add_slice(text, between);
        value_to_text(text, &list->as.items[i]);
        *first = false;
    }
}

static bool
run_join(struct call *call)
{
    petal_slice between = {"", 0};
    struct text text = {0};
    struct value list;
    bool first = true;

    if ((call->count == 1 && !call_wants_text(call, 0)) || !items_of(call, &list))
        return false;
    if (call->count == 1)
        between = call->arguments[0].as.bytes;
    join(&text, &list, between, &first);
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

static bool
run_reverse(struct call *call)
{
    struct value list;

    if (!items_of(call, &list))
        return false;
    *call->value = new_list(call, list.count);
    for (size_t i = list.count; i > 0; i--)
        call->value->as.items[call->value->count++] = list.as.items[i - 1];
    return true;
}

static int
compare_items(const void *a, const void *b)
{
    int order = 0;

    (void)values_compare(a, b, &order);
    return order;
}

static bool
run_sort(struct call *call)
{
    struct value list;
    int order;

    if (!items_of(call, &list))
        return false;
    for (size_t i = 1; i < list.count; i++)
        if (!values_compare(&list.as.items[0], &list.as.items[i], &order))
            return call_wants(call, "items of one kind, all numbers or all texts");
    *call->value = new_list(call, list.count);
    call->value->count = list.count;
    if (list.count > 0)
        memcpy(call->value->as.items, list.as.items, list.count * sizeof(struct value));
    if (list.count > 1)
        qsort(call->value->as.items, list.count, sizeof(struct value), compare_items);
    return true;
}

/* The least or the greatest; nil of nothing. */
static bool
run_extreme(struct call *call)
{
    struct value sorted = value_nil();
    struct value *value = call->value;

    call->value = &sorted;
    if (!run_sort(call))
        return false;
    call->value = value;
    if (sorted.count > 0)
        *value = sorted.as.items[slice_is(call->name, "min") ? 0 : sorted.count - 1];
    return true;
}

static bool
run_sum(struct call *call)
{
    struct value list;

    if (!items_of(call, &list))
        return false;
    *call->value = value_integer(0);
    for (size_t i = 0; i < list.count; i++) {
        struct value left = *call->value;

        if (!operator_apply(&call->session->arena, slice_of_string("+"), &left, &list.as.items[i],
                            call->value, &call->complaint))
            return false;
    }
    return true;
}

static bool
run_uniq(struct call *call)
{
    const struct value *list = call->receiver;
    struct value_index *index = value_index_new(&call->session->arena, list->count);
    struct value kept = new_list(call, list->count);

    for (size_t i = 0; i < list->count; i++) {
        const struct value *item = &list->as.items[i];

        if (value_index_find(index, kept.as.items, sizeof(*item), item) != SIZE_MAX)
            continue;
        kept.as.items[kept.count] = *item;
        value_index_add(index, kept.as.items, sizeof(*item), kept.count++);
    }
    *call->value = kept;
    return true;
}

static bool
run_push(struct call *call)
{
    const struct value added = {
        .kind = VALUE_ARRAY, .count = call->count, .as.items = (void *)(uintptr_t)call->arguments};

    if (!operator_apply(&call->session->arena, slice_of_string("+"), call->receiver, &added,
                        call->value, &call->complaint))
        return false;
    *call->receiver = *call->value;
    call->changed = true;
    return true;
}

/* Numbers as bytes, big-endian: C of one, n and S> of two, N and L> of four, Q> of eight. */
static bool
run_pack(struct call *call)
{
    struct text text = {0};
    size_t used = 0;
    petal_slice pattern;

    if (!call_wants_text(call, 0))
        return false;
    pattern = call->arguments[0].as.bytes;
    for (size_t i = 0; i < pattern.size; i++) {
        char letter = ((const char *)pattern.data)[i];
        bool big = i + 1 < pattern.size && ((const char *)pattern.data)[i + 1] == '>';
        size_t bytes = letter == 'C' || letter == 'c'                   ? 1
                       : letter == 'n' || (big && strchr("Ss", letter)) ? 2
                       : letter == 'N' || (big && strchr("Ll", letter)) ? 4
                       : big && (letter == 'Q' || letter == 'q')        ? 8
                                                                        : 0;
        int64_t number;

        if (bytes == 0 || used == call->receiver->count ||
            !value_to_integer(&call->receiver->as.items[used++], &number)) {
            text_free(&text);
            return call_wants(call, "C n N S> L> Q>, one for each number of the list");
        }
        i += big;
        for (size_t k = bytes; k > 0; k--) {
            char byte = (char)((uint64_t)number >> (8 * (k - 1)) & 0xff);

            text_add(&text, &byte, 1);
        }
    }
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

static bool
run_keys(struct call *call)
{
    const struct value *hash = call->receiver;

    *call->value = new_list(call, hash->count);
    for (size_t i = 0; i < hash->count; i++)
        call->value->as.items[call->value->count++] =
            slice_is(call->name, "keys") ? hash->as.pairs[i].key : hash->as.pairs[i].value;
    return true;
}

static bool
run_has_key(struct call *call)
{
    return call_gives_boolean(call, value_hash_find(call->receiver, &call->arguments[0]) != NULL);
}

static bool
run_merge(struct call *call)
{
    const struct value *a = call->receiver, *b = &call->arguments[0];

    if (b->kind != VALUE_HASH)
        return call_wants(call, "a hash");
    *call->value = (struct value){.kind = VALUE_HASH};
    call->value->as.pairs =
        arena_allocate(&call->session->arena, (a->count + b->count) * sizeof(struct value_pair));
    for (size_t i = 0; i < a->count; i++)
        value_hash_set(call->value, &a->as.pairs[i].key, &a->as.pairs[i].value);
    for (size_t i = 0; i < b->count; i++)
        value_hash_set(call->value, &b->as.pairs[i].key, &b->as.pairs[i].value);
    return true;
}

const struct method methods_of_lists[] = {
    {"add", 1, 1, run_push},
    {"count", 0, 0, run_size},
    {"empty?", 0, 0, run_empty},
    {"first", 0, 1, run_first},
    {"include?", 1, 1, run_include},
    {"join", 0, 1, run_join},
    {"last", 0, 1, run_first},
    {"length", 0, 0, run_size},
    {"max", 0, 0, run_extreme},
    {"min", 0, 0, run_extreme},
    {"pack", 1, 1, run_pack},
    {"push", 1, 1000, run_push},
    {"reverse", 0, 0, run_reverse},
    {"size", 0, 0, run_size},
    {"sort", 0, 0, run_sort},
    {"sum", 0, 0, run_sum},
    {"to_a", 0, 0, run_to_a},
    {"uniq", 0, 0, run_uniq},
    {NULL, 0, 0, NULL},
};

const struct method methods_of_ranges[] = {
    {"count", 0, 0, run_size_of_range},
    {"first", 0, 1, run_first},
    {"include?", 1, 1, run_include},
    {"join", 0, 1, run_join},
    {"last", 0, 1, run_first},
    {"max", 0, 0, run_extreme},
    {"min", 0, 0, run_extreme},
    {"reverse", 0, 0, run_reverse},
    {"size", 0, 0, run_size_of_range},
    {"sort", 0, 0, run_sort},
    {"sum", 0, 0, run_sum},
    {"to_a", 0, 0, run_to_a},
    {NULL, 0, 0, NULL},
};

const struct method methods_of_hashes[] = {
    {"count", 0, 0, run_size},   {"empty?", 0, 0, run_empty}, {"has_key?", 1, 1, run_has_key},
    {"key?", 1, 1, run_has_key}, {"keys", 0, 0, run_keys},    {"length", 0, 0, run_size},
    {"merge", 1, 1, run_merge},  {"size", 0, 0, run_size},    {"values", 0, 0, run_keys},
    {NULL, 0, 0, NULL},
};
