/* compare.c -- applies the rules; see tests/replay/rules.h. */
#include "tests/replay/rules.h"

#include "tools/shell/text/memory.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { GREATEST_TABLE = 4000000, CONTEXT = 3 }; /* of a diff */

static bool
starts_with(const char *line, const char *beginning)
{
    return strncmp(line, beginning, strlen(beginning)) == 0;
}

/* ---- Making both sides alike
 * ------------------------------------------------------------------------ */

/* A line of a Java stack trace. */
static bool
is_trace(const char *line)
{
    const char *text = line + strspn(line, " \t");

    if (text > line && starts_with(text, "at "))
        return true;
    if (starts_with(text, "... ") && strspn(text + 4, "0123456789") > 0)
        return strcmp(text + 4 + strspn(text + 4, "0123456789"), " more") == 0;
    return starts_with(line, "Caused by: ");
}

static void
apply_masks(const struct rules *rules, struct lines *lines)
{
    for (size_t i = lines->count; i-- > 0;) {
        if (is_trace(lines->items[i])) {
            lines_remove(lines, i);
            continue;
        }
        for (size_t j = 0; j < rules->mask_count; j++)
            (void)replace_in_line(&lines->items[i], &rules->masks[j].pattern,
                                  rules->masks[j].replacement);
    }
}

/* Echoes that any or none may stand for, and lists without an order. */
static void
apply_specials(const char *command, struct lines *lines)
{
    if (starts_with(command, "delete_table_snapshots"))
        for (size_t i = lines->count; i-- > 0;)
            if (starts_with(lines->items[i], "=> "))
                lines_remove(lines, i);
    if (starts_with(command, "show_filters"))
        lines_sort(lines);
}

/* ---- Equal?
 * -------------------------------------------------------------------------------------------- */

static bool
matches_any(const struct pattern_list *list, const char *line)
{
    for (size_t i = 0; i < list->count; i++)
        if (matches(&list->items[i], line))
            return true;
    return false;
}

static size_t
next_blank(const struct lines *lines, size_t at)
{
    while (at < lines->count && lines->items[at][0] != '\0')
        at++;
    return at;
}

static bool
is_message(const char *line)
{
    return strstr(line, "ERROR") != NULL || strstr(line, "Error") != NULL;
}

/* Line by line; in the place of a loose line, and of those after it up to a blank one, there may
 * be any message. */
static bool
are_equal(const struct rules *rules, const struct lines *expected, const struct lines *actual)
{
    size_t i = 0, j = 0;

    while (i < expected->count) {
        const char *line = j < actual->count ? actual->items[j] : NULL;

        if (line != NULL && strcmp(expected->items[i], line) == 0) {
            i++;
            j++;
        } else if (!matches_any(&rules->loose, expected->items[i])) {
            return false;
        } else if (starts_with(expected->items[i], "=> ")) {
            i++;
            j += line != NULL && starts_with(line, "=> ");
        } else if (line == NULL || !is_message(line)) {
            return false;
        } else {
            i = next_blank(expected, i);
            j = next_blank(actual, j);
        }
    }
    return j == actual->count;
}

/* ---- Deliberate?
 * --------------------------------------------------------------------------------------- */

static bool
has_match(const struct pattern_list *list, const struct lines *lines)
{
    if (list->count == 0)
        return true;
    for (size_t i = 0; i < lines->count; i++)
        if (matches_any(list, lines->items[i]))
            return true;
    return false;
}

static bool
is_about(const struct difference_entry *entry, const struct comparison *comparison)
{
    const struct recorded_session *session = comparison->session;

    if (entry->session != NULL && fnmatch(entry->session, session->name, 0) != 0)
        return false;
    if (entry->mode != NULL && fnmatch(entry->mode, session->mode_name, 0) != 0)
        return false;
    if (entry->note.count > 0 &&
        (session->note == NULL || !matches_any(&entry->note, session->note)))
        return false;
    if (entry->command.count > 0 && !matches_any(&entry->command, comparison->command))
        return false;
    return has_match(&entry->expected, &comparison->expected) &&
           has_match(&entry->actual, &comparison->actual);
}

static bool
rewrites(const struct difference_entry *entry)
{
    return entry->unwraps || entry->rewriting_count > 0;
}

static size_t
count_characters(const char *line)
{
    size_t count = 0;

    for (; *line != '\0'; line++)
        count += ((unsigned char)*line & 0xc0) != 0x80;
    return count;
}

/* One blank for many. */
static void
squeeze_blanks(char *line)
{
    char *to = line;

    for (const char *from = line; *from != '\0'; from++)
        if (*from != ' ' || to == line || to[-1] != ' ')
            *to++ = *from;
    *to = '\0';
}

/* Join lines that fill a terminal's width.  Padded lines are such, too, so blanks do not count in
 * what becomes of them. */
static bool
unwrap(unsigned columns, struct lines *lines)
{
    bool changed = false;

    for (size_t i = lines->count; columns > 0 && i-- > 0;) {
        if (count_characters(lines->items[i]) != columns)
            continue;
        changed = true;
        if (i + 1 < lines->count && count_characters(lines->items[i + 1]) >= columns) {
            size_t size = strlen(lines->items[i]);

            lines->items[i] = memory_grow(lines->items[i], size + strlen(lines->items[i + 1]) + 1);
            (void)strcpy(lines->items[i] + size, lines->items[i + 1]);
            lines_remove(lines, i + 1);
        }
    }
    for (size_t i = 0; i < lines->count && changed; i++)
        squeeze_blanks(lines->items[i]);
    return changed;
}

