/* null_arguments.c -- see null_arguments.h. */

#include "tests/support/null_arguments.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME  64
#define MOST_OUTS  4
#define OUT_BEFORE ((void *)(uintptr_t)16) /* what nobody gives back */

/* ---- what the row at hand is asked for ---- */

static struct {
    char target[MOST_NAME];
    bool without_error; /* the error is NULL, too */
    bool named;         /* the row has named the target */
    bool is_optional, is_slice;
    void **outs[MOST_OUTS];
    size_t out_count;
    petal_error error;
} asked;

static bool
is_target(const char *name)
{
    bool is = strcmp(name, asked.target) == 0;

    asked.named = asked.named || is;
    return is;
}

bool
null_is(const char *name, bool must_be_given)
{
    bool is = is_target(name);

    if (is)
        asked.is_optional = !must_be_given;
    return is;
}

petal_slice
null_bytes(const char *name, const char *text)
{
    if (!is_target(name))
        return (petal_slice){text, strlen(text)};
    asked.is_slice = true;
    return (petal_slice){NULL, 3};
}

bool
null_out(const char *name, void *variable)
{
    if (is_target(name))
        return true;
    assert_true(asked.out_count < MOST_OUTS);
    asked.outs[asked.out_count] = variable;
    *asked.outs[asked.out_count++] = OUT_BEFORE;
    return false;
}

petal_error *
null_error(void)
{
    bool is = is_target("error");

    if (is)
        asked.is_optional = true;
    return is || asked.without_error ? NULL : &asked.error;
}

/* ---- the header ---- */

struct function {
    char name[MOST_NAME];
    char parameters[1024];
    bool has_status;
};

static char *
read_header(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = test_allocate(1 << 20);
    size_t size;

    if (file == NULL)
        fail_msg("%s cannot be read; the test runs in the checkout", path);
    size = fread(text, 1, (1 << 20) - 1, file);
    assert_true(size < (1 << 20) - 1);
    fclose(file);
    text[size] = '\0';
    return text;
}

static void
blank(char *from, const char *to)
{
    for (; from < to; from++)
        *from = ' ';
}

/* Comments and what the preprocessor takes become blanks. */
static void
strip(char *text)
{
    for (char *at = text; (at = strstr(at, "/*")) != NULL;) {
        char *end = strstr(at, "*/");

        assert_non_null(end);
        blank(at, end + 2);
    }
    for (char *at = text; *at != '\0';) {
        char *end = at + strcspn(at, "\n");

        if (*at == '#') {
            while (*end != '\0' && end[-1] == '\\')
                end += 1 + strcspn(end + 1, "\n");
            blank(at, end);
        }
        at = *end == '\0' ? end : end + 1;
    }
}

static bool
is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next function of the header; NULL: there is none. */
static const char *
next_function(const char *at, struct function *function)
{
    const char *open, *name, *end;

    at = strstr(at, "PETAL_API ");
    if (at == NULL)
        return NULL;
    open = strchr(at, '(');
    end = strchr(at, ';');
    assert_true(open != NULL && end != NULL && open < end);
    for (name = open; is_name_byte(name[-1]);)
        name--;
    snprintf(function->name, sizeof function->name, "%.*s", (int)(open - name), name);
    snprintf(function->parameters, sizeof function->parameters, "%.*s", (int)(end - open - 2),
             open + 1);
    function->has_status = false;
    for (const char *status = at; (status = strstr(status, "enum petal_status")) != NULL;
         status++) {
        if (status < name)
            function->has_status = true;
        if (status >= name)
            break;
    }
    return end;
}

/* Take the first parameter off. False: there is none left. `name` is empty if it is no pointer and
 * no slice. */
static bool
next_parameter(char **parameters, char *name)
{
    char *from = *parameters + strspn(*parameters, " \n"), *end = from, *last;
    const char *star;
    int depth = 0;

    if (*from == '\0')
        return false;
    for (; *end != '\0' && (*end != ',' || depth > 0); end++)
        depth += (*end == '(') - (*end == ')');
    *parameters = *end == '\0' ? end : end + 1;
    *end = '\0';
    name[0] = '\0';
    star = strstr(from, "(*");
    if (star != NULL) {
        snprintf(name, MOST_NAME, "%.*s", (int)strcspn(star + 2, ")"), star + 2);
        return true;
    }
    if (strchr(from, '*') == NULL && strstr(from, "petal_slice ") == NULL &&
        strstr(from, "_watch ") == NULL)
        return true;
    for (last = end; last > from && is_name_byte(last[-1]);)
        last--;
    snprintf(name, MOST_NAME, "%s", last);
    return true;
}

