/* rounds.c -- see tools/shell/eval/rounds.h. */
#include "tools/shell/eval/rounds.h"

#include "tools/shell/eval/successor.h"

#include <stdio.h>

static bool
is_digits(petal_slice bytes)
{
    const char *letters = bytes.data;

    for (size_t i = 0; i < bytes.size; i++)
        if (letters[i] < '0' || letters[i] > '9')
            return false;
    return bytes.size > 0;
}

static int64_t
number_of(petal_slice digits)
{
    int64_t number = 0;

    for (size_t i = 0; i < digits.size; i++)
        number = 10 * number + ((const char *)digits.data)[i] - '0';
    return number;
}

void
rounds_begin_numbers(struct rounds *rounds, int64_t from, int64_t to, int64_t step)
{
    static const struct value numbers = {.kind = VALUE_RANGE};

    *rounds = (struct rounds){.values = &numbers, .number = from, .end = to, .step = step};
    rounds->over = step == 0 || (step > 0 ? from > to : from < to);
}

/* Of a range, whose end may be left out. */
static void
begin_numbers(struct rounds *rounds, int64_t from, int64_t to)
{
    bool exclusive = rounds->values->exclusive;

    rounds->number = from;
    rounds->step = 1;
    rounds->over = from > to || (exclusive && from == to);
    rounds->end = exclusive && !rounds->over ? to - 1 : to;
}

/* As Ruby: single letters go on by their bytes, numbers of digits as such, others as succ says. */
static void
begin_texts(struct rounds *rounds, petal_slice from, petal_slice to)
{
    const unsigned char *first = from.data, *last = to.data;
    int order = slices_compare(from, to);

    if (from.size == 1 && to.size == 1 && first[0] < 0x80 && last[0] < 0x80) {
        rounds->letters = true;
        begin_numbers(rounds, first[0], last[0]);
    } else if (is_digits(from) && is_digits(to) && from.size < 18 && to.size < 18) {
        rounds->digits = from.size;
        begin_numbers(rounds, number_of(from), number_of(to));
    } else {
        rounds->texts = true;
        text_add_slice(&rounds->text, from);
        rounds->over = order > 0 || (rounds->values->exclusive && order == 0);
    }
}

bool
rounds_begin(struct rounds *rounds, const struct value *values, struct complaint *complaint)
{
    const struct value *ends = values->as.items;
    int64_t end;

    *rounds = (struct rounds){.values = values};
    if (values->kind == VALUE_ARRAY || values->kind == VALUE_HASH)
        return true;
    if (values->kind != VALUE_RANGE)
        return complain(complaint, "NoMethodError", "%s has no items: a list or a range has them",
                        value_class(values));
    if (ends[0].kind == VALUE_STRING)
        begin_texts(rounds, ends[0].as.bytes, ends[1].as.bytes);
    else if (ends[0].kind == VALUE_INTEGER && ends[1].kind == VALUE_INTEGER)
        begin_numbers(rounds, ends[0].as.integer, ends[1].as.integer);
    else if (ends[0].kind == VALUE_INTEGER && value_to_integer(&ends[1], &end))
        begin_numbers(rounds, ends[0].as.integer, end);
    else
        return complain(complaint, "TypeError", "a range of %s has no items one after the other",
                        value_class(&ends[0]));
    return true;
}

bool
rounds_count(const struct rounds *rounds, uint64_t *count)
{
    *count = rounds->over ? 0 : (uint64_t)rounds->end - (uint64_t)rounds->number;
    if (!rounds->over && *count < UINT64_MAX)
        ++*count;
    return !rounds->texts;
}

static void
next_number(struct rounds *rounds, struct arena *arena, struct value *item)
{
    char shown[40];

    if (rounds->letters) {
        shown[0] = (char)rounds->number;
        *item = value_string_copy(arena, (petal_slice){shown, 1});
    } else if (rounds->digits > 0) {
        (void)snprintf(shown, sizeof(shown), "%0*lld", (int)rounds->digits,
                       (long long)rounds->number);
        *item = value_string_copy(arena, slice_of_string(shown));
    } else {
        *item = value_integer(rounds->number);
    }
    rounds->over = __builtin_add_overflow(rounds->number, rounds->step, &rounds->number) ||
                   (rounds->step > 0 ? rounds->number > rounds->end : rounds->number < rounds->end);
}

/* Up to the end, or until texts get longer than it. */
static void
next_text(struct rounds *rounds, struct arena *arena, struct value *item)
{
    petal_slice end = rounds->values->as.items[1].as.bytes, now = text_slice(&rounds->text);
    bool last = slices_equal(now, end);

    *item = value_string_copy(arena, now);
    text_succeed(&rounds->text);
    now = text_slice(&rounds->text);
    rounds->over = last || now.size > end.size || now.size == 0 ||
                   (rounds->values->exclusive && slices_equal(now, end));
}

bool
rounds_next(struct rounds *rounds, struct arena *arena, struct value *item)
{
    const struct value *values = rounds->values;

    if (values->kind == VALUE_RANGE) {
        if (rounds->over)
            return false;
        (rounds->texts ? next_text : next_number)(rounds, arena, item);
        return true;
    }
    if (rounds->next == values->count)
        return false;
    if (values->kind == VALUE_ARRAY) {
        *item = values->as.items[rounds->next++];
        return true;
    }
    *item = (struct value){.kind = VALUE_ARRAY, .count = 2};
    item->as.items = arena_allocate(arena, 2 * sizeof(struct value));
    item->as.items[0] = values->as.pairs[rounds->next].key;
    item->as.items[1] = values->as.pairs[rounds->next++].value;
    return true;
}

void
rounds_end(struct rounds *rounds)
{
    text_free(&rounds->text);
}
