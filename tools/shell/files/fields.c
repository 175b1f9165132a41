/* fields.c -- see tools/shell/files/fields.h. */
#include "tools/shell/files/fields.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *word, *ending;
    enum file_format format;
} formats[] = {{"csv", ".csv", FILE_CSV},
               {"tsv", ".tsv", FILE_TSV},
               {"jsonl", ".jsonl", FILE_JSON},
               {"jsonl", ".ndjson", FILE_JSON},
               {"hbase", ".hbase", FILE_HBASE}};

bool
file_format_of_word(const char *word, enum file_format *format)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (strcmp(word, formats[i].word) == 0) {
            *format = formats[i].format;
            return true;
        }
    }
    return false;
}

bool
file_format_of_name(const char *file_name, enum file_format *format)
{
    size_t size = strlen(file_name);

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        size_t ending = strlen(formats[i].ending);

        if (size > ending && strcasecmp(file_name + size - ending, formats[i].ending) == 0) {
            *format = formats[i].format;
            return true;
        }
    }
    return false;
}

char
fields_separator(enum file_format format)
{
    return format == FILE_CSV ? ',' : '\t';
}

enum fields_outcome
fields_take(struct fields *line, struct text *bytes, petal_slice *plain)
{
    const char *begin = line->at, *stop;

    if (line->format == FILE_CSV && begin < line->end && *begin == '"') {
        *plain = (petal_slice){NULL, 0};
        line->at++;
        return fields_go_on(line, bytes);
    }
    stop = begin < line->end
               ? memchr(begin, fields_separator(line->format), (size_t)(line->end - begin))
               : NULL;
    line->at = stop != NULL ? stop : line->end;
    *plain = (petal_slice){begin, (size_t)(line->at - begin)};
    return FIELDS_GOOD;
}

enum fields_outcome
fields_go_on(struct fields *line, struct text *bytes)
{
    for (;;) {
        const char *from = line->at, *quote = memchr(from, '"', (size_t)(line->end - from));

        line->at = quote != NULL ? quote + 1 : line->end;
        text_add(bytes, from, (size_t)((quote != NULL ? quote : line->end) - from));
        if (quote == NULL)
            return FIELDS_OPEN;
        if (line->at == line->end || *line->at == fields_separator(line->format))
            return FIELDS_GOOD;
        if (*line->at != '"')
            return FIELDS_FOLLOWED;
        text_add(bytes, "\"", 1);
        line->at++;
    }
}

bool
fields_next(struct fields *line)
{
    bool more = line->at < line->end;

    line->at += more;
    return more;
}