/* ---- one call ---- */

static void
check_refused(const struct null_row *row, uint64_t answer)
{
    char text[MOST_NAME + 32];

    snprintf(text, sizeof text, asked.is_slice ? "%s has a size" : "%s is NULL", asked.target);
    if (answer != PETAL_INVALID)
        fail_msg("%s, %s: status %d", row->function, text, (int)answer);
    if (!asked.without_error &&
        (asked.error.status != PETAL_INVALID || strstr(asked.error.text, text) == NULL))
        fail_msg("%s, %s: the error says: %s", row->function, text, asked.error.text);
    for (size_t i = 0; i < asked.out_count; i++) {
        if (*asked.outs[i] != NULL)
            fail_msg("%s, %s: what is given back is not NULL", row->function, text);
    }
}

static void
check(const struct null_row *row, uint64_t answer)
{
    if (!asked.named)
        fail_msg("the row of %s does not name %s", row->function, asked.target);
    switch (row->answer) {
    case NULL_STATUS:
        if (asked.is_optional && answer != PETAL_OK)
            fail_msg("%s without %s: status %d: %s", row->function, asked.target, (int)answer,
                     asked.error.text);
        if (!asked.is_optional)
            check_refused(row, answer);
        return;
    case NULL_ZERO:
    case NULL_TRUE:
        if (!asked.is_optional && answer != (row->answer == NULL_TRUE))
            fail_msg("%s without %s gives back %llu", row->function, asked.target,
                     (unsigned long long)answer);
        return;
    case NULL_NONE:
        if (!asked.is_optional && answer != UINT64_MAX)
            fail_msg("%s without %s gives back %llu", row->function, asked.target,
                     (unsigned long long)answer);
        return;
    case NULL_ANYTHING:
        return;
    }
}

static void
run(const struct null_row *row, const char *target, bool without_error,
    const struct null_fixture *fixture)
{
    void *made = fixture->make();
    uint64_t answer;

    memset(&asked, 0, sizeof asked);
    snprintf(asked.target, sizeof asked.target, "%s", target);
    asked.without_error = without_error;
    answer = row->call(made);
    check(row, answer);
    fixture->free(made);
}

static unsigned
run_all(const struct null_row *row, struct function *function, const struct null_fixture *fixture)
{
    char *parameters = function->parameters, name[MOST_NAME];
    unsigned calls = 0;

    if (function->has_status != (row->answer == NULL_STATUS))
        fail_msg("the row of %s says another kind of answer than the header", row->function);
    while (next_parameter(&parameters, name)) {
        for (int without_error = 0; name[0] != '\0' && without_error < 2; without_error++) {
            run(row, name, without_error == 1, fixture);
            calls++;
        }
    }
    return calls;
}

/* ---- all of them ---- */

static struct null_row *rows;

void
null_enter(struct null_row *row)
{
    row->next = rows;
    rows = row;
}

static const struct null_row *
find(const char *name)
{
    for (const struct null_row *row = rows; row != NULL; row = row->next) {
        if (strcmp(row->function, name) == 0)
            return row;
    }
    return NULL;
}

void
null_arguments_test(const char *header, const struct null_fixture *fixture)
{
    char *text = read_header(header);
    struct function function;
    size_t functions = 0, count = 0;
    unsigned calls = 0;

    strip(text);
    for (const char *at = text; (at = next_function(at, &function)) != NULL; functions++) {
        const struct null_row *row = find(function.name);

        if (row == NULL)
            fail_msg("%s of %s has no row in this test", function.name, header);
        calls += run_all(row, &function, fixture);
    }
    free(text);
    for (const struct null_row *row = rows; row != NULL; row = row->next)
        count++;
    assert_true(functions > 20);
    if (functions != count)
        fail_msg("there are %zu rows, and %s has %zu functions", count, header, functions);
    test_counted("%zu functions of %s, %u calls with NULL", functions, header, calls);
}
