/* regex.c -- see regex.h. */
#include "engine/filter/regex.h"

#include "base/mem.h"
#include "base/slice.h"
#include "engine/filter/java_regex.h"
#include "engine/filter/utf8.h"

#include <assert.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/*
 * PCRE2 tries `at_each` at every place of a text where a match can begin, but with its limit of
 * steps for each place anew. `whole` looks for the place itself, so that one limit holds for all
 * places; NULL when there is only one place.
 *
 * Not compiled to machine code (PCRE2's JIT): that wants memory which can be written and executed,
 * which hardened systems refuse, has a stack of its own, and counts no steps that could be limited
 * alike; a filter often lives for one scan only.
 */
struct regex {
    const petal_allocator *allocator;
    pcre2_code *at_each, *whole;
};

struct regex_search {
    const petal_allocator *allocator;
    const struct regex *regex;
    pcre2_match_context *limits;
    pcre2_match_data *data;        /* keeps the memory of a search for the next one */
    uint64_t most_steps, compared; /* of the search at hand; bytes that back references took */
    void *repaired;                /* the text at hand, if it is not UTF-8 */
    size_t repaired_capacity;
    char reason[80];
};

/* ---- memory ---- */

/* PCRE2 frees without a size, so each block begins with it. */
#define HEAD_BYTES 16

static void *
take_memory(size_t size, void *allocator)
{
    char *memory = size <= SIZE_MAX - HEAD_BYTES ? mem_alloc(allocator, HEAD_BYTES + size) : NULL;

    if (memory == NULL)
        return NULL;
    memcpy(memory, &size, sizeof size);
    return memory + HEAD_BYTES;
}

static void
give_memory(void *memory, void *allocator)
{
    char *head = memory;
    size_t size;

    if (memory == NULL)
        return;
    head -= HEAD_BYTES;
    memcpy(&size, head, sizeof size);
    assert(size <= SIZE_MAX - HEAD_BYTES);
    mem_free(allocator, head, HEAD_BYTES + size);
}

/* Objects copy the context's settings, so it can be freed. */
static pcre2_general_context *
memory_context(const petal_allocator *allocator)
{
    return pcre2_general_context_create(take_memory, give_memory, (void *)(uintptr_t)allocator);
}

/* ---- compiling ---- */

/* PETAL_INVALID with PCRE2's reason, and where in its text it stands in *offset. */
static enum petal_status
compile(pcre2_code **code, const petal_allocator *allocator, const char *text, size_t size,
        bool looks_ahead, size_t *offset, struct regex_mistake *mistake)
{
    /* Without NO_AUTO_POSSESS, PCRE2 would run over repeated characters without counting them as
     * steps. Its optimizations of where to start take a character that (?=...) looks at for one
     * that is used up: (?=a).*a is not found in "a". */
    const uint32_t flags = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOTALL | PCRE2_NO_AUTO_POSSESS |
                           (looks_ahead ? PCRE2_NO_START_OPTIMIZE : 0);
    pcre2_general_context *memory = memory_context(allocator);
    pcre2_compile_context *context = memory != NULL ? pcre2_compile_context_create(memory) : NULL;
    int error = PCRE2_ERROR_HEAP_FAILED;

    if (context != NULL) {
        /* With \r\n among the line ends PCRE2 would not let a match begin at its \n. */
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        *code = pcre2_compile((PCRE2_SPTR)text, size, flags, &error, offset, context);
    }
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    if (*code != NULL)
        return PETAL_OK;
    if (error == PCRE2_ERROR_HEAP_FAILED)
        return PETAL_NO_MEMORY;
    pcre2_get_error_message(error, (PCRE2_UCHAR *)mistake->reason, sizeof mistake->reason);
    return PETAL_INVALID;
}

enum petal_status
regex_new(struct regex **regex, const petal_allocator *allocator, petal_slice expression,
          bool ignore_case, struct regex_mistake *mistake)
{
    static const char before[] = "\\A.*?(?:";
    const size_t skipped = sizeof before - 1;
    struct java_regex java = {.allocator = allocator, .mistake = mistake};
    struct regex *made = mem_zalloc(allocator, sizeof *made);
    enum petal_status status;
    uint32_t flags = 0;
    size_t offset = 0;

    *regex = NULL;
    *mistake = (struct regex_mistake){0};
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->allocator = allocator;
    java_regex_put(&java, before);
    status = java_regex_translate(&java, expression, ignore_case);
    if (status == PETAL_OK) {
        status = compile(&made->at_each, allocator, (char *)java.written + skipped,
                         java.size - skipped, java.looks_ahead, &offset, mistake);
        if (status == PETAL_INVALID) {
            /* Translate again, to find the piece of the expression at the offset. */
            java.size = skipped;
            java.wanted = skipped + offset;
            (void)java_regex_translate(&java, expression, ignore_case);
            mistake->position = java.place;
        }
    }
    if (status == PETAL_OK &&
        pcre2_pattern_info(made->at_each, PCRE2_INFO_ALLOPTIONS, &flags) == 0 &&
        (flags & PCRE2_ANCHORED) == 0) {
        java_regex_put(&java, ")");
        status = java.no_memory ? PETAL_NO_MEMORY
                                : compile(&made->whole, allocator, java.written, java.size,
                                          java.looks_ahead, &offset, mistake);
    }
    mem_free(allocator, java.written, java.capacity);
    if (status == PETAL_OK)
        *regex = made;
    else
        regex_free(made);
    return status;
}

void
regex_free(struct regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_code_free(regex->at_each);
    pcre2_code_free(regex->whole);
    mem_free(regex->allocator, regex, sizeof *regex);
}

/* ---- searching ---- */

/* Called before a back reference, whose comparison PCRE2 counts as one step: its bytes count as
 * steps, too. The callout's number is that of the group. */
static int
count_compared(pcre2_callout_block *block, void *argument)
{
    struct regex_search *search = argument;
    uint32_t group = block->callout_number;
    const PCRE2_SIZE *taken = block->offset_vector + 2 * group;

    if (group < block->capture_top && taken[0] != PCRE2_UNSET && taken[1] > taken[0])
        search->compared += taken[1] - taken[0];
    return search->compared / REGEX_BYTES_PER_STEP > search->most_steps ? PCRE2_ERROR_MATCHLIMIT
                                                                        : 0;
}

enum petal_status
regex_search_new(struct regex_search **search, const petal_allocator *allocator,
                 const struct regex *regex)
{
    struct regex_search *made = mem_zalloc(allocator, sizeof *made);
    pcre2_general_context *memory = made != NULL ? memory_context(allocator) : NULL;

    *search = NULL;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    assert(regex->at_each != NULL);
    made->allocator = allocator;
    made->regex = regex;
    if (memory != NULL) {
        made->limits = pcre2_match_context_create(memory);
        made->data = pcre2_match_data_create(1, memory);
    }
    pcre2_general_context_free(memory);
    if (made->limits == NULL || made->data == NULL) {
        regex_search_free(made);
        return PETAL_NO_MEMORY;
    }
    pcre2_set_heap_limit(made->limits, REGEX_MOST_KIBIBYTES);
    (void)pcre2_set_callout(made->limits, count_compared, made);
    pcre2_set_depth_limit(made->limits, UINT32_MAX); /* all that is deep takes memory */
    *search = made;
    return PETAL_OK;
}

void
regex_search_free(struct regex_search *search)
{
    if (search == NULL)
        return;
    pcre2_match_data_free(search->data);
    pcre2_match_context_free(search->limits);
    mem_free(search->allocator, search->repaired, search->repaired_capacity);
    mem_free(search->allocator, search, sizeof *search);
}

/* The text as Java decodes it; valid UTF-8 is not copied. */
static enum petal_status
decode(struct regex_search *search, petal_slice *text)
{
    const uint8_t *at = slice_bytes(*text), *limit = at + text->size;
    char *to;

    for (;;) {
        const uint8_t *from;
        uint64_t eight;

        for (; limit - at >= 8; at += 8) {
            memcpy(&eight, at, 8);
            if ((eight & 0x8080808080808080u) != 0)
                break;
        }
        if (at == limit)
            return PETAL_OK;
        from = at;
        /* U+FFFD may stand there, as it is. */
        if (utf8_next(&at, limit) == UTF8_REPLACEMENT && !(*from == 0xEF && at - from == 3))
            break;
    }
    if (!mem_grow(search->allocator, &search->repaired, &search->repaired_capacity, 0,
                  3 * text->size, 1))
        return PETAL_NO_MEMORY;
    to = search->repaired;
    for (at = slice_bytes(*text); at < limit;) {
        const void *from = at;
        size_t size = 3;

        if (utf8_next(&at, limit) != UTF8_REPLACEMENT)
            size = (size_t)(at - (const uint8_t *)from);
        else
            from = "\xEF\xBF\xBD";
        memcpy(to, from, size);
        to += size;
    }
    *text = slice_make(search->repaired, (size_t)(to - (char *)search->repaired));
    assert(text->size <= search->repaired_capacity);
    return PETAL_OK;
}

static int
match(struct regex_search *search, const pcre2_code *code, petal_slice text, uint64_t most_steps)
{
    assert(text.data != NULL && code != NULL);
    pcre2_set_match_limit(search->limits,
                          most_steps < UINT32_MAX ? (uint32_t)most_steps : UINT32_MAX);
    return pcre2_match(code, text.data, text.size, 0, PCRE2_NO_UTF_CHECK, search->data,
                       search->limits);
}

enum petal_status
regex_search_find(struct regex_search *search, petal_slice text, bool *found)
{
    const struct regex *regex = search->regex;
    uint64_t most_steps;
    int answer;

    *found = false;
    if (text.size == 0)
        text.data = "";
    if (decode(search, &text) != PETAL_OK)
        return PETAL_NO_MEMORY;
    most_steps = REGEX_MOST_STEPS + (uint64_t)text.size * REGEX_STEPS_PER_BYTE;
    search->most_steps = most_steps;
    search->compared = 0;
    if (regex->whole == NULL) {
        answer = match(search, regex->at_each, text, most_steps);
    } else {
        /* So few steps for each place that all places together keep the limit; few texts need
         * more. */
        answer = match(search, regex->at_each, text, most_steps / (text.size + 1));
        if (answer == PCRE2_ERROR_MATCHLIMIT &&
            search->compared / REGEX_BYTES_PER_STEP <= most_steps)
            answer = match(search, regex->whole, text, most_steps);
    }
    *found = answer >= 0;
    if (answer >= 0 || answer == PCRE2_ERROR_NOMATCH)
        return PETAL_OK;
    if (answer == PCRE2_ERROR_NOMEMORY)
        return PETAL_NO_MEMORY;
    pcre2_get_error_message(answer, (PCRE2_UCHAR *)search->reason, sizeof search->reason);
    return PETAL_INVALID;
}

const char *
regex_search_reason(const struct regex_search *search)
{
    return search->reason;
}