/* Rewrite line `index`, or take it out.  Was there anything to do? */
static bool
rewrite_line(const struct difference_entry *entry, struct lines *lines, size_t index)
{
    bool changed = false;

    for (size_t i = 0; i < entry->rewriting_count; i++) {
        const struct rewriting *rewriting = &entry->rewritings[i];

        if (rewriting->replacement != NULL) {
            changed = replace_in_line(&lines->items[index], &rewriting->pattern,
                                      rewriting->replacement) ||
                      changed;
        } else if (matches(&rewriting->pattern, lines->items[index])) {
            lines_remove(lines, index);
            return true;
        }
    }
    return changed;
}

static bool
rewrite(const struct difference_entry *entry, unsigned columns, struct lines *lines)
{
    bool changed = entry->unwraps && unwrap(columns, lines);

    for (size_t i = lines->count; i-- > 0;)
        changed = rewrite_line(entry, lines, i) || changed;
    return changed;
}

/* Do the rewritings of all entries that are about it make both sides equal?  The first one that
 * changed anything is told. */
static const struct difference_entry *
explain_by_rewriting(struct rules *rules, const struct comparison *comparison)
{
    const struct difference_entry *first = NULL;
    unsigned columns = comparison->session->columns;
    struct lines expected = {0}, actual = {0};
    bool *changed = memory_allocate(rules->entry_count * sizeof(*changed));
    bool equal;

    lines_copy(&expected, &comparison->expected);
    lines_copy(&actual, &comparison->actual);
    for (size_t i = 0; i < rules->entry_count; i++) {
        const struct difference_entry *entry = &rules->entries[i];

        changed[i] = false;
        if (!rewrites(entry) || !is_about(entry, comparison))
            continue;
        changed[i] = rewrite(entry, columns, &expected);
        changed[i] = rewrite(entry, columns, &actual) || changed[i];
    }
    equal = are_equal(rules, &expected, &actual);
    for (size_t i = 0; i < rules->entry_count && equal; i++) {
        if (!changed[i])
            continue;
        rules->entries[i].used = true;
        first = first == NULL ? &rules->entries[i] : first;
    }
    free(changed);
    lines_free(&expected);
    lines_free(&actual);
    return first;
}

enum verdict
compare(struct rules *rules, struct comparison *comparison, const struct difference_entry **entry)
{
    *entry = NULL;
    apply_masks(rules, &comparison->expected);
    apply_masks(rules, &comparison->actual);
    apply_specials(comparison->command, &comparison->expected);
    apply_specials(comparison->command, &comparison->actual);
    if (are_equal(rules, &comparison->expected, &comparison->actual))
        return EQUAL;
    *entry = explain_by_rewriting(rules, comparison);
    for (size_t i = 0; i < rules->entry_count && *entry == NULL; i++) {
        if (!rewrites(&rules->entries[i]) && is_about(&rules->entries[i], comparison)) {
            rules->entries[i].used = true;
            *entry = &rules->entries[i];
        }
    }
    return *entry != NULL ? DELIBERATE : DIFFERENT;
}

/* ---- Showing it
 * ------------------------------------------------------------------------------------------ */

static void
add_lines(struct text *text, char sign, const struct lines *lines, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        text_add_format(text, "    %c%s\n", sign, lines->items[i]);
}

/* lengths[i][j]: of the longest common subsequence of what begins at expected line i and actual
 * line j. */
static unsigned *
common_lengths(const struct lines *a, const struct lines *b, size_t from, size_t a_end,
               size_t b_end)
{
    size_t width = b_end - from + 1, height = a_end - from + 1;
    unsigned *lengths = memory_allocate(width * height * sizeof(*lengths));

    memset(lengths, 0, width * height * sizeof(*lengths));
    for (size_t i = height - 1; i-- > 0;) {
        for (size_t j = width - 1; j-- > 0;) {
            unsigned *length = &lengths[i * width + j];

            if (strcmp(a->items[from + i], b->items[from + j]) == 0)
                *length = length[width + 1] + 1;
            else
                *length = length[width] > length[1] ? length[width] : length[1];
        }
    }
    return lengths;
}

static void
add_middle(struct text *text, const struct lines *a, const struct lines *b, size_t from,
           size_t a_end, size_t b_end)
{
    size_t width = b_end - from + 1, i = from, j = from;
    unsigned *lengths = common_lengths(a, b, from, a_end, b_end);

    while (i < a_end || j < b_end) {
        const unsigned *length = &lengths[(i - from) * width + (j - from)];

        if (i < a_end && j < b_end && strcmp(a->items[i], b->items[j]) == 0) {
            add_lines(text, ' ', a, i, i + 1);
            i++;
            j++;
        } else if (i < a_end && (j == b_end || length[width] >= length[1])) {
            add_lines(text, '-', a, i, i + 1);
            i++;
        } else {
            add_lines(text, '+', b, j, j + 1);
            j++;
        }
    }
    free(lengths);
}

void
add_difference(struct text *text, const struct lines *expected, const struct lines *actual)
{
    size_t from = 0, e = expected->count, a = actual->count, behind;

    while (from < e && from < a && strcmp(expected->items[from], actual->items[from]) == 0)
        from++;
    while (e > from && a > from && strcmp(expected->items[e - 1], actual->items[a - 1]) == 0) {
        e--;
        a--;
    }
    add_lines(text, ' ', expected, from > CONTEXT ? from - CONTEXT : 0, from);
    if ((e - from + 1) * (a - from + 1) > GREATEST_TABLE) {
        add_lines(text, '-', expected, from, e);
        add_lines(text, '+', actual, from, a);
    } else {
        add_middle(text, expected, actual, from, e, a);
    }
    behind = expected->count - e < CONTEXT ? expected->count : e + CONTEXT;
    add_lines(text, ' ', expected, e, behind);
}
