/*
 * kernel.c -- what Ruby's Kernel has and mruby's has not, or not through the shell's output; how
 * strings and numbers are shown.  See tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/run.h"
#include "tools/shell/text/clock.h"

#include <mruby/array.h>
#include <mruby/numeric.h>
#include <mruby/string.h>

#include <time.h>

/* What prints in a loop is stopped as commands are. */
static struct output *
output_of(mrb_state *mrb)
{
    struct ruby *ruby = ruby_of(mrb);

    if (interrupt_pending()) {
        text_clear(&ruby->session->message);
        run_note_interrupt(ruby->session);
    }
    ruby_check_end(ruby);
    return &ruby->session->output;
}

/* Each item of an array in a line of its own. */
static void
put_line(mrb_state *mrb, struct output *output, mrb_value object, unsigned depth)
{
    petal_slice line;

    if (mrb_array_p(object) && depth < 100) {
        for (mrb_int i = 0; i < RARRAY_LEN(object); i++)
            put_line(mrb, output, RARRAY_PTR(object)[i], depth + 1);
        return;
    }
    line = ruby_slice(mrb_obj_as_string(mrb, object));
    if (line.size > 0 && ((const char *)line.data)[line.size - 1] == '\n')
        line.size--;
    output_plain_slice(output, line);
}

static mrb_value
kernel_puts(mrb_state *mrb, mrb_value self)
{
    struct output *output = output_of(mrb);
    const mrb_value *arguments;
    mrb_int count;

    (void)self;
    mrb_get_args(mrb, "*", &arguments, &count);
    if (output->unfinished && (count == 0 || (count == 1 && mrb_string_p(arguments[0]) &&
                                              RSTRING_LEN(arguments[0]) == 0))) {
        output_finish(output); /* what `print` began */
        return mrb_nil_value();
    }
    for (mrb_int i = 0; i < count; i++)
        put_line(mrb, output, arguments[i], 0);
    if (count == 0)
        output_plain(output, "%s", "");
    return mrb_nil_value();
}

/* Without an end of a line of its own. */
static mrb_value
kernel_print(mrb_state *mrb, mrb_value self)
{
    struct output *output = output_of(mrb);
    mrb_value text = mrb_str_new_lit(mrb, "");
    const mrb_value *arguments;
    petal_slice bytes;
    mrb_int count;

    (void)self;
    mrb_get_args(mrb, "*", &arguments, &count);
    for (mrb_int i = 0; i < count; i++)
        mrb_str_cat_str(mrb, text, mrb_obj_as_string(mrb, arguments[i]));
    bytes = ruby_slice(text);
    output_join(output);
    if (bytes.size > 0 && ((const char *)bytes.data)[bytes.size - 1] == '\n')
        output_plain_slice(output, (petal_slice){bytes.data, bytes.size - 1});
    else if (bytes.size > 0)
        output_unfinished_line(output, bytes);
    return mrb_nil_value();
}

static mrb_value
kernel_p(mrb_state *mrb, mrb_value self)
{
    struct output *output = output_of(mrb);
    const mrb_value *arguments;
    mrb_int count;

    (void)self;
    mrb_get_args(mrb, "*", &arguments, &count);
    for (mrb_int i = 0; i < count; i++)
        output_plain_slice(output, ruby_slice(mrb_inspect(mrb, arguments[i])));
    return count == 0   ? mrb_nil_value()
           : count == 1 ? arguments[0]
                        : mrb_ary_new_from_values(mrb, count, arguments);
}

/* Until the time is over, or Ctrl-C. */
static mrb_value
kernel_sleep(mrb_state *mrb, mrb_value self)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    struct output *output = output_of(mrb);
    double end;
    mrb_float seconds;

    (void)self;
    mrb_get_args(mrb, "f", &seconds);
    if (!(seconds >= 0))
        mrb_raise(mrb, E_ARGUMENT_ERROR, "time interval must not be negative");
    output_flush(output);
    end = clock_seconds(CLOCK_MONOTONIC) + seconds;
    while (clock_seconds(CLOCK_MONOTONIC) < end && !interrupt_pending())
        (void)nanosleep(&pause, NULL);
    (void)output_of(mrb);
    return mrb_int_value(mrb, (mrb_int)seconds);
}

/* As Ruby shows it, not as mruby does. */
static mrb_value
inspect(mrb_state *mrb, mrb_value self)
{
    struct text *text = &ruby_of(mrb)->session->scratch;
    struct value value = ruby_to_value(mrb, self);

    text_clear(text);
    value_inspect(text, &value);
    return ruby_string(mrb, text_slice(text));
}

void
ruby_define_kernel(mrb_state *mrb)
{
    struct RClass *kernel = mrb->kernel_module;

    mrb_define_method(mrb, kernel, "puts", kernel_puts, MRB_ARGS_ANY());
    mrb_define_method(mrb, kernel, "print", kernel_print, MRB_ARGS_ANY());
    mrb_define_method(mrb, kernel, "p", kernel_p, MRB_ARGS_ANY());
    mrb_define_method(mrb, kernel, "sleep", kernel_sleep, MRB_ARGS_REQ(1));
    mrb_define_method(mrb, mrb->string_class, "inspect", inspect, MRB_ARGS_NONE());
    mrb_define_method(mrb, mrb->float_class, "inspect", inspect, MRB_ARGS_NONE());
    mrb_define_method(mrb, mrb->float_class, "to_s", inspect, MRB_ARGS_NONE());
}
