/*
 * loop.c -- for, while, and methods such as each, which run a block for each item; see
 * tools/shell/eval/eval_state.h.
 *
 * Each round has an arena of its own, so that a loop of a million rounds needs the memory of one.
 */
#include "tools/shell/eval/eval_state.h"
#include "tools/shell/eval/method.h"
#include "tools/shell/eval/operator.h"
#include "tools/shell/eval/rounds.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/run.h"

/* What becomes of a loop's rounds, and so what outlives each. */
enum gathering {
    GATHERS_NOTHING, /* the value is the receiver, or nil */
    GATHERS_VALUES,  /* of the block */
    GATHERS_CHOSEN,  /* items for which the block says yes */
    GATHERS_OTHERS   /* .. says no */
};

static const struct loop_method {
    const char *name;
    enum gathering gathering;
} loop_methods[] = {
    {"collect", GATHERS_VALUES},     {"downto", GATHERS_NOTHING},
    {"each", GATHERS_NOTHING},       {"each_char", GATHERS_NOTHING},
    {"each_key", GATHERS_NOTHING},   {"each_line", GATHERS_NOTHING},
    {"each_pair", GATHERS_NOTHING},  {"each_slice", GATHERS_NOTHING},
    {"each_value", GATHERS_NOTHING}, {"each_with_index", GATHERS_NOTHING},
    {"filter", GATHERS_CHOSEN},      {"map", GATHERS_VALUES},
    {"reject", GATHERS_OTHERS},      {"select", GATHERS_CHOSEN},
    {"step", GATHERS_NOTHING},       {"times", GATHERS_NOTHING},
    {"upto", GATHERS_NOTHING},
};

static const struct loop_method *
find_method(petal_slice name)
{
    for (size_t i = 0; i < COUNT_OF(loop_methods); i++)
        if (slice_is(name, loop_methods[i].name))
            return &loop_methods[i];
    return NULL;
}

/* Does the method fit a number, a text, or what has items? */
bool
loop_is_method(petal_slice name, const struct value *receiver)
{
    bool of_number = slice_is(name, "times") || slice_is(name, "upto") ||
                     slice_is(name, "downto") || slice_is(name, "step");
    bool of_text =
        slice_is(name, "each_char") || slice_is(name, "each_line") || slice_is(name, "upto");
    bool of_hash =
        slice_is(name, "each_key") || slice_is(name, "each_value") || slice_is(name, "each_pair");

    if (find_method(name) == NULL)
        return false;
    switch (receiver->kind) {
    case VALUE_INTEGER:
        return of_number;
    case VALUE_STRING:
        return of_text;
    case VALUE_HASH:
        return !of_number && !of_text;
    case VALUE_RANGE:
        return slice_is(name, "step") || (!of_number && !of_text && !of_hash);
    case VALUE_ARRAY:
        return !of_number && !of_text && !of_hash;
    case VALUE_NIL:
    case VALUE_BOOLEAN:
    case VALUE_FLOAT:
    case VALUE_SYMBOL:
    case VALUE_TABLE:
    case VALUE_CLASS:
    case VALUE_OBJECT:
        break;
    }
    return false;
}

/* ---- One round ------------------------------------------------------------------------------- */

/* Set or push the block's names: one item, which a list of names takes apart, or two; false: a
 * variable may not have one of them. */
static bool
bind_names(struct eval *eval, const struct node *block, const struct value *items, size_t count,
           void (*bind)(struct variables *variables, petal_slice name, const struct value *value))
{
    const struct value nothing = value_nil();

    if (count == 1 && block->name_count > 1 && items[0].kind == VALUE_ARRAY) {
        count = items[0].count;
        items = items[0].as.items;
    }
    for (size_t i = 0; i < block->name_count; i++) {
        const struct value *item = i < count ? &items[i] : &nothing;

        if (!eval_may_keep(eval, block->position, item))
            return false;
        bind(&eval->session->variables, block->names[i], item);
    }
    return true;
}

/* Ctrl-C ends a loop, whatever its block does: a command of it may have ended the round already.
 * `round` counts from 1. */
static bool
is_interrupted(struct eval *eval, uint64_t round)
{
    if (interrupt_pending())
        run_note_interrupt(eval->session);
    if (eval->session->interrupted)
        eval->rounds_of_interrupted = round;
    return eval_is_over(eval);
}

/* What to do behind a round that ended well or not: false, leave the loop; *good says how, and
 * *broken whether by `break`: then the loop's value is nil. */
static bool
goes_on(struct eval *eval, uint64_t round, bool *good, bool *broken)
{
    bool interrupted = is_interrupted(eval, round);
    enum jump jump = eval->jump;

    if (jump != JUMP_NONE)
        *good = true;
    *broken = jump == JUMP_BREAK;
    eval->jump = JUMP_NONE;
    return *good && jump != JUMP_BREAK && !interrupted;
}

/* What is left of a round's value when its arena goes: only what the loop gathers is worth room, as
 * the last statement may have a whole list for its value. */
