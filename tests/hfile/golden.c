/* golden.c -- see golden.h. */
#include "tests/hfile/golden.h"

#include "tests/hfile/sha256.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLAIN_BYTES 200
#define PATH_BYTES       512

static const char *
directory(void)
{
    const char *other = getenv("PETAL_HFILES");

    return other != NULL ? other : "tests/hfile/golden";
}

static char *
read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    long end;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0) {
        fprintf(stderr, "cannot read %s\n", path);
        abort();
    }
    rewind(file);
    bytes = test_allocate((size_t)end + 1);
    *size = fread(bytes, 1, (size_t)end, file);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

void
golden_path(const char *name, char *path, size_t path_bytes)
{
    snprintf(path, path_bytes, "%s/%s.hfile", directory(), name);
}

uint8_t *
golden_bytes(const char *name, size_t *size)
{
    char path[PATH_BYTES];

    golden_path(name, path, sizeof path);
    return (uint8_t *)read_all(path, size);
}

/* ---- texts ---- */

static void
split_line(char *begin, struct golden_line *line)
{
    line->count = 0;
    while (line->count < GOLDEN_MOST_FIELDS) {
        char *tab = strchr(begin, '\t');

        line->fields[line->count++] = begin;
        if (tab == NULL)
            return;
        *tab = '\0';
        begin = tab + 1;
    }
}

struct golden_text
golden_text_read(const char *name, const char *ending)
{
    struct golden_text text = {0};
    size_t size, capacity = 0;
    char path[PATH_BYTES];
    char *begin, *end;

    snprintf(path, sizeof path, "%s/%s.%s", directory(), name, ending);
    text.bytes = read_all(path, &size);
    for (begin = text.bytes; *begin != '\0'; begin = end + 1) {
        end = strchr(begin, '\n');
        *end = '\0';
        if (*begin == '#')
            continue;
        if (text.count == capacity) {
            capacity = capacity * 2 + 100;
            text.lines = test_reallocate(text.lines, capacity * sizeof *text.lines);
        }
        split_line(begin, &text.lines[text.count++]);
    }
    return text;
}

void
golden_text_free(struct golden_text *text)
{
    free(text->lines);
    free(text->bytes);
}

const char *
golden_find(const struct golden_text *text, const char *key)
{
    for (size_t i = 0; i < text->count; i++) {
        if (strcmp(text->lines[i].fields[0], key) == 0 && text->lines[i].count > 1)
            return text->lines[i].fields[1];
    }
    return NULL;
}

static int
is_hfile(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 6 && strcmp(entry->d_name + length - 6, ".hfile") == 0;
}

void
golden_each(void (*one)(const char *name))
{
    struct dirent **entries;
    int count = scandir(directory(), &entries, is_hfile, alphasort);

    if (count <= 0) {
        fprintf(stderr, "no files in %s\n", directory());
        abort();
    }
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - 6] = '\0';
        one(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

bool
golden_is_refused(const char *name)
{
    return strncmp(name, "refuse-", 7) == 0;
}

/* ---- bytes and cells as text ---- */

char *
golden_escape(petal_slice bytes)
{
    const uint8_t *from = bytes.data;
    char *text = test_allocate(4 * MOST_PLAIN_BYTES + 100), *to = text;

    if (bytes.size > MOST_PLAIN_BYTES) {
        char digits[65];

        sha256_text(bytes.data, bytes.size, digits);
        sprintf(text, "sha256:%s:%zu", digits, bytes.size);
        return text;
    }
    for (size_t i = 0; i < bytes.size; i++) {
        if (from[i] >= 0x21 && from[i] <= 0x7e && from[i] != '\\')
            *to++ = (char)from[i];
        else
            to += sprintf(to, "\\x%02X", from[i]);
    }
    *to = '\0';
    return text;
}

petal_slice
golden_unescape(const char *text)
{
    uint8_t *bytes = test_allocate(strlen(text) + 1), *to = bytes;

    while (*text != '\0') {
        if (text[0] == '\\' && text[1] == 'x') {
            char digits[3] = {text[2], text[3], '\0'};

            *to++ = (uint8_t)strtoul(digits, NULL, 16);
            text += 4;
        } else {
            *to++ = (uint8_t)*text++;
        }
    }
    return (petal_slice){bytes, (size_t)(to - bytes)};
}

static char *
tags_text(petal_slice tags)
{
    char *text = test_allocate(tags.size * 12 + 100), *to = text;
    petal_slice payload;
    int type, more;

    *to = '\0';
    while ((more = petal_hfile_tag_next(&tags, &type, &payload)) > 0) {
        char *escaped = golden_escape(payload);

        to += sprintf(to, "%s%d:%s", to == text ? "" : ",", type, escaped);
        free(escaped);
    }
    if (more < 0)
        strcpy(to, "?");
    return text;
}

char *
golden_cell_line(const petal_hfile_cell *cell)
{
    char *row = golden_escape(cell->row), *family = golden_escape(cell->family);
    char *qualifier = golden_escape(cell->qualifier), *value = golden_escape(cell->value);
    char *tags = tags_text(cell->tags), *line;
    size_t size = strlen(row) + strlen(family) + strlen(qualifier) + strlen(value) + strlen(tags);

    line = test_allocate(size + 100);
    sprintf(line, "%s\t%s\t%s\t%" PRId64 "\t%s\t%s\t%s\t%" PRId64, row, family, qualifier,
            cell->timestamp, petal_hfile_type_text(cell->type), value, tags, cell->sequence);
    free(row);
    free(family);
    free(qualifier);
    free(value);
    free(tags);
    return line;
}

/* ---- files in memory ---- */

static enum petal_status
read_at(void *context, uint64_t offset, void *buffer, size_t size, petal_error *error)
{
    const petal_slice *bytes = context;

    (void)error;
    if (offset > bytes->size || size > bytes->size - offset) {
        fprintf(stderr, "%zu bytes at %" PRIu64 " were asked for, behind the end\n", size, offset);
        abort();
    }
    if (size > 0)
        memcpy(buffer, (const uint8_t *)bytes->data + offset, size);
    return PETAL_OK;
}

petal_hfile_source
golden_source(petal_slice *bytes, const char *name)
{
    return (petal_hfile_source){
        .context = bytes, .name = name, .size = bytes->size, .read_at = read_at};
}
