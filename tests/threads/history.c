/* history.c -- see tests/threads/history.h. */
#include "tests/threads/history.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
bool history_orders_threads;
#else
bool history_orders_threads = true;
#endif

static _Atomic(uint64_t) now = 1;

static uint64_t
next_time(void)
{
    return history_orders_threads ? atomic_fetch_add_explicit(&now, 1, memory_order_seq_cst)
                                  : atomic_fetch_add_explicit(&now, 1, memory_order_relaxed);
}

struct history_call *
history_begin(struct history *history, unsigned thread, const char *name)
{
    struct history_call *call;

    assert(thread < history->threads);
    if (history->counts[thread] == HISTORY_CALLS)
        return NULL;
    call = &history->calls[thread][history->counts[thread]++];
    call->name = name;
    call->unseen = false;
    call->count = 0;
    call->ended = UINT64_MAX;
    call->began = next_time();
    return call;
}

void
history_end(struct history_call *call)
{
    call->ended = next_time();
}

void
history_take_back(struct history *history, unsigned thread)
{
    assert(history->counts[thread] > 0);
    history->counts[thread]--;
}

void
history_add(struct history_call *call, enum history_step_kind kind, unsigned slot, uint64_t value)
{
    assert(call->count < HISTORY_STEPS && slot < HISTORY_SLOTS);
    call->steps[call->count++] = (struct history_step){kind, slot, value};
}

uint64_t
history_append(uint64_t text, uint8_t byte)
{
    return (text + 1) * 0x9E3779B97F4A7C15u + byte;
}

/* ---- the search ---- */

struct state {
    uint64_t slots[HISTORY_SLOTS];
};

/* False: the answer does not fit the state. */
static bool
apply(const struct history_call *call, struct state *state)
{
    for (unsigned i = 0; i < call->count; i++) {
        const struct history_step *step = &call->steps[i];
        uint64_t *slot = &state->slots[step->slot];

        switch (step->kind) {
        case HISTORY_IS:
            if (*slot != step->value)
                return false;
            break;
        case HISTORY_IS_NOT:
            if (*slot == step->value)
                return false;
            break;
        case HISTORY_SET:
            *slot = step->value;
            break;
        case HISTORY_ADD:
            *slot += step->value;
            break;
        case HISTORY_APPEND:
            *slot = history_append(*slot, (uint8_t)step->value);
            break;
        case HISTORY_COPY:
            *slot = state->slots[step->value];
            break;
        }
    }
    return true;
}

/* What was met: how far each thread is, with which state, as one number. */
struct met {
    uint64_t *numbers; /* 0: free */
    size_t count, capacity;
};

static uint64_t
mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
    return number ^ (number >> 31);
}

static uint64_t
number_of(const unsigned places[HISTORY_THREADS], const struct state *state)
{
    uint64_t number = 1;

    for (unsigned i = 0; i < HISTORY_THREADS; i++)
        number = mix(number + places[i]);
    for (unsigned i = 0; i < HISTORY_SLOTS; i++)
        number = mix(number + state->slots[i]);
    return number | 1;
}

static bool is_new(struct met *met, uint64_t number);

static void
grow(struct met *met)
{
    struct met larger = {calloc(met->capacity * 2, sizeof(uint64_t)), 0, met->capacity * 2};

    if (larger.numbers == NULL)
        abort();
    for (size_t i = 0; i < met->capacity; i++)
        if (met->numbers[i] != 0)
            (void)is_new(&larger, met->numbers[i]);
    free(met->numbers);
    *met = larger;
}

static bool
is_new(struct met *met, uint64_t number)
{
    size_t at;

    if (met->count * 2 >= met->capacity)
        grow(met);
    at = number / 2 % met->capacity;
    while (met->numbers[at] != 0 && met->numbers[at] != number)
        at = (at + 1) % met->capacity;
    if (met->numbers[at] == number)
        return false;
    met->numbers[at] = number;
    met->count++;
    return true;
}

/* No call may come before another that had ended as it began. */
static uint64_t
first_end(const struct history *history, const unsigned places[HISTORY_THREADS])
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < history->threads; i++)
        if (places[i] < history->counts[i] && history->calls[i][places[i]].ended < first)
            first = history->calls[i][places[i]].ended;
    return first;
}

static bool
search(const struct history *history, unsigned places[HISTORY_THREADS], const struct state *state,
       struct met *met)
{
    uint64_t limit = first_end(history, places);
    bool done = true;

    for (unsigned i = 0; i < history->threads; i++) {
        const struct history_call *call = &history->calls[i][places[i]];
        struct state after = *state;

        if (places[i] == history->counts[i])
            continue;
        done = false;
        if (call->began > limit || !apply(call, &after))
            continue;
        if (call->unseen)
            after = *state;
        places[i]++;
        if (is_new(met, number_of(places, &after)) && search(history, places, &after, met))
            return true;
        places[i]--;
    }
    return done;
}

