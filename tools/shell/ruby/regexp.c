/*
 * regexp.c -- Ruby's Regexp by PCRE2: compiling and matching; the prelude has all else.  See
 * tools/shell/ruby/state.h.
 *
 * Expressions are of bytes, as strings are.
 */
#include "tools/shell/ruby/state.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/data.h>
#include <mruby/hash.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

static void
free_code(mrb_state *mrb, void *code)
{
    (void)mrb;
    pcre2_code_free(code);
}

static const mrb_data_type code_type = {"Regexp", free_code};

/* Regexp#compile_source(source, ignore case, dot takes line ends, free layout) */
static mrb_value
compile_source(mrb_state *mrb, mrb_value self)
{
    struct RData *data = mrb_data_object_alloc(mrb, mrb->object_class, NULL, &code_type);
    uint32_t options = PCRE2_MULTILINE;
    mrb_bool caseless, dotall, extended;
    PCRE2_UCHAR message[120];
    PCRE2_SIZE offset;
    mrb_value source;
    int error;

    mrb_get_args(mrb, "Sbbb", &source, &caseless, &dotall, &extended);
    options |= caseless ? PCRE2_CASELESS : 0;
    options |= dotall ? PCRE2_DOTALL : 0;
    options |= extended ? PCRE2_EXTENDED : 0;
    data->data = pcre2_compile((PCRE2_SPTR)RSTRING_PTR(source), (size_t)RSTRING_LEN(source),
                               options, &error, &offset, NULL);
    if (data->data == NULL) {
        (void)pcre2_get_error_message(error, message, sizeof(message));
        mrb_raisef(mrb, mrb_class_get(mrb, "RegexpError"), "%s: /%v/", (char *)message, source);
    }
    mrb_iv_set(mrb, self, mrb_intern_lit(mrb, "@code"), mrb_obj_value(data));
    return self;
}

static const pcre2_code *
code_of(mrb_state *mrb, mrb_value self)
{
    return mrb_data_get_ptr(mrb, mrb_iv_get(mrb, self, mrb_intern_lit(mrb, "@code")), &code_type);
}

/* Regexp#places(string, from): where the first match and its groups begin and end, or nil. */
static mrb_value
find_places(mrb_state *mrb, mrb_value self)
{
    const pcre2_code *code = code_of(mrb, self);
    const PCRE2_SIZE *offsets;
    pcre2_match_data *matching;
    mrb_value string, places;
    uint32_t groups = 0;
    mrb_int from;
    int found;

    mrb_get_args(mrb, "Si", &string, &from);
    if (code == NULL || from < 0 || from > RSTRING_LEN(string))
        return mrb_nil_value();
    (void)pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
    places = mrb_ary_new_capa(mrb, 2 * ((mrb_int)groups + 1)); /* room first: what follows may
                                                                  not raise */
    matching = pcre2_match_data_create_from_pattern(code, NULL);
    if (matching == NULL)
        mrb_raise(mrb, E_RUNTIME_ERROR, "no memory for a match");
    found = pcre2_match(code, (PCRE2_SPTR)RSTRING_PTR(string), (size_t)RSTRING_LEN(string),
                        (size_t)from, 0, matching, NULL);
    offsets = pcre2_get_ovector_pointer(matching);
    for (uint32_t i = 0; found > 0 && i < 2 * (groups + 1); i++)
        mrb_ary_push(mrb, places,
                     offsets[i] == PCRE2_UNSET ? mrb_nil_value()
                                               : mrb_int_value(mrb, (mrb_int)offsets[i]));
    pcre2_match_data_free(matching);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        mrb_raise(mrb, mrb_class_get(mrb, "RegexpError"), "the match takes too long");
    return found > 0 ? places : mrb_nil_value();
}

/* Regexp#group_names: a hash from the names of groups to their numbers. */
static mrb_value
find_names(mrb_state *mrb, mrb_value self)
{
    const pcre2_code *code = code_of(mrb, self);
    mrb_value names = mrb_hash_new(mrb);
    uint32_t count = 0, bytes = 0;
    PCRE2_SPTR entry = NULL;

    if (code == NULL)
        return names;
    (void)pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
    (void)pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &bytes);
    (void)pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &entry);
    for (uint32_t i = 0; i < count; i++, entry += bytes)
        mrb_hash_set(mrb, names, mrb_str_new_cstr(mrb, (const char *)entry + 2),
                     mrb_int_value(mrb, entry[0] << 8 | entry[1]));
    return names;
}

/* Regexp.remember(match, groups): as $~ and $1 to $9, which Ruby's text cannot set. */
static mrb_value
remember(mrb_state *mrb, mrb_value self)
{
    mrb_value match, groups;
    char name[3] = "$1";

    (void)self;
    mrb_get_args(mrb, "oA", &match, &groups);
    mrb_gv_set(mrb, mrb_intern_lit(mrb, "$~"), match);
    for (mrb_int i = 1; i <= 9; i++) {
        name[1] = (char)('0' + i);
        mrb_gv_set(mrb, mrb_intern_cstr(mrb, name), mrb_ary_ref(mrb, groups, i));
    }
    return match;
}

void
ruby_define_regexp(mrb_state *mrb)
{
    struct RClass *class = mrb_define_class(mrb, "Regexp", mrb->object_class);

    (void)mrb_define_class(mrb, "RegexpError", mrb_class_get(mrb, "StandardError"));
    mrb_define_class_method(mrb, class, "remember", remember, MRB_ARGS_REQ(2));
    mrb_define_method(mrb, class, "compile_source", compile_source, MRB_ARGS_REQ(4));
    mrb_define_method(mrb, class, "places", find_places, MRB_ARGS_REQ(2));
    mrb_define_method(mrb, class, "group_names", find_names, MRB_ARGS_NONE());
}
