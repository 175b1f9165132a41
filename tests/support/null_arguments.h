/*
 * null_arguments.h -- a public header is read, and each of its functions is called with NULL in
 * each of its pointers in turn, and with slices that have a size but no bytes. A function of the
 * header that has no row, and a pointer that a row does not name, fail the test.
 *
 * A row calls one function of the library, with good arguments in all places but the one that is
 * asked for: it writes its arguments by the macros below, and `state` is what the fixture made.
 * Rows enter themselves, those of one program. Of one thread.
 */
#ifndef PETAL_TESTS_SUPPORT_NULL_ARGUMENTS_H
#define PETAL_TESTS_SUPPORT_NULL_ARGUMENTS_H

#include "engine/petal.h"

/* The argument `name` of the header must be given; or may be NULL. */
#define GIVEN(name, value)    (null_is(#name, true) ? NULL : (value))
#define OPTIONAL(name, value) (null_is(#name, false) ? NULL : (value))
/* A slice. */
#define BYTES(name, text) null_bytes(#name, text)
/* A pointer that the call fills: it must be given, and is NULL after a failure. The variable is
 * static, since it is looked at when the row is over. */
#define OUT(name, variable) (null_out(#name, &(variable)) ? NULL : &(variable))
#define ERROR               null_error()
/* A struct of options that has only its size. */
#define SIZED(type)                                                                                \
    &(type)                                                                                        \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }

bool null_is(const char *name, bool must_be_given);
petal_slice null_bytes(const char *name, const char *text);
bool null_out(const char *name, void *variable);
petal_error *null_error(void);

/* What a call gives back that has no status, when an argument that must be given is NULL. */
enum null_answer { NULL_STATUS, NULL_ZERO, NULL_TRUE, NULL_NONE, NULL_ANYTHING };

struct null_row {
    const char *function;
    enum null_answer answer;
    uint64_t (*call)(void *state); /* gives back what the function did */
    struct null_row *next;
};

/* The head of a row whose body follows. */
#define NULL_ROW(function, answer)                                                                 \
    static uint64_t call_##function(void *state);                                                  \
    __attribute__((constructor)) static void enter_##function(void)                                \
    {                                                                                              \
        static struct null_row row = {#function, answer, call_##function, NULL};                   \
                                                                                                   \
        null_enter(&row);                                                                          \
    }                                                                                              \
    static uint64_t call_##function(void *state __attribute__((unused)))

/* A row that is one expression; one that fills `made`, of the type given; and one that also
 * releases it. */
#define NULL_CALL(function, answer, ...)                                                           \
    NULL_ROW(function, answer)                                                                     \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define NULL_GIVES(function, type, ...)                                                            \
    NULL_ROW(function, NULL_STATUS)                                                                \
    {                                                                                              \
        static type made;                                                                          \
                                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
#define NULL_MAKES(function, type, release, ...)                                                   \
    NULL_ROW(function, NULL_STATUS)                                                                \
    {                                                                                              \
        static type made;                                                                          \
        enum petal_status status = __VA_ARGS__;                                                    \
                                                                                                   \
        if (status == PETAL_OK)                                                                    \
            release(made);                                                                         \
        return status;                                                                             \
    }

/* A function that releases a member of the state, of the argument's name. */
#define NULL_FREES(function, member, type)                                                         \
    NULL_ROW(function, NULL_ZERO)                                                                  \
    {                                                                                              \
        type *its = state;                                                                         \
                                                                                                   \
        function(GIVEN(member, its->member));                                                      \
        if (!null_is(#member, true))                                                               \
            its->member = NULL;                                                                    \
        return 0;                                                                                  \
    }

void null_enter(struct null_row *row);

struct null_fixture {
    void *(*make)(void);
    void (*free)(void *state);
};

void null_arguments_test(const char *header, const struct null_fixture *fixture);

#endif
