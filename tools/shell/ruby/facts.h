/*
 * facts.h -- members of structs as values in a hash of Ruby's, and back.
 */
#ifndef PETAL_TOOLS_SHELL_RUBY_FACTS_H
#define PETAL_TOOLS_SHELL_RUBY_FACTS_H

#include "tools/shell/ruby/state.h"
#include "tools/shell/schema/words.h"

#include <stddef.h>

struct fact {
    const char *name;
    size_t place;
    enum { FACT_NUMBER, FACT_NUMBER_32, FACT_BYTES, FACT_REAL, FACT_TRUTH, FACT_WORD } form;
    const struct word *words; /* FACT_WORD: of an enumeration */
};

#define FACT(of, name, form)                                                                       \
    {                                                                                              \
#name, offsetof(of, name), FACT_##form, NULL                                               \
    }
#define CHOICE(of, name, list)                                                                     \
    {                                                                                              \
#name, offsetof(of, name), FACT_WORD, list##_words                                         \
    }

/* Put what the facts tell of the object into the hash. */
void ruby_add_facts(mrb_state *mrb, mrb_value hash, const struct fact *facts, size_t count,
                    const void *object);

/* Set members of the object; what is not in the hash stays as it is. */
void ruby_take_facts(mrb_state *mrb, mrb_value hash, const struct fact *facts, size_t count,
                     void *object);

/* nil if the hash has none of that name. */
mrb_value ruby_value_in(mrb_state *mrb, mrb_value hash, const char *name);

#endif
