/* number_methods.c -- methods of numbers; see tools/shell/eval/call.h. */
#include "tools/shell/eval/call.h"
#include "tools/shell/eval/operator.h"

#include <math.h>

static bool
give_integer(struct call *call, int64_t integer)
{
    *call->value = value_integer(integer);
    return true;
}

static bool
wants_integer(struct call *call)
{
    return call->receiver->kind == VALUE_INTEGER || call_wants(call, "a number without a fraction");
}

/* To another base than ten. */
static bool
run_to_s(struct call *call)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    int64_t integer = call->receiver->as.integer;
    uint64_t rest = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    char shown[66];
    size_t begin = sizeof(shown);
    unsigned base;

    if (call->receiver->kind == VALUE_FLOAT) {
        *call->value = value_string(value_to_bytes(&call->session->arena, call->receiver));
        return true;
    }
    if (!call_takes_base(call, &base))
        return false;
    do
        shown[--begin] = digits[rest % base];
    while ((rest /= base) != 0);
    if (integer < 0)
        shown[--begin] = '-';
    return call_gives_bytes(call, shown + begin, sizeof(shown) - begin);
}

static bool
run_to_i(struct call *call)
{
    const struct value *number = call->receiver;
    double whole;

    if (number->kind == VALUE_INTEGER)
        return give_integer(call, number->as.integer);
    whole = slice_is(call->name, "round")   ? round(number->as.number)
            : slice_is(call->name, "floor") ? floor(number->as.number)
            : slice_is(call->name, "ceil")  ? ceil(number->as.number)
                                            : trunc(number->as.number);
    if (!(fabs(whole) < 9e18))
        return call_wants(call, "a number that fits into 64 bits");
    return give_integer(call, (int64_t)whole);
}

static bool
run_to_f(struct call *call)
{
    *call->value = *call->receiver;
    if (call->receiver->kind == VALUE_INTEGER)
        *call->value =
            (struct value){.kind = VALUE_FLOAT, .as.number = (double)call->receiver->as.integer};
    return true;
}

static bool
run_parity(struct call *call)
{
    return wants_integer(call) && call_gives_boolean(call, (call->receiver->as.integer % 2 == 0) ==
                                                               slice_is(call->name, "even?"));
}

static bool
run_zero(struct call *call)
{
    return call_gives_boolean(call, call->receiver->kind == VALUE_INTEGER
                                        ? call->receiver->as.integer == 0
                                        : call->receiver->as.number == 0);
}

static bool
run_neighbour(struct call *call)
{
    const struct value one = value_integer(slice_is(call->name, "pred") ? -1 : 1);

    return wants_integer(call) &&
           operator_apply(&call->session->arena, slice_of_string("+"), call->receiver, &one,
                          call->value, &call->complaint);
}

static bool
run_abs(struct call *call)
{
    bool negative = call->receiver->kind == VALUE_INTEGER ? call->receiver->as.integer < 0
                                                          : signbit(call->receiver->as.number);

    *call->value = *call->receiver;
    return !negative || operator_negate(call->receiver, call->value, &call->complaint);
}

/* The byte of that number; above 127 it is a byte, no character. */
static bool
run_chr(struct call *call)
{
    char byte = (char)(call->receiver->as.integer & 0xff);

    if (call->receiver->kind != VALUE_INTEGER || call->receiver->as.integer < 0 ||
        call->receiver->as.integer > 255)
        return call_wants(call, "a number from 0 to 255");
    return call_gives_bytes(call, &byte, 1);
}

const struct method methods_of_numbers[] = {
    {"abs", 0, 0, run_abs},        {"ceil", 0, 0, run_to_i},      {"chr", 0, 0, run_chr},
    {"even?", 0, 0, run_parity},   {"floor", 0, 0, run_to_i},     {"next", 0, 0, run_neighbour},
    {"odd?", 0, 0, run_parity},    {"pred", 0, 0, run_neighbour}, {"round", 0, 0, run_to_i},
    {"succ", 0, 0, run_neighbour}, {"to_f", 0, 0, run_to_f},      {"to_i", 0, 0, run_to_i},
    {"to_s", 0, 1, run_to_s},      {"zero?", 0, 0, run_zero},     {NULL, 0, 0, NULL},
};