static struct value
value_left(struct arena *around, enum gathering gathering, const struct value *value)
{
    if (gathering == GATHERS_NOTHING)
        return value_nil();
    return gathering == GATHERS_VALUES ? value_copy(around, value)
                                       : value_boolean(value_is_true(value));
}

/*
 * Run a block's statements with its names bound to items, in an arena of its own; *result is what
 * the gathering needs of it, in the arena around.  As a scope of its own the block forgets its
 * names and variables.
 */
static bool
run_round(struct eval *eval, const struct node *block, const struct value *items, size_t count,
          bool scope, enum gathering gathering, struct value *result)
{
    struct session *session = eval->session;
    struct arena around = session->arena;
    size_t variables = session->variables.count;
    struct value value = value_nil();
    bool good;

    session->arena = (struct arena){.chunks = NULL};
    good = bind_names(eval, block, items, count, scope ? variables_push : variables_set) &&
           eval_statements(eval, block, gathering == GATHERS_NOTHING ? NULL : &value);
    if (scope)
        variables_pop_to(&session->variables, variables);
    *result = good ? value_left(&around, gathering, &value) : value_nil();
    arena_clear(&session->arena);
    session->arena = around;
    return good;
}

/* ---- for, while, loop ------------------------------------------------------------------------ */

bool
loop_for(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint = {.kind = NULL};
    struct arena passing = {.chunks = NULL}; /* of the item of one round */
    struct rounds rounds;
    struct value item, result;
    uint64_t round = 0;
    bool good = true, broken = false;

    if (!eval_node(eval, node->items[0], value))
        return false;
    if (!rounds_begin(&rounds, value, &complaint))
        return eval_fail(eval, node->items[0]->position, &complaint);
    for (bool more = true; more && rounds_next(&rounds, &passing, &item);) {
        round++;
        good = run_round(eval, node->items[1], &item, 1, false, GATHERS_NOTHING, &result);
        arena_clear(&passing);
        more = goes_on(eval, round, &good, &broken);
    }
    rounds_end(&rounds);
    if (broken)
        *value = value_nil();
    return !is_interrupted(eval, round) && good;
}

/* Is the condition, evaluated in an arena of its own, true? */
static bool
holds(struct eval *eval, const struct node *condition, bool *good)
{
    struct session *session = eval->session;
    struct arena around = session->arena;
    struct value value = value_nil();

    session->arena = (struct arena){.chunks = NULL};
    *good = eval_node(eval, condition, &value) && !eval_is_over(eval);
    arena_clear(&session->arena);
    session->arena = around;
    return *good && value_is_true(&value);
}

bool
loop_while(struct eval *eval, const struct node *node, struct value *value)
{
    struct value result;
    uint64_t round = 0;
    bool good = true, broken = false;

    *value = value_nil();
    for (bool more = true; more && holds(eval, node->items[0], &good);) {
        round++;
        good = run_round(eval, node->items[1], NULL, 0, false, GATHERS_NOTHING, &result);
        more = goes_on(eval, round, &good, &broken);
    }
    return !is_interrupted(eval, round) && good;
}

bool
loop_forever(struct eval *eval, const struct node *node)
{
    struct value result;
    uint64_t round = 0;
    bool good = true, broken = false;

    do {
        round++;
        good = run_round(eval, node->block, NULL, 0, true, GATHERS_NOTHING, &result);
    } while (goes_on(eval, round, &good, &broken));
    return !is_interrupted(eval, round) && good;
}

/* ---- each and its like ----------------------------------------------------------------------- */

/* The numbers of 5.times, 1.upto(5), 10.step(100, 10), (0..100).step(5). */
static bool
begin_numbers(struct call *call, struct rounds *rounds)
{
    const struct value *receiver = call->receiver;
    int64_t from = receiver->as.integer, step = 1, to;

    for (size_t i = 0; i < call->count; i++)
        if (!call_wants_integer(call, i))
            return false;
    if (receiver->kind == VALUE_RANGE) {
        if (call->count != 1 || call->arguments[0].as.integer <= 0)
            return call_wants(call, "one number above 0");
        if (!rounds_begin(rounds, receiver, &call->complaint))
            return false;
        if (rounds->texts)
            return call_wants(call, "a range of numbers");
        rounds->step = call->arguments[0].as.integer;
        return true;
    }
    if (slice_is(call->name, "times")) {
        rounds_begin_numbers(rounds, 0, from > 0 ? from - 1 : 0, 1);
        rounds->over = from <= 0;
        return true;
    }
    if (call->count == 0 || (call->count > 1 && !slice_is(call->name, "step")))
        return call_wants(call, "a number up to which it counts");
    to = call->arguments[0].as.integer;
    if (slice_is(call->name, "downto"))
        step = -1;
    if (call->count == 2)
        step = call->arguments[1].as.integer;
    if (step == 0)
        return call_wants(call, "a step other than 0");
    rounds_begin_numbers(rounds, from, to, step);
    return true;
}

