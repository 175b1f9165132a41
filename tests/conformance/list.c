/* list.c -- see tests/conformance/list.h. */
#include "tests/conformance/list.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const rule_names[RULES] = {
    [RULE_EQUAL_TIMESTAMPS] = "equal-timestamps", [RULE_EQUAL_INSIDE] = "equal-timestamps-inside",
    [RULE_BATCH_ERROR] = "batch-error",           [RULE_SKIP_RANGES] = "skip-row-ranges",
    [RULE_FAKE_START] = "fake-start-row",         [RULE_WHILE_RANGES] = "while-row-ranges",
    [RULE_DONE_BRANCH] = "done-branch",           [RULE_KEPT_MARKER] = "kept-marker",
    [RULE_DELETED_AGAIN] = "deleted-again",       [RULE_ORDER_OF_WRITES] = "order-of-writes",
    [RULE_NEXT_COLUMN] = "next-column",           [RULE_EXPIRED_LATEST] = "expired-latest",
    [RULE_MIN_VERSIONS] = "min-versions"};

/* The next word of the line, empty at its end. */
static petal_slice
next_word(petal_slice *line)
{
    const char *bytes = line->data;
    size_t from = 0, to;

    while (from < line->size && bytes[from] == ' ')
        from++;
    for (to = from; to < line->size && bytes[to] != ' '; to++)
        continue;
    *line = (petal_slice){bytes + to, line->size - to};
    return (petal_slice){bytes + from, to - from};
}

/* NUMBER PATTERN RULE */
static const char *
read_entry(struct difference_list *list, petal_slice line)
{
    struct listed_difference entry = {.rule = RULE_EQUAL_TIMESTAMPS};
    petal_slice number = next_word(&line), pattern = next_word(&line), rule = next_word(&line);

    if (!slice_number(number, &entry.number))
        return "an entry does not begin with its number";
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].number == entry.number)
            return "there is an entry of this number already";
    }
    if (pattern.size == 0 || rule.size == 0 || next_word(&line).size > 0)
        return "an entry should be NUMBER PATTERN RULE";
    entry.pattern = arena_copy(&list->arena, pattern).data;
    while (entry.rule < RULES && !slice_is(rule, rule_names[entry.rule]))
        entry.rule++;
    if (entry.rule == RULES)
        return "the rule is none of equal-timestamps, equal-timestamps-inside, batch-error, "
               "skip-row-ranges, fake-start-row, while-row-ranges, done-branch, kept-marker, "
               "deleted-again, order-of-writes, next-column, expired-latest, min-versions";
    list->entries = arena_grow(&list->arena, list->entries, list->count, sizeof entry);
    list->entries[list->count++] = entry;
    return NULL;
}

bool
difference_list_read(struct difference_list *list, petal_slice text, char *error,
                     size_t error_bytes)
{
    const char *at = text.data, *end = at + text.size;
    bool has_reason = true;

    *list = (struct difference_list){.count = 0};
    for (size_t number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        petal_slice line = {at, (size_t)((stop == NULL ? end : stop) - at)};
        const char *what = NULL;

        at += line.size + 1;
        if (line.size == 0 || *(const char *)line.data == '#')
            continue;
        if (*(const char *)line.data != ' ') {
            what = has_reason ? read_entry(list, line) : "the entry before has no reason";
            has_reason = false;
        } else {
            has_reason = true;
        }
        if (what == NULL)
            continue;
        snprintf(error, error_bytes, "line %zu: %s", number, what);
        return false;
    }
    if (!has_reason)
        snprintf(error, error_bytes, "the last entry has no reason");
    return has_reason;
}

void
difference_list_fini(struct difference_list *list)
{
    arena_clear(&list->arena);
}

const struct listed_difference *
difference_list_find(const struct difference_list *list, enum difference_rule rule,
                     const struct recorded_case *recorded)
{
    char name[300];

    for (size_t i = 0; i < list->count; i++) {
        const struct listed_difference *entry = &list->entries[i];
        const petal_slice names[] = {recorded->name, recorded->group};

        if (entry->rule != rule)
            continue;
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%.*s", (int)names[k].size, (const char *)names[k].data);
            if (fnmatch(entry->pattern, name, 0) == 0)
                return entry;
        }
    }
    return NULL;
}
