/* rules.c -- reads the rules; see tests/replay/rules.h and, for how they are applied,
 * tests/replay/compare.c. */
#include "tests/replay/rules.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of rules while it is read. */
struct rule_file {
    char path[4096];
    struct lines lines;
    size_t number; /* of the line at hand, from 1 */
};

static bool
complain(const struct rule_file *file, const char *what)
{
    (void)fprintf(stderr, "%s:%zu: %s\n", file->path, file->number, what);
    return false;
}

static bool
open_rules(struct rule_file *file, const char *folder, const char *name)
{
    struct text text = {0};

    *file = (struct rule_file){.number = 0};
    (void)snprintf(file->path, sizeof(file->path), "%s/%s", folder, name);
    if (!read_file(file->path, &text)) {
        text_free(&text);
        return complain(file, strerror(errno));
    }
    lines_split(&file->lines, text_slice(&text));
    text_free(&text);
    return true;
}

static char *
copy_string(const char *string)
{
    size_t size = strlen(string) + 1;

    return memcpy(memory_allocate(size), string, size);
}

static bool
add_pattern(struct pattern_list *list, const struct rule_file *file, const char *pattern)
{
    list->items = memory_grow(list->items, (list->count + 1) * sizeof(*list->items));
    if (!compile_pattern(pattern, file->path, file->number, &list->items[list->count]))
        return false;
    list->count++;
    return true;
}

static bool
add_rewriting(struct rewriting **list, size_t *count, const struct rule_file *file,
              const char *pattern, const char *replacement)
{
    struct rewriting *added;

    *list = memory_grow(*list, (*count + 1) * sizeof(**list));
    added = &(*list)[*count];
    if (!compile_pattern(pattern, file->path, file->number, &added->pattern))
        return false;
    added->replacement = replacement != NULL ? copy_string(replacement) : NULL;
    ++*count;
    return true;
}

/* ---- masks.txt and loose.txt
 * ---------------------------------------------------------------------- */

static bool
read_masks(struct rules *rules, const char *folder)
{
    struct rule_file file;
    bool good = open_rules(&file, folder, "masks.txt");

    for (size_t i = 0; i < file.lines.count && good; i++) {
        char *tab = strchr(file.lines.items[i], '\t');

        file.number = i + 1;
        if (strncmp(file.lines.items[i], "# ", 2) == 0)
            continue;
        if (tab == NULL) {
            good = complain(&file, "the tab is missing");
            continue;
        }
        *tab = '\0';
        good =
            add_rewriting(&rules->masks, &rules->mask_count, &file, file.lines.items[i], tab + 1);
    }
    lines_free(&file.lines);
    return good;
}

static bool
read_loose(struct rules *rules, const char *folder)
{
    struct rule_file file;
    bool good = open_rules(&file, folder, "loose.txt");

    for (size_t i = 0; i < file.lines.count && good; i++) {
        file.number = i + 1;
        good = add_pattern(&rules->loose, &file, file.lines.items[i]);
    }
    lines_free(&file.lines);
    return good;
}

/* ---- DIFFERENCES
 * ------------------------------------------------------------------------------------- */

/* PATTERN ==> REPLACEMENT; the replacement may be empty. */
static bool
take_rewriting(struct difference_entry *entry, const struct rule_file *file, char *value)
{
    char *arrow = strstr(value, " ==>");

    if (arrow == NULL)
        return complain(file, "rewrite wants PATTERN ==> REPLACEMENT");
    *arrow = '\0';
    return add_rewriting(&entry->rewritings, &entry->rewriting_count, file, value,
                         arrow + 4 + (arrow[4] == ' '));
}

static bool
take_condition(struct difference_entry *entry, const struct rule_file *file, const char *key,
               char *value)
{
    struct {
        const char *key;
        struct pattern_list *list;
    } lists[] = {{"note", &entry->note},
                 {"command", &entry->command},
                 {"expected", &entry->expected},
                 {"actual", &entry->actual}};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (strcmp(key, lists[i].key) == 0)
            return add_pattern(lists[i].list, file, value);
    if (strcmp(key, "session") == 0 && entry->session == NULL)
        entry->session = copy_string(value);
    else if (strcmp(key, "mode") == 0 && entry->mode == NULL)
        entry->mode = copy_string(value);
    else if (strcmp(key, "unwrap") == 0)
        entry->unwraps = true;
    else if (strcmp(key, "rewrite") == 0)
        return take_rewriting(entry, file, value);
    else if (strcmp(key, "drop") == 0)
        return add_rewriting(&entry->rewritings, &entry->rewriting_count, file, value, NULL);
    else
        return complain(file, "an unknown key, or one that was given before");
    return true;
}

static bool
take_entry_line(struct rules *rules, struct rule_file *file, char *line)
{
    struct difference_entry *entry =
        rules->entry_count > 0 ? &rules->entries[rules->entry_count - 1] : NULL;
    char *value = strchr(line, ' ');

    if (line[0] == '\0' || line[0] == '#')
        return true;
    if (line[0] == ' ') {
        if (entry == NULL)
            return complain(file, "a reason without an entry");
        entry->has_reason = true;
        return true;
    }
    if (value == NULL)
        return complain(file, "a key without a value");
    *value = '\0';
    value += 1 + strspn(value + 1, " ");
    if (strcmp(line, "entry") != 0)
        return entry != NULL ? take_condition(entry, file, line, value)
                             : complain(file, "there should be an entry");
    rules->entries =
        memory_grow(rules->entries, (rules->entry_count + 1) * sizeof(*rules->entries));
    entry = &rules->entries[rules->entry_count++];
    memset(entry, 0, sizeof(*entry));
    entry->name = copy_string(value);
    entry->line = file->number;
    return true;
}

static bool
read_differences(struct rules *rules, const char *folder)
{
    struct rule_file file;
    bool good = open_rules(&file, folder, "DIFFERENCES");

    for (size_t i = 0; i < file.lines.count && good; i++) {
        file.number = i + 1;
        good = take_entry_line(rules, &file, file.lines.items[i]);
    }
    for (size_t i = 0; i < rules->entry_count && good; i++) {
        file.number = rules->entries[i].line;
        good = rules->entries[i].has_reason || complain(&file, "an entry without a reason");
    }
    lines_free(&file.lines);
    return good;
}

bool
rules_read(const char *folder, struct rules *rules)
{
    *rules = (struct rules){.mask_count = 0};
    return read_masks(rules, folder) && read_loose(rules, folder) &&
           read_differences(rules, folder);
}

/* ---- The end
 * ------------------------------------------------------------------------------------------ */

static void
free_patterns(struct pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        regfree(&list->items[i]);
    free(list->items);
}

static void
free_rewritings(struct rewriting *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        regfree(&list[i].pattern);
        free(list[i].replacement);
    }
    free(list);
}

void
rules_free(struct rules *rules)
{
    for (size_t i = 0; i < rules->entry_count; i++) {
        struct difference_entry *entry = &rules->entries[i];

        free_patterns(&entry->note);
        free_patterns(&entry->command);
        free_patterns(&entry->expected);
        free_patterns(&entry->actual);
        free_rewritings(entry->rewritings, entry->rewriting_count);
        free(entry->name);
        free(entry->session);
        free(entry->mode);
    }
    free(rules->entries);
    free_patterns(&rules->loose);
    free_rewritings(rules->masks, rules->mask_count);
}