/* What the rounds go through, in *source, which lives as long as they. */
static bool
begin_rounds(struct call *call, struct value *source, struct rounds *rounds)
{
    struct value parts = value_nil();
    struct call inner = *call;

    *source = *call->receiver;
    if (source->kind == VALUE_INTEGER || slice_is(call->name, "step"))
        return begin_numbers(call, rounds);
    if (source->kind == VALUE_STRING && slice_is(call->name, "upto")) {
        if (call->count != 1 || !call_wants_text(call, 0))
            return call_wants(call, "a text up to which it counts");
        return operator_apply(&call->session->arena, slice_of_string(".."), call->receiver,
                              &call->arguments[0], source, &call->complaint) &&
               rounds_begin(rounds, source, &call->complaint);
    }
    if (!slice_is(call->name, "each_slice") && call->count > 0)
        return call_wants(call, "a block and nothing else");
    inner.name = slice_of_string(slice_is(call->name, "each_char")    ? "chars"
                                 : slice_is(call->name, "each_line")  ? "lines"
                                 : slice_is(call->name, "each_key")   ? "keys"
                                 : slice_is(call->name, "each_value") ? "values"
                                                                      : "");
    inner.value = &parts;
    if (inner.name.size > 0) {
        if (!method_call(&inner)) {
            call->complaint = inner.complaint;
            return false;
        }
        *source = parts;
    }
    return rounds_begin(rounds, source, &call->complaint);
}

/* A list that grows in the session's arena. */
struct gathered {
    struct value list;
    size_t capacity;
};

static void
gather(struct session *session, struct gathered *gathered, const struct value *value)
{
    value_list_add(&session->arena, &gathered->list, &gathered->capacity, value);
}

static void
gather_copy(struct session *session, struct gathered *gathered, const struct value *value)
{
    struct value copy = value_copy(&session->arena, value);

    gather(session, gathered, &copy);
}

/* The next item or, of each_slice, list of so many items, in the arena. */
static bool
next_of(struct call *call, struct rounds *rounds, struct arena *arena, struct value *item)
{
    struct gathered slice = {.list = {.kind = VALUE_ARRAY}};
    struct value one;

    if (!slice_is(call->name, "each_slice"))
        return rounds_next(rounds, arena, item);
    while ((int64_t)slice.list.count < call->arguments[0].as.integer &&
           rounds_next(rounds, arena, &one))
        value_list_add(arena, &slice.list, &slice.capacity, &one);
    *item = slice.list;
    return slice.list.count > 0;
}

/* One round of a block, or the item itself where there is none. */
static bool
run_or_take(struct eval *eval, const struct node *node, const struct value *items, size_t count,
            enum gathering gathering, struct value *result)
{
    if (node->block != NULL)
        return run_round(eval, node->block, items, count, true, gathering, result);
    *result = items[0];
    if (count == 2) {
        *result = (struct value){.kind = VALUE_ARRAY, .count = 2};
        result->as.items = arena_copy(&eval->session->arena, items, 2 * sizeof(*items));
    }
    return true;
}

bool
loop_over(struct eval *eval, const struct node *node, struct call *call)
{
    enum gathering gathering = find_method(call->name)->gathering;
    bool with_index = slice_is(call->name, "each_with_index"), good = true;
    bool broken = false;
    struct gathered gathered = {.list = {.kind = VALUE_ARRAY}};
    struct value source, items[2], result;
    struct rounds rounds = {.over = true};
    struct arena passing = {.chunks = NULL}; /* of the items of one round */
    struct arena *arena = node->block != NULL ? &passing : &eval->session->arena;
    uint64_t round = 0;

    if (slice_is(call->name, "each_slice") &&
        (call->count != 1 || call->arguments[0].kind != VALUE_INTEGER ||
         call->arguments[0].as.integer <= 0)) {
        (void)call_wants(call, "a number of items");
        return eval_fail(eval, node->position, &call->complaint);
    }
    if (!begin_rounds(call, &source, &rounds)) {
        rounds_end(&rounds);
        return eval_fail(eval, node->position, &call->complaint);
    }
    if (node->block == NULL)
        gathering = GATHERS_VALUES; /* the list that .map or .select behind it goes through */
    for (bool more = true; more && next_of(call, &rounds, arena, &items[0]);) {
        items[1] = value_integer((int64_t)round++);
        good = run_or_take(eval, node, items, with_index ? 2 : 1, gathering, &result);
        if (good && gathered.list.count == MOST_ITEMS) {
            (void)call_wants(call, "less: a list has at most ten million items");
            good = eval_fail(eval, node->position, &call->complaint);
        }
        if (good && gathering == GATHERS_VALUES)
            gather(eval->session, &gathered, &result);
        else if (good && gathering != GATHERS_NOTHING &&
                 value_is_true(&result) == (gathering == GATHERS_CHOSEN))
            gather_copy(eval->session, &gathered, &items[0]);
        arena_clear(&passing);
        more = goes_on(eval, round, &good, &broken);
    }
    rounds_end(&rounds);
    *call->value = broken                         ? value_nil()
                   : gathering == GATHERS_NOTHING ? *call->receiver
                                                  : gathered.list;
    return !is_interrupted(eval, round) && good;
}
