/*
 * value.h -- what expressions of the shell's language evaluate to.
 *
 * Values are small and copied by assignment; what they point to lives in the arena of the input
 * that made them.
 *
 * The room language: the shell's part of Ruby, from letters to tokens, a tree and values.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_VALUE_H
#define PETAL_TOOLS_SHELL_LANGUAGE_VALUE_H

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
    VALUE_RANGE, /* its two ends are items */
    VALUE_TABLE, /* what create and get_table give back: `bytes` is the table's name */
    VALUE_CLASS, /* Java's: `bytes` is the name with its package */
    VALUE_OBJECT /* of such a class: the items are the class, then what the class says */
};

/* Lists, hashes and objects in one another that a variable may have: what looks at a value takes a
 * frame of the stack for each of them. */
enum { VALUE_MOST_DEPTH = 1000 };

struct value_pair;
struct value_index;

struct value {
    enum value_kind kind;
    bool exclusive; /* of a range: without its end */
    size_t count;   /* of items or pairs */
    union {
        bool boolean;
        int64_t integer;
        double number;
        petal_slice bytes;
        struct value *items;
        struct {
            struct value_pair *pairs;  /* each key once, in the order of their first mention */
            struct value_index *index; /* of their keys, if a variable has made one, else NULL */
        };
    } as;
};

struct value_pair {
    struct value key, value;
};

struct value value_nil(void);
struct value value_boolean(bool boolean);
struct value value_integer(int64_t integer);
struct value value_string(petal_slice bytes);

/* A string of these bytes, which are copied. */
struct value value_string_copy(struct arena *arena, petal_slice bytes);

/* The same value, with all that it points to in `arena`. */
struct value value_copy(struct arena *arena, const struct value *value);

/* Has it no more than so many lists, hashes and objects in one another? */
bool value_nests_at_most(const struct value *value, unsigned depth);

bool value_equal(const struct value *a, const struct value *b);

/* Add an item to a list that grows in `arena`; *capacity is 0 with the first one. */
void value_list_add(struct arena *arena, struct value *list, size_t *capacity,
                    const struct value *item);

/* The value of a string key, NULL if the hash has none (or `hash` is no hash). */
const struct value *value_hash_get(const struct value *hash, const char *key);

/* A Time of Ruby's; its second item are milliseconds since 1970. */
bool value_is_time(const struct value *value);

/* All but nil and false. */
bool value_is_true(const struct value *value);

/* What stands behind the last point of a Java class's name. */
petal_slice class_simple_name(petal_slice name);

/* As Ruby's inspect shows it: "text", :symbol, ["a", 1], {"a"=>1}, 1..3. */
void value_inspect(struct text *text, const struct value *value);

/* As Ruby's to_s gives it: strings and symbols bare, nil nothing, others as inspect. */
void value_to_text(struct text *text, const struct value *value);

/* The same as bytes that live in `arena`. */
petal_slice value_to_bytes(struct arena *arena, const struct value *value);

/* The same with a zero behind it. */
char *value_to_string(struct arena *arena, const struct value *value);

/* A number as an integer: what a fraction has behind its point is cut.  False for what is none. */
bool value_to_integer(const struct value *value, int64_t *integer);

/* Ruby's name of the value's class. */
const char *value_class(const struct value *value);

#endif