bool
history_is_linearizable(const struct history *history)
{
    unsigned places[HISTORY_THREADS] = {0};
    struct met met = {calloc(256, sizeof(uint64_t)), 0, 256};
    struct state state;
    bool found;

    if (met.numbers == NULL)
        abort();
    memcpy(state.slots, history->before, sizeof state.slots);
    found = search(history, places, &state, &met);
    free(met.numbers);
    return found;
}

/* ---- as few as still have no order ---- */

static struct history *
copy_of(const struct history *history)
{
    struct history *copy = malloc(sizeof *copy);

    if (copy == NULL)
        abort();
    *copy = *history;
    return copy;
}

static void
remove_call(struct history *history, unsigned thread, unsigned call)
{
    struct history_call *calls = history->calls[thread];

    memmove(&calls[call], &calls[call + 1], (history->counts[thread] - call - 1) * sizeof calls[0]);
    history->counts[thread]--;
}

/* Only what concerns this slot, unless slots are copied. */
static void
keep_slot(struct history *history, unsigned slot)
{
    for (unsigned t = 0; t < history->threads; t++) {
        for (unsigned c = history->counts[t]; c > 0; c--) {
            struct history_call *call = &history->calls[t][c - 1];
            unsigned kept = 0;

            for (unsigned i = 0; i < call->count; i++)
                if (call->steps[i].slot == slot)
                    call->steps[kept++] = call->steps[i];
            call->count = kept;
            if (kept == 0)
                remove_call(history, t, c - 1);
        }
    }
}

static bool
copies_slots(const struct history *history)
{
    for (unsigned t = 0; t < history->threads; t++)
        for (unsigned c = 0; c < history->counts[t]; c++)
            for (unsigned i = 0; i < history->calls[t][c].count; i++)
                if (history->calls[t][c].steps[i].kind == HISTORY_COPY)
                    return true;
    return false;
}

static bool
only_finds(const struct history_call *call)
{
    for (unsigned i = 0; i < call->count && !call->unseen; i++)
        if (call->steps[i].kind > HISTORY_IS_NOT)
            return false;
    return true;
}

/* Answers that are not needed for there to be no order; calls that change something stay. */
static void
remove_answers(struct history *history)
{
    for (unsigned t = 0; t < history->threads; t++) {
        for (unsigned c = history->counts[t]; c > 0; c--) {
            struct history *without;

            if (!only_finds(&history->calls[t][c - 1]))
                continue;
            without = copy_of(history);
            remove_call(without, t, c - 1);
            if (!history_is_linearizable(without))
                remove_call(history, t, c - 1);
            free(without);
        }
    }
}

static void
print_call(const struct history_call *call, unsigned thread, FILE *to)
{
    static const char *const words[] = {"is", "is not", ":=", "+=", "appended", ":= slot"};

    fprintf(to, "  %8" PRIu64 " .. %8" PRIu64 "  thread %u  %-16s", call->began, call->ended,
            thread, call->name);
    for (unsigned i = 0; i < call->count; i++)
        fprintf(to, "%s %u %s %" PRIx64, i > 0 ? "," : "", call->steps[i].slot,
                words[call->steps[i].kind], call->steps[i].value);
    fprintf(to, "\n");
}

static void
print_by_time(const struct history *history, FILE *to)
{
    unsigned places[HISTORY_THREADS] = {0};

    fprintf(to, "  before:");
    for (unsigned i = 0; i < HISTORY_SLOTS; i++)
        fprintf(to, " %u = %" PRIx64, i, history->before[i]);
    fprintf(to, "\n");
    for (;;) {
        unsigned first = HISTORY_THREADS;

        for (unsigned t = 0; t < history->threads; t++)
            if (places[t] < history->counts[t] &&
                (first == HISTORY_THREADS ||
                 history->calls[t][places[t]].began < history->calls[first][places[first]].began))
                first = t;
        if (first == HISTORY_THREADS)
            break;
        print_call(&history->calls[first][places[first]++], first, to);
    }
}

void
history_print_least(const struct history *history, FILE *to)
{
    struct history *least = copy_of(history);

    for (unsigned slot = 0; slot < HISTORY_SLOTS && !copies_slots(history); slot++) {
        struct history *one = copy_of(history);

        keep_slot(one, slot);
        if (!history_is_linearizable(one)) {
            free(least);
            least = one;
            break;
        }
        free(one);
    }
    remove_answers(least);
    fprintf(to, "no order of these calls gives these answers:\n");
    print_by_time(least, to);
    free(least);
}
