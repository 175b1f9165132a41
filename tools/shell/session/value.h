/*
 * value.h -- what commands are given and give back: plain data made of Ruby's values.
 *
 * Values are small and copied by assignment.  They point to memory in the arena of the command at
 * hand.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_VALUE_H
#define PETAL_TOOLS_SHELL_SESSION_VALUE_H

#include "tools/shell/text/memory.h"
#include "tools/shell/text/text.h"

enum value_kind {
    VALUE_NIL,
    VALUE_BOOLEAN,
    VALUE_INTEGER,
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_SYMBOL,
    VALUE_ARRAY,
    VALUE_HASH,
    VALUE_TABLE,  /* what create and get_table give back: `bytes` is the table's name */
    VALUE_FILTER, /* the items are the name of its class, then what its constructor was given */
    VALUE_OTHER   /* any other object: `bytes` is what its to_s gives */
};

struct value_pair;

struct value {
    enum value_kind kind;
    size_t count; /* of items or pairs */
    union {
        bool boolean;
        int64_t integer;
        double number;
        petal_slice bytes;
        struct value *items;
        struct value_pair *pairs;
    } as;
};

struct value_pair {
    struct value key, value;
};

struct value value_nil(void);
struct value value_boolean(bool boolean);
struct value value_integer(int64_t integer);
struct value value_string(petal_slice bytes);

/* The value of a string key, NULL if the hash has none (or `hash` is no hash). */
const struct value *value_hash_get(const struct value *hash, const char *key);

/* The name of a filter's class, without the modules around it. */
petal_slice value_filter_name(const struct value *filter);

/* As Ruby's inspect shows it: "text", :symbol, ["a", 1], {"a"=>1}. */
void value_inspect(struct text *text, const struct value *value);

/* As Ruby's to_s gives it: strings and symbols bare, nil nothing, others as inspect. */
void value_to_text(struct text *text, const struct value *value);

/* The same as bytes that live in `arena`. */
petal_slice value_to_bytes(struct arena *arena, const struct value *value);

/* The same with a zero after it. */
char *value_to_string(struct arena *arena, const struct value *value);

/* A number as an integer: a fraction is cut off.  False for a value that is no number. */
bool value_to_integer(const struct value *value, int64_t *integer);

/* Ruby's name of the value's class. */
const char *value_class(const struct value *value);

#endif
