/* bench_options.c -- see bench_options.h. */
#include "tools/bench_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
read_count(const char *text, uint64_t unit, uint64_t *value)
{
    static const char units[] = "kmgt";
    char *end;
    const char *found;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &end, 10);
    if (*end == '\0')
        return true;
    found = strchr(units, *end | 0x20);
    if (found == NULL || end[1] != '\0')
        return false;
    for (const char *at = units; at <= found; at++) {
        if (*value > UINT64_MAX / unit)
            return false;
        *value *= unit;
    }
    return true;
}

static bool
read_value(const struct bench_option *option, const char *text)
{
    uint64_t count;
    char *end;

    switch (option->kind) {
    case BENCH_FLAG:
        return false;
    case BENCH_COUNT:
        return read_count(text, 1000, option->value);
    case BENCH_BYTES:
        if (!read_count(text, 1024, &count))
            return false;
        *(size_t *)option->value = (size_t)count;
        return true;
    case BENCH_NUMBER:
        *(double *)option->value = strtod(text, &end);
        return end != text && *end == '\0';
    case BENCH_TEXT:
        *(const char **)option->value = text;
        return true;
    }
    return false;
}

bool
bench_options_read(const struct bench_option *options, size_t count, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const struct bench_option *option = options;

        while (option < options + count && strcmp(option->name, argv[i]) != 0)
            option++;
        if (option == options + count) {
            fprintf(stderr, "kv-bench: no option %s\n", argv[i]);
            return false;
        }
        if (option->kind == BENCH_FLAG) {
            *(bool *)option->value = true;
            continue;
        }
        if (i + 1 == argc || !read_value(option, argv[i + 1])) {
            fprintf(stderr, "kv-bench: %s needs a value, not \"%s\"\n", argv[i],
                    i + 1 == argc ? "" : argv[i + 1]);
            return false;
        }
        i++;
    }
    return true;
}
