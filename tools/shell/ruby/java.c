/* java.c -- what the prelude's classes of Java's call: filters of the library, dates, near names.
 * See tools/shell/ruby/state.h. */
#include "tools/shell/data/filter_object.h"
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/convert.h"
#include "tools/shell/session/near.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/string.h>

#include <limits.h>
#include <time.h>

/* The library's complaint about a filter, nil if it has none. */
static mrb_value
complaint_of_filter(mrb_state *mrb, mrb_value self)
{
    struct session *session = ruby_of(mrb)->session;
    struct value value = ruby_to_value(mrb, self);
    mrb_value complaint = mrb_nil_value();
    petal_filter *filter = NULL;

    if (session->db != NULL && filter_object_make(session, &value, &filter) != SHELL_FINE)
        complaint = ruby_string(mrb, text_slice(&session->message));
    petal_filter_free(filter);
    text_clear(&session->message);
    ruby_clear_arena(ruby_of(mrb));
    return complaint;
}

/* Java.convert(name, bytes): as the converter of that name has them, by which columns are shown. */
static mrb_value
convert_bytes(mrb_state *mrb, mrb_value self)
{
    struct session *session = ruby_of(mrb)->session;
    struct text *text = &session->scratch;
    enum conversion conversion;
    mrb_value name, bytes;
    struct value number;

    (void)self;
    mrb_get_args(mrb, "SS", &name, &bytes);
    if (convert_find(session, ruby_slice(name), &conversion) != SHELL_FINE)
        mrb_raise(mrb, E_ARGUMENT_ERROR, text_string(&session->message));
    text_clear(text);
    if (convert_add(session, text, conversion, ruby_slice(bytes)) != SHELL_FINE)
        mrb_raise(mrb, E_ARGUMENT_ERROR, text_string(&session->message));
    if (conversion == CONVERT_TO_STRING_BINARY || conversion == CONVERT_TO_STRING ||
        conversion == CONVERT_TO_HEX)
        return ruby_string(mrb, text_slice(text));
    number = convert_number(conversion, ruby_slice(bytes));
    return ruby_from_value(mrb, &number);
}

/* Java.nearest(name, names): the one of them that the name may be a slip of, or nil. */
static mrb_value
nearest(mrb_state *mrb, mrb_value self)
{
    petal_slice best = {NULL, 0};
    mrb_value name, names;
    unsigned least = 0;

    (void)self;
    mrb_get_args(mrb, "SA", &name, &names);
    for (mrb_int i = 0; i < RARRAY_LEN(names); i++)
        if (mrb_string_p(RARRAY_PTR(names)[i]))
            near_consider_bytes(ruby_slice(name), ruby_slice(RARRAY_PTR(names)[i]), &best, &least);
    return best.data != NULL ? ruby_string(mrb, best) : mrb_nil_value();
}

static mrb_value
show_time(mrb_state *mrb, void (*add)(struct text *text, int64_t milliseconds))
{
    struct text *text = &ruby_of(mrb)->session->scratch;
    mrb_int milliseconds;

    mrb_get_args(mrb, "i", &milliseconds);
    text_clear(text);
    add(text, milliseconds);
    return ruby_string(mrb, text_slice(text));
}

/* Java.date_text(milliseconds), as java.util.Date shows them. */
static mrb_value
date_text(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return show_time(mrb, text_add_java_date);
}

/* Java.time_text(milliseconds), as Ruby's Time shows them. */
static mrb_value
time_text(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return show_time(mrb, text_add_date);
}

/* Java.local_seconds(year, month, day, hour, minute, second): since 1970, or nil. */
static mrb_value
local_seconds(mrb_state *mrb, mrb_value self)
{
    mrb_int year, month, day, hour, minute, second;
    struct tm parts = {.tm_isdst = -1};
    time_t seconds;

    (void)self;
    mrb_get_args(mrb, "iiiiii", &year, &month, &day, &hour, &minute, &second);
    if (year < INT_MIN + 1900LL || year > INT_MAX)
        return mrb_nil_value();
    parts.tm_year = (int)(year - 1900);
    parts.tm_mon = (int)month - 1;
    parts.tm_mday = (int)day;
    parts.tm_hour = (int)hour;
    parts.tm_min = (int)minute;
    parts.tm_sec = (int)second;
    seconds = mktime(&parts);
    return seconds > INT64_MAX / 1000 - 1 ? mrb_nil_value() : mrb_int_value(mrb, seconds);
}

void
ruby_define_java(struct ruby *ruby)
{
    mrb_state *mrb = ruby->mrb;
    struct RClass *java = mrb_define_module(mrb, "Java");

    ruby->filter_class = mrb_define_class_under(mrb, java, "Filter", mrb->object_class);
    mrb_define_method(mrb, ruby->filter_class, "complaint", complaint_of_filter, MRB_ARGS_NONE());
    mrb_define_module_function(mrb, java, "convert", convert_bytes, MRB_ARGS_REQ(2));
    mrb_define_module_function(mrb, java, "nearest", nearest, MRB_ARGS_REQ(2));
    mrb_define_module_function(mrb, java, "date_text", date_text, MRB_ARGS_REQ(1));
    mrb_define_module_function(mrb, java, "time_text", time_text, MRB_ARGS_REQ(1));
    mrb_define_module_function(mrb, java, "local_seconds", local_seconds, MRB_ARGS_REQ(6));
}
