/* index.c -- see tools/shell/eval/index.h. */
#include "tools/shell/eval/index.h"

#include "tools/shell/eval/operator.h"
#include "tools/shell/language/value_hash.h"

static bool
complain_of_index(struct complaint *complaint, const struct value *values)
{
    if (values->kind == VALUE_ARRAY || values->kind == VALUE_STRING)
        return complain(complaint, "TypeError", "an item's place is a number or a range of them");
    return complain(complaint, "TypeError", "only a list, a hash or a text has items, not %s",
                    value_class(values));
}

/* From where and how many of `size`; false: that is outside. */
static bool
find_part(const struct value *index, const struct value *length, size_t size, size_t *from,
          size_t *count)
{
    int64_t whole = (int64_t)size, begin, end;

    if (index->kind == VALUE_RANGE) {
        begin = index->as.items[0].as.integer;
        end = index->as.items[1].as.integer;
        if (end < whole) /* the numbers are any */
            end += (end < 0 ? whole : 0) + !index->exclusive;
    } else {
        begin = index->as.integer;
        end = begin;
    }
    if (begin < -whole || begin > whole)
        return false;
    begin += begin < 0 ? whole : 0;
    if (index->kind != VALUE_RANGE) {
        if (length->as.integer < 0)
            return false;
        end = length->as.integer > whole - begin ? whole : begin + length->as.integer;
    }
    end = end > whole ? whole : end < begin ? begin : end;
    *from = (size_t)begin;
    *count = (size_t)(end - begin);
    return true;
}

static bool
is_place(const struct value *index, const struct value *length)
{
    if (index->kind == VALUE_INTEGER)
        return length->kind == VALUE_NIL || length->kind == VALUE_INTEGER;
    return index->kind == VALUE_RANGE && length->kind == VALUE_NIL &&
           index->as.items[0].kind == VALUE_INTEGER && index->as.items[1].kind == VALUE_INTEGER;
}

bool
index_get(struct arena *arena, const struct value *values, const struct value *index,
          const struct value *length, struct value *value, struct complaint *complaint)
{
    bool text = values->kind == VALUE_STRING, one;
    size_t size, from, count;
    struct value single = value_integer(1);

    *value = value_nil();
    if (values->kind == VALUE_HASH && length->kind == VALUE_NIL) {
        const struct value *found = value_hash_find(values, index);

        if (found != NULL)
            *value = *found;
        return true;
    }
    if ((!text && values->kind != VALUE_ARRAY) || !is_place(index, length))
        return complain_of_index(complaint, values);
    size = text ? text_characters(values->as.bytes) : values->count;
    one = index->kind == VALUE_INTEGER && length->kind == VALUE_NIL;
    if (!find_part(index, one ? &single : length, size, &from, &count) || (one && count == 0))
        return true;
    if (text) {
        petal_slice rest = values->as.bytes;

        (void)text_take_characters(&rest, from);
        *value = value_string(text_take_characters(&rest, count));
    } else if (one) {
        *value = values->as.items[from];
    } else {
        *value = (struct value){.kind = VALUE_ARRAY, .count = count};
        value->as.items = arena_copy(arena, values->as.items + from, count * sizeof(struct value));
    }
    return true;
}

bool
index_set(struct variables *variables, petal_slice name, const struct value *index,
          const struct value *value, struct complaint *complaint)
{
    const struct value *values = variables_get(variables, name);
    int64_t place;

    if (!operator_may_keep(index, 1, complaint) || !operator_may_keep(value, 1, complaint))
        return false;
    if (values->kind == VALUE_HASH) {
        variables_set_pair(variables, name, index, value);
        return true;
    }
    if (values->kind != VALUE_ARRAY || index->kind != VALUE_INTEGER)
        return complain_of_index(complaint, values);
    place = index->as.integer;
    if (place < 0)
        place += (int64_t)values->count;
    if (place < 0 || place >= MOST_ITEMS)
        return complain(complaint, "IndexError", "the list has no such place");
    variables_set_item(variables, name, (size_t)place, value);
    return true;
}
