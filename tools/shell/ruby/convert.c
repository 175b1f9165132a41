/* convert.c -- Ruby's values as the plain data of commands, and back.  See
 * tools/shell/ruby/state.h. */
#include "tools/shell/ruby/state.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/hash.h>
#include <mruby/numeric.h>
#include <mruby/string.h>
#include <mruby/variable.h>

enum { MOST_DEPTH = 1000 }; /* of lists and hashes: a frame of the stack for each */

static struct value convert(mrb_state *mrb, mrb_value object, unsigned depth);

petal_slice
ruby_slice(mrb_value string)
{
    return (petal_slice){RSTRING_PTR(string), (size_t)RSTRING_LEN(string)};
}

mrb_value
ruby_string(mrb_state *mrb, petal_slice bytes)
{
    return mrb_str_new(mrb, bytes.data, bytes.size);
}

static struct value
convert_items(mrb_state *mrb, mrb_value array, enum value_kind kind, size_t before, unsigned depth)
{
    size_t count = (size_t)RARRAY_LEN(array);
    struct value value = {.kind = kind, .count = before + count};

    value.as.items =
        arena_allocate(&ruby_of(mrb)->session->arena, value.count * sizeof(*value.as.items));
    for (size_t i = 0; i < count; i++)
        value.as.items[before + i] = convert(mrb, mrb_ary_ref(mrb, array, (mrb_int)i), depth + 1);
    return value;
}

static struct value
convert_hash(mrb_state *mrb, mrb_value hash, unsigned depth)
{
    mrb_value keys = mrb_hash_keys(mrb, hash);
    struct value value = {.kind = VALUE_HASH, .count = (size_t)RARRAY_LEN(keys)};

    value.as.pairs =
        arena_allocate(&ruby_of(mrb)->session->arena, value.count * sizeof(*value.as.pairs));
    for (size_t i = 0; i < value.count; i++) {
        mrb_value key = mrb_ary_ref(mrb, keys, (mrb_int)i);

        value.as.pairs[i].key = convert(mrb, key, depth + 1);
        value.as.pairs[i].value = convert(mrb, mrb_hash_get(mrb, hash, key), depth + 1);
    }
    return value;
}

static petal_slice
copy(mrb_state *mrb, const char *bytes, mrb_int size)
{
    struct arena *arena = &ruby_of(mrb)->session->arena;

    return (petal_slice){arena_copy(arena, bytes, (size_t)size), (size_t)size};
}

/* Bytes are copied: what the conversion of the next object calls may change the string. */
static struct value
convert_string(mrb_state *mrb, enum value_kind kind, mrb_value string)
{
    return (struct value){.kind = kind,
                          .as.bytes = copy(mrb, RSTRING_PTR(string), RSTRING_LEN(string))};
}

static struct value
convert_symbol(mrb_state *mrb, mrb_sym symbol)
{
    struct value value = {.kind = VALUE_SYMBOL};
    mrb_int size;
    const char *name = mrb_sym_name_len(mrb, symbol, &size);

    value.as.bytes = copy(mrb, name, size);
    return value;
}

/* Its class, and the list that the prelude keeps in it. */
static struct value
convert_filter(mrb_state *mrb, mrb_value filter, unsigned depth)
{
    mrb_value items = mrb_iv_get(mrb, filter, mrb_intern_lit(mrb, "@items"));
    mrb_value class = mrb_class_path(mrb, mrb_obj_class(mrb, filter));
    struct value value;

    if (!mrb_array_p(items))
        mrb_raise(mrb, E_ARGUMENT_ERROR, "the filter was not made by its constructor");
    value = convert_items(mrb, items, VALUE_FILTER, 1, depth);
    value.as.items[0] = convert_string(mrb, VALUE_STRING, class);
    return value;
}

static struct value
convert_object(mrb_state *mrb, mrb_value object, unsigned depth)
{
    const struct ruby *ruby = ruby_of(mrb);

    if (mrb_obj_is_kind_of(mrb, object, ruby->filter_class))
        return convert_filter(mrb, object, depth);
    if (mrb_obj_is_kind_of(mrb, object, ruby->table_class))
        return convert_string(
            mrb, VALUE_TABLE,
            mrb_obj_as_string(mrb, mrb_iv_get(mrb, object, mrb_intern_lit(mrb, "@name"))));
    return convert_string(mrb, VALUE_OTHER, mrb_obj_as_string(mrb, object));
}

static struct value
convert(mrb_state *mrb, mrb_value object, unsigned depth)
{
    struct value value = value_nil();

    if (depth > MOST_DEPTH)
        mrb_raise(mrb, E_ARGUMENT_ERROR, "lists and hashes in one another are at most 1000 deep");
    if (mrb_string_p(object)) {
        value = convert_string(mrb, VALUE_STRING, object);
    } else if (mrb_integer_p(object)) {
        value = value_integer(mrb_integer(object));
    } else if (mrb_float_p(object)) {
        value.kind = VALUE_FLOAT;
        value.as.number = mrb_float(object);
    } else if (mrb_symbol_p(object)) {
        value = convert_symbol(mrb, mrb_symbol(object));
    } else if (mrb_true_p(object) || mrb_false_p(object)) {
        value = value_boolean(mrb_true_p(object));
    } else if (mrb_array_p(object)) {
        value = convert_items(mrb, object, VALUE_ARRAY, 0, depth);
    } else if (mrb_hash_p(object)) {
        value = convert_hash(mrb, object, depth);
    } else if (!mrb_nil_p(object)) {
        value = convert_object(mrb, object, depth);
    }
    return value;
}

struct value
ruby_to_value(mrb_state *mrb, mrb_value object)
{
    return convert(mrb, object, 0);
}

static mrb_value
from_items(mrb_state *mrb, const struct value *value)
{
    mrb_value array = mrb_ary_new_capa(mrb, (mrb_int)value->count);

    for (size_t i = 0; i < value->count; i++)
        mrb_ary_push(mrb, array, ruby_from_value(mrb, &value->as.items[i]));
    return array;
}

static mrb_value
from_pairs(mrb_state *mrb, const struct value *value)
{
    mrb_value hash = mrb_hash_new_capa(mrb, (mrb_int)value->count);

    for (size_t i = 0; i < value->count; i++)
        mrb_hash_set(mrb, hash, ruby_from_value(mrb, &value->as.pairs[i].key),
                     ruby_from_value(mrb, &value->as.pairs[i].value));
    return hash;
}

mrb_value
ruby_from_value(mrb_state *mrb, const struct value *value)
{
    mrb_value name;

    switch (value->kind) {
    case VALUE_NIL:
    case VALUE_FILTER:
        break;
    case VALUE_BOOLEAN:
        return mrb_bool_value(value->as.boolean);
    case VALUE_INTEGER:
        return mrb_int_value(mrb, value->as.integer);
    case VALUE_FLOAT:
        return mrb_float_value(mrb, value->as.number);
    case VALUE_STRING:
    case VALUE_OTHER:
        return ruby_string(mrb, value->as.bytes);
    case VALUE_SYMBOL:
        return mrb_symbol_value(mrb_intern(mrb, value->as.bytes.data, value->as.bytes.size));
    case VALUE_ARRAY:
        return from_items(mrb, value);
    case VALUE_HASH:
        return from_pairs(mrb, value);
    case VALUE_TABLE:
        name = ruby_string(mrb, value->as.bytes);
        return mrb_obj_new(mrb, ruby_of(mrb)->table_class, 1, &name);
    }
    return mrb_nil_value();
}
