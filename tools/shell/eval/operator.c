/* operator.c -- see tools/shell/eval/operator.h. */
#include "tools/shell/eval/operator.h"

#include "tools/shell/eval/directive.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool
is_number(const struct value *value)
{
    return value->kind == VALUE_INTEGER || value->kind == VALUE_FLOAT;
}

static double
as_float(const struct value *value)
{
    return value->kind == VALUE_FLOAT ? value->as.number : (double)value->as.integer;
}

static bool
complain_operands(struct complaint *complaint, petal_slice operator, const struct value * left,
                  const struct value *right)
{
    if (left->kind == VALUE_STRING && slice_is(operator, "+"))
        return complain(complaint, "TypeError",
                        "no implicit conversion of %s into String: write \"#{..}\", or .to_s",
                        value_class(right));
    return complain(complaint, "TypeError", "there is no %s %.*s %s", value_class(left),
                    SLICE_UP_TO(8, operator), value_class(right));
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool
too_large(struct complaint *complaint)
{
    return complain(complaint, "RangeError", "the result does not fit into 64 bits");
}

/* Rounded down, as Ruby divides; the remainder has the divisor's sign. */
static bool
divide(int64_t a, int64_t b, bool modulo, int64_t *result, struct complaint *complaint)
{
    int64_t remainder;

    if (b == 0)
        return complain(complaint, "ZeroDivisionError", "divided by 0");
    if (a == INT64_MIN && b == -1) {
        *result = 0;
        return modulo || too_large(complaint);
    }
    remainder = a % b;
    if (modulo)
        *result = remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
    else
        *result = a / b - (remainder != 0 && (remainder < 0) != (b < 0));
    return true;
}

static bool
power(int64_t base, int64_t exponent, int64_t *result, struct complaint *complaint)
{
    *result = 1;
    if (exponent < 0)
        return complain(complaint, "RangeError", "there are no fractions; write 2.0 ** -1");
    if (base == 0 || base == 1 || base == -1) {
        *result = exponent == 0 || base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base;
        return true;
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(*result, base, result))
            return too_large(complaint);
    return true;
}

static bool
shift(int64_t number, int64_t bits, int64_t *result, struct complaint *complaint)
{
    if (bits >= 0 && bits < 63)
        return !__builtin_mul_overflow(number, (int64_t)1 << bits, result) || too_large(complaint);
    if (bits > 0 && number != 0)
        return too_large(complaint);
    *result = bits > 0 ? 0 : number >> (bits < -63 ? 63 : -bits);
    return true;
}

static bool
apply_integers(petal_slice operator, int64_t a, int64_t b, struct value *value,
               struct complaint *complaint)
{
    int64_t result = 0;
    bool good = true;

    if (slice_is(operator, "+"))
        good = !__builtin_add_overflow(a, b, &result) || too_large(complaint);
    else if (slice_is(operator, "-"))
        good = !__builtin_sub_overflow(a, b, &result) || too_large(complaint);
    else if (slice_is(operator, "*"))
        good = !__builtin_mul_overflow(a, b, &result) || too_large(complaint);
    else if (slice_is(operator, "/") || slice_is(operator, "%"))
        good = divide(a, b, slice_is(operator, "%"), &result, complaint);
    else if (slice_is(operator, "**"))
        good = power(a, b, &result, complaint);
    else if (slice_is(operator, "<<") || slice_is(operator, ">>"))
        good = b == INT64_MIN ? too_large(complaint)
                              : shift(a, slice_is(operator, "<<") ? b : -b, &result, complaint);
    else if (slice_is(operator, "&"))
        result = a & b;
    else if (slice_is(operator, "|"))
        result = a | b;
    else if (slice_is(operator, "^"))
        result = a ^ b;
    else
        return complain(complaint, "TypeError", "there is no %.*s of numbers",
                        SLICE_UP_TO(8, operator));
    *value = value_integer(result);
    return good;
}

static bool
apply_floats(petal_slice operator, double a, double b, struct value *value,
             struct complaint *complaint)
{
    double result;

    if (slice_is(operator, "+"))
        result = a + b;
    else if (slice_is(operator, "-"))
        result = a - b;
    else if (slice_is(operator, "*"))
        result = a * b;
    else if (slice_is(operator, "/"))
        result = a / b;
    else if (slice_is(operator, "%"))
        result = a - b * floor(a / b);
    else if (slice_is(operator, "**"))
        result = pow(a, b);
    else
        return complain(complaint, "TypeError", "there is no %.*s of numbers with a fraction",
                        SLICE_UP_TO(8, operator));
    *value = (struct value){.kind = VALUE_FLOAT, .as.number = result};
    return true;
}

bool
operator_negate(const struct value *operand, struct value *value, struct complaint *complaint)
{
    if (operand->kind == VALUE_FLOAT) {
        *value = (struct value){.kind = VALUE_FLOAT, .as.number = -operand->as.number};
        return true;
    }
    if (operand->kind != VALUE_INTEGER)
        return complain(complaint, "TypeError", "there is no - of %s", value_class(operand));
    if (operand->as.integer == INT64_MIN)
        return too_large(complaint);
    *value = value_integer(-operand->as.integer);
    return true;
}

/* ---- Texts and lists ------------------------------------------------------------------------- */

static bool
too_long(struct complaint *complaint)
{
    return complain(complaint, "ArgumentError", "a text has at most 64 MB");
}

static bool
too_many(struct complaint *complaint)
{
    return complain(complaint, "ArgumentError", "a list has at most %d items", MOST_ITEMS);
}

bool
operator_may_keep(const struct value *value, unsigned around, struct complaint *complaint)
{
    return value_nests_at_most(value, VALUE_MOST_DEPTH - around) ||
           complain(complaint, "ArgumentError",
                    "lists and hashes in one another are at most %d deep", VALUE_MOST_DEPTH);
}

bool
operator_may_append(const struct value *to, const struct value *items, size_t count,
                    struct complaint *complaint)
{
    if (to->kind == VALUE_ARRAY) {
        for (size_t i = 0; i < count; i++)
            if (!operator_may_keep(&items[i], 1, complaint))
                return false;
        return to->count + count <= MOST_ITEMS || too_many(complaint);
    }
    assert(to->kind == VALUE_STRING && count == 1);
    if (items->kind != VALUE_STRING)
        return complain_operands(complaint, slice_of_string("<<"), to, items);
    return to->as.bytes.size + items->as.bytes.size <= MOST_BYTES || too_long(complaint);
}

static bool
join_bytes(struct arena *arena, petal_slice a, petal_slice b, struct value *value,
           struct complaint *complaint)
{
    char *bytes;

    if (a.size + b.size > MOST_BYTES)
        return too_long(complaint);
    bytes = arena_allocate(arena, a.size + b.size);
    if (a.size > 0)
        memcpy(bytes, a.data, a.size);
    if (b.size > 0)
        memcpy(bytes + a.size, b.data, b.size);
    *value = value_string((petal_slice){bytes, a.size + b.size});
    return true;
}

static bool
join_lists(struct arena *arena, const struct value *left, const struct value *items, size_t count,
           struct value *value, struct complaint *complaint)
{
    if (left->count + count > MOST_ITEMS)
        return too_many(complaint);
    *value = (struct value){.kind = VALUE_ARRAY, .count = left->count + count};
    value->as.items = arena_allocate(arena, value->count * sizeof(struct value));
    if (left->count > 0)
        memcpy(value->as.items, left->as.items, left->count * sizeof(struct value));
    if (count > 0)
        memcpy(value->as.items + left->count, items, count * sizeof(struct value));
    return true;
}

/* So many times the text or the list. */
static bool
repeat(struct arena *arena, const struct value *left, int64_t times, struct value *value,
       struct complaint *complaint)
{
    bool text = left->kind == VALUE_STRING;
    size_t count = text ? left->as.bytes.size : left->count, most = text ? MOST_BYTES : MOST_ITEMS;
    size_t bytes = text ? count : count * sizeof(struct value);
    const void *from = text ? left->as.bytes.data : left->as.items;
    char *to;

    if (times < 0)
        return complain(complaint, "ArgumentError", "there is no %lld times", (long long)times);
    if (count > 0 && (uint64_t)times > most / count)
        return text ? too_long(complaint) : too_many(complaint);
    *value = *left;
    to = arena_allocate(arena, bytes * (size_t)times);
    for (size_t i = 0; bytes > 0 && i < (size_t)times; i++)
        memcpy(to + i * bytes, from, bytes);
    if (text)
        value->as.bytes = (petal_slice){to, bytes * (size_t)times};
    else
        value->as.items = (void *)to;
    value->count = left->count * (size_t)times;
    return true;
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

bool
values_compare(const struct value *a, const struct value *b, int *order)
{
    if (is_number(a) && is_number(b)) {
        if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
            *order = (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
        else
            *order = (as_float(a) > as_float(b)) - (as_float(a) < as_float(b));
        return true;
    }
    if (a->kind != b->kind || (a->kind != VALUE_STRING && a->kind != VALUE_SYMBOL))
        return false;
    *order = slices_compare(a->as.bytes, b->as.bytes);
    return true;
}

bool
range_includes(const struct value *range, const struct value *value)
{
    int from, to;

    return values_compare(value, &range->as.items[0], &from) &&
           values_compare(value, &range->as.items[1], &to) && from >= 0 &&
           (range->exclusive ? to < 0 : to <= 0);
}

static bool
is_equal(const struct value *left, const struct value *right)
{
    int order;

    return values_compare(left, right, &order) ? order == 0 : value_equal(left, right);
}

/* True: the operator compares, and *value is what came of it or the complaint says what did not. */
static bool
apply_comparison(petal_slice operator, const struct value * left, const struct value *right,
                 struct value *value, struct complaint *complaint)
{
    bool comparable;
    int order = 0;

    if (slice_is(operator, "==") || slice_is(operator, "!=")) {
        *value = value_boolean(is_equal(left, right) == slice_is(operator, "=="));
        return true;
    }
    if (slice_is(operator, "===")) {
        *value = value_boolean(left->kind == VALUE_RANGE ? range_includes(left, right)
                                                         : is_equal(left, right));
        return true;
    }
    if (!slice_is(operator, "<") && !slice_is(operator, "<=") && !slice_is(operator, ">") &&
        !slice_is(operator, ">=") && !slice_is(operator, "<=>"))
        return false;
    comparable = values_compare(left, right, &order);
    if (slice_is(operator, "<=>")) {
        *value = comparable ? value_integer((order > 0) - (order < 0)) : value_nil();
    } else if (!comparable) {
        (void)complain(complaint, "ArgumentError", "comparison of %s with %s failed",
                       value_class(left), value_class(right));
    } else {
        bool less = *(const char *)operator.data == '<', equal = operator.size == 2;

        *value = value_boolean((equal && order == 0) || (less ? order < 0 : order > 0));
    }
    return true;
}

static bool
make_range(struct arena *arena, petal_slice operator, const struct value * left,
           const struct value *right, struct value *value, struct complaint *complaint)
{
    int order;

    if (!values_compare(left, right, &order))
        return complain(complaint, "ArgumentError",
                        "a range goes from a number or text to "
                        "another, not from %s to %s",
                        value_class(left), value_class(right));
    *value =
        (struct value){.kind = VALUE_RANGE, .count = 2, .exclusive = slice_is(operator, "...")};
    value->as.items = arena_allocate(arena, 2 * sizeof(struct value));
    value->as.items[0] = *left;
    value->as.items[1] = *right;
    return true;
}

/* Seconds before or behind a time, or from one to the other. */
static bool
apply_time(struct arena *arena, petal_slice operator, const struct value * left,
           const struct value *right, struct value *value, struct complaint *complaint)
{
    int64_t begin = left->as.items[1].as.integer, moved, sum;
    bool minus = slice_is(operator, "-");
    double milliseconds;

    if (minus && value_is_time(right)) {
        milliseconds = (double)begin - (double)right->as.items[1].as.integer;
        *value = (struct value){.kind = VALUE_FLOAT, .as.number = milliseconds / 1e3};
        return true;
    }
    if (!is_number(right) || (!minus && !slice_is(operator, "+")))
        return complain(complaint, "TypeError",
                        "a time takes + or - and a number of seconds, or - and another time");
    milliseconds = round(as_float(right) * 1e3);
    if (!(fabs(milliseconds) < 9e18))
        return too_large(complaint);
    moved = (int64_t)milliseconds;
    if (minus ? __builtin_sub_overflow(begin, moved, &sum)
              : __builtin_add_overflow(begin, moved, &sum))
        return too_large(complaint);
    *value = *left;
    value->as.items = arena_copy(arena, left->as.items, left->count * sizeof(struct value));
    value->as.items[1] = value_integer(sum);
    return true;
}

bool
operator_apply(struct arena *arena, petal_slice operator, const struct value * left,
               const struct value *right, struct value *value, struct complaint *complaint)
{
    bool text = left->kind == VALUE_STRING, list = left->kind == VALUE_ARRAY;

    if (slice_is(operator, "..") || slice_is(operator, "..."))
        return make_range(arena, operator, left, right, value, complaint);
    if (apply_comparison(operator, left, right, value, complaint))
        return complaint->kind == NULL;
    if (left->kind == VALUE_INTEGER && right->kind == VALUE_INTEGER)
        return apply_integers(operator, left->as.integer, right->as.integer, value, complaint);
    if (is_number(left) && is_number(right))
        return apply_floats(operator, as_float(left), as_float(right), value, complaint);
    if (value_is_time(left))
        return apply_time(arena, operator, left, right, value, complaint);
    if (text && right->kind == VALUE_STRING &&
        (slice_is(operator, "+") || slice_is(operator, "<<")))
        return join_bytes(arena, left->as.bytes, right->as.bytes, value, complaint);
    if (text && slice_is(operator, "%"))
        return directives_fill(arena, left->as.bytes,
                               right->kind == VALUE_ARRAY ? right->as.items : right,
                               right->kind == VALUE_ARRAY ? right->count : 1, value, complaint);
    if (list && right->kind == VALUE_ARRAY && slice_is(operator, "+"))
        return join_lists(arena, left, right->as.items, right->count, value, complaint);
    if (list && slice_is(operator, "<<"))
        return join_lists(arena, left, right, 1, value, complaint);
    if ((text || list) && right->kind == VALUE_INTEGER && slice_is(operator, "*"))
        return repeat(arena, left, right->as.integer, value, complaint);
    return complain_operands(complaint, operator, left, right);
}
