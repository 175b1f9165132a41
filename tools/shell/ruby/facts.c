/* facts.c -- see tools/shell/ruby/facts.h. */
#include "tools/shell/ruby/facts.h"

#include <mruby/hash.h>
#include <mruby/numeric.h>
#include <mruby/string.h>

#include <string.h>

static mrb_value
get_fact(mrb_state *mrb, const struct fact *fact, const void *object)
{
    const void *place = (const char *)object + fact->place;
    int word;

    switch (fact->form) {
    case FACT_NUMBER:
        return mrb_int_value(mrb, *(const mrb_int *)place);
    case FACT_NUMBER_32:
        return mrb_int_value(mrb, *(const uint32_t *)place);
    case FACT_BYTES:
        return ruby_string(mrb, *(const petal_slice *)place);
    case FACT_REAL:
        return mrb_float_value(mrb, *(const double *)place);
    case FACT_TRUTH:
        return mrb_bool_value(*(const bool *)place);
    case FACT_WORD:
        memcpy(&word, place, sizeof(word));
        return mrb_str_new_cstr(mrb, word_of(fact->words, word));
    }
    return mrb_nil_value();
}

/* The value is of the fact's form: schema.rb has seen to that. */
static void
set_fact(const struct fact *fact, void *object, mrb_value value)
{
    void *place = (char *)object + fact->place;

    switch (fact->form) {
    case FACT_NUMBER:
        *(mrb_int *)place = mrb_integer(value);
        break;
    case FACT_NUMBER_32:
        *(uint32_t *)place = (uint32_t)mrb_integer(value);
        break;
    case FACT_BYTES:
        *(petal_slice *)place = ruby_slice(value);
        break;
    case FACT_REAL:
        *(double *)place = mrb_float(value);
        break;
    case FACT_TRUTH:
        *(bool *)place = mrb_true_p(value);
        break;
    case FACT_WORD:
        for (const struct word *word = fact->words; word->name != NULL; word++)
            if (slice_is(ruby_slice(value), word->name))
                memcpy(place, &word->value, sizeof(word->value));
        break;
    }
}

void
ruby_add_facts(mrb_state *mrb, mrb_value hash, const struct fact *facts, size_t count,
               const void *object)
{
    int arena = mrb_gc_arena_save(mrb);

    for (size_t i = 0; i < count; i++) {
        mrb_hash_set(mrb, hash, mrb_str_new_cstr(mrb, facts[i].name),
                     get_fact(mrb, &facts[i], object));
        mrb_gc_arena_restore(mrb, arena);
    }
}

mrb_value
ruby_value_in(mrb_state *mrb, mrb_value hash, const char *name)
{
    return mrb_hash_get(mrb, hash, mrb_str_new_cstr(mrb, name));
}

void
ruby_take_facts(mrb_state *mrb, mrb_value hash, const struct fact *facts, size_t count,
                void *object)
{
    for (size_t i = 0; i < count; i++) {
        mrb_value value = ruby_value_in(mrb, hash, facts[i].name);

        if (!mrb_nil_p(value))
            set_fact(&facts[i], object, value);
    }
}
