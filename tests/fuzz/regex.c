/*
 * regex.c -- any bytes as a regular expression and a text: refused with a place inside of it, or
 * searched, twice alike and within the limits. And any text, quoted, is found in itself.
 *
 * Input: byte 0: bit 0: without regard to case; byte 1: the length of the expression; the text.
 */
#include "engine/filter/regex.h"
#include "engine/filter/utf8.h"
#include "tests/fuzz/target.h"

#define FUZZ_MOST_BYTES 400

static const petal_allocator *
allocator(void)
{
    static size_t most = (size_t)REGEX_MOST_KIBIBYTES << 10;
    static petal_allocator bounded;

    bounded = fuzz_allocator(&most);
    return &bounded;
}

/* Whether it is found; false too when the search is given up. */
static bool
find(struct regex_search *search, petal_slice text, bool *given_up)
{
    bool found = false;
    enum petal_status status = regex_search_find(search, text, &found);

    *given_up = status != PETAL_OK;
    if (*given_up)
        fuzz_must(status == PETAL_INVALID && regex_search_reason(search)[0] != '\0');
    return found && !*given_up;
}

static bool
search(petal_slice expression, bool ignore_case, petal_slice text, bool *known)
{
    struct regex_mistake mistake = {0};
    struct regex_search *search;
    struct regex *regex = NULL;
    bool found, again, given_up, given_up_again;

    *known = false;
    if (regex_new(&regex, allocator(), expression, ignore_case, &mistake) != PETAL_OK) {
        fuzz_must(regex == NULL && mistake.position <= expression.size);
        fuzz_must(mistake.reason[0] != '\0' &&
                  memchr(mistake.reason, 0, sizeof mistake.reason) != NULL);
        return false;
    }
    fuzz_must(regex_search_new(&search, allocator(), regex) == PETAL_OK);
    found = find(search, text, &given_up);
    find(search, slice_make("", 0), &given_up_again);
    again = find(search, text, &given_up_again);
    fuzz_must(found == again && given_up == given_up_again);
    regex_search_free(search);
    regex_free(regex);
    *known = !given_up;
    return found;
}

/* \Q text \E, where the text does not end the quotation itself. */
static void
search_quoted(petal_slice text, bool ignore_case)
{
    uint8_t *quoted = malloc(text.size + 4);
    bool known, found;

    fuzz_must(quoted != NULL);
    memcpy(quoted, "\\Q", 2);
    if (text.size > 0)
        memcpy(quoted + 2, text.data, text.size);
    memcpy(quoted + 2 + text.size, "\\E", 2);
    if (memmem(quoted + 2, text.size + 1, "\\E", 2) == NULL) {
        found = search(slice_make(quoted, text.size + 4), ignore_case, text, &known);
        fuzz_must(!known || found);
    }
    free(quoted);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    bool ignore_case = fuzz_number(&input, 1) % 2 == 1, known;
    petal_slice expression = fuzz_take(&input, fuzz_number(&input, 1));
    petal_slice text = fuzz_take(&input, input.left);

    search(expression, ignore_case, text, &known);
    search_quoted(text, ignore_case);
    return 0;
}
