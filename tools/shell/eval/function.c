/* function.c -- see tools/shell/eval/function.h. */
#include "tools/shell/eval/function.h"

#include "tools/shell/eval/directive.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/run.h"
#include "tools/shell/text/clock.h"

#include <time.h>

/* Each item of an array in a line of its own. */
static void
show_value(struct session *session, const struct value *value)
{
    if (value->kind == VALUE_ARRAY && value->count > 0) {
        for (size_t i = 0; i < value->count; i++)
            show_value(session, &value->as.items[i]);
        return;
    }
    text_clear(&session->scratch);
    if (value->kind != VALUE_ARRAY)
        value_to_text(&session->scratch, value);
    output_plain_slice(&session->output, text_slice(&session->scratch));
}

static bool
run_puts(struct call *call)
{
    bool empty = call->count == 0 || (call->count == 1 && call->arguments[0].kind == VALUE_STRING &&
                                      call->arguments[0].as.bytes.size == 0);

    if (empty && call->session->output.unfinished) {
        output_finish(&call->session->output); /* what `print` began */
        return true;
    }
    for (size_t i = 0; i < call->count; i++)
        show_value(call->session, &call->arguments[i]);
    if (call->count == 0)
        output_plain(&call->session->output, "%s", "");
    return true;
}

/* Without an end of a line of its own. */
static bool
run_print(struct call *call)
{
    struct text text = {0};

    for (size_t i = 0; i < call->count; i++)
        value_to_text(&text, &call->arguments[i]);
    output_join(&call->session->output);
    if (text.size > 0 && text.bytes[text.size - 1] == '\n')
        output_plain_slice(&call->session->output, (petal_slice){text.bytes, text.size - 1});
    else if (text.size > 0)
        output_unfinished_line(&call->session->output, text_slice(&text));
    text_free(&text);
    return true;
}

/* As puts, but as Ruby would write the values; the last is the value of the call. */
static bool
run_p(struct call *call)
{
    struct text text = {0};

    for (size_t i = 0; i < call->count; i++) {
        text_clear(&text);
        value_inspect(&text, &call->arguments[i]);
        output_plain_slice(&call->session->output, text_slice(&text));
        *call->value = call->arguments[i];
    }
    text_free(&text);
    return true;
}

static bool
run_format(struct call *call)
{
    return call_wants_text(call, 0) &&
           directives_fill(&call->session->arena, call->arguments[0].as.bytes, call->arguments + 1,
                           call->count - 1, call->value, &call->complaint);
}

static bool
run_printf(struct call *call)
{
    struct value formatted;
    struct call print = *call;

    print.value = &formatted;
    if (!run_format(&print)) {
        call->complaint = print.complaint;
        return false;
    }
    print.arguments = &formatted;
    print.count = 1;
    return run_print(&print);
}

/* A number below the given one, or a fraction of 1. */
static bool
run_rand(struct call *call)
{
    static uint64_t state;
    struct timespec now;

    if (state == 0) {
        (void)clock_gettime(CLOCK_REALTIME, &now);
        state = ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) | 1;
    }
    state ^= state << 13; /* Marsaglia's xorshift */
    state ^= state >> 7;
    state ^= state << 17;
    if (call->count == 0) {
        *call->value = (struct value){.kind = VALUE_FLOAT,
                                      .as.number = (double)(state >> 11) / (double)(1LL << 53)};
        return true;
    }
    if (call->arguments[0].kind != VALUE_INTEGER || call->arguments[0].as.integer <= 0)
        return call_wants(call, "a number above 0");
    *call->value = value_integer((int64_t)((state >> 1) % (uint64_t)call->arguments[0].as.integer));
    return true;
}

/* Until the time is over, or Ctrl-C. */
static bool
run_sleep(struct call *call)
{
    const struct value *value = &call->arguments[0];
    double seconds = value->kind == VALUE_FLOAT     ? value->as.number
                     : value->kind == VALUE_INTEGER ? (double)value->as.integer
                                                    : -1;
    double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
    static const struct timespec pause = {.tv_nsec = 1000000};

    if (!(seconds >= 0))
        return call_wants(call, "a number of seconds");
    output_flush(&call->session->output);
    while (clock_seconds(CLOCK_MONOTONIC) < end && !interrupt_pending())
        (void)nanosleep(&pause, NULL);
    return true;
}

static bool
run_raise_function(struct call *call)
{
    struct text message = {0};

    if (call->count > 0)
        value_to_text(&message, &call->arguments[call->count - 1]);
    run_raise(call->session, "RuntimeError",
              call->count > 0 ? text_string(&message) : "unhandled exception");
    text_free(&message);
    return false;
}

/* `require 'irb'` of a script: what it would bring is here, or nowhere. */
static bool
run_require(struct call *call)
{
    (void)call;
    return true;
}

static const struct method functions[] = {
    {"format", 1, 1000, run_format},
    {"p", 0, 1000, run_p},
    {"print", 0, 1000, run_print},
    {"printf", 1, 1000, run_printf},
    {"puts", 0, 1000, run_puts},
    {"raise", 0, 3, run_raise_function},
    {"rand", 0, 1, run_rand},
    {"require", 1, 1, run_require},
    {"sleep", 1, 1, run_sleep},
    {"sprintf", 1, 1000, run_format},
    {NULL, 0, 0, NULL},
};

bool
function_is_known(petal_slice name)
{
    return method_find(functions, name) != NULL;
}

bool
function_call(struct call *call)
{
    *call->value = value_nil();
    return method_run(method_find(functions, call->name), call);
}
