/* options.c -- see tools/bench/harness/options.h. */
#include "tools/bench/harness/options.h"

#include "tools/bench/harness/util.h"
#include "tools/command/option.h"
#include "tools/command/value.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const kind_texts[] = {
    [BENCH_COUNT] = "a number as 100, 20k or 3M",
    [BENCH_BYTES] = "a number of bytes as 100, 4K or 1G",
    [BENCH_NUMBER] = "a number",
    [BENCH_TEXT] = "a text",
    [BENCH_COUNTS] = "1 to 8 numbers above zero with commas between them",
    [BENCH_OUTPUT] = "a file",
};

static char complaint[1024];

void
bench_complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
}

void
bench_options_tell(const char *command)
{
    if (complaint[0] != '\0')
        fprintf(stderr, "kv-bench: %s\nkv-bench %s --help lists the options\n", complaint, command);
}

int
bench_options_explain(void (*usage)(void))
{
    if (complaint[0] == '\0')
        usage();
    return 2;
}

/* A size or a count, or 0. */
static bool
read_whole(bool (*take)(void *argument, char *value), char *text, void *value, size_t size)
{
    if (strcmp(text, "0") != 0)
        return take(value, text);
    memset(value, 0, size);
    return true;
}

static bool
read_list(const char *text, struct bench_list *list)
{
    for (list->count = 0; list->count < BENCH_MOST_LISTED; text++) {
        size_t length = strcspn(text, ",");
        char item[32];

        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item),
                 text);
        if (length >= sizeof item || !value_take_count(&list->values[list->count], item))
            return false;
        list->count++;
        text += length;
        if (*text == '\0')
            return true;
    }
    return false;
}

/* Of a struct bench_option. */
static bool
take_value(void *argument, char *text)
{
    const struct bench_option *option = argument;
    char *end;

    switch (option->kind) {
    case BENCH_FLAG:
        return false;
    case BENCH_COUNT:
        return read_whole(value_take_count, text, option->value, sizeof(uint64_t));
    case BENCH_BYTES:
        return read_whole(value_take_size, text, option->value, sizeof(size_t));
    case BENCH_NUMBER:
        *(double *)option->value = strtod(text, &end);
        return end != text && *end == '\0';
    case BENCH_TEXT:
    case BENCH_OUTPUT:
        *(const char **)option->value = text;
        return true;
    case BENCH_COUNTS:
        return read_list(text, option->value);
    }
    return false;
}

/* Leaves what is there as it is, and no file where there is none. */
static void
try_to_write(const char *path)
{
    struct stat there;
    bool found = stat(path, &there) == 0;
    FILE *file;

    if (found && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return; /* a reader of a pipe would take it for the end */
    file = fopen(path, "a");
    if (file == NULL)
        bench_fail("write results to", path);
    fclose(file);
    if (!found)
        (void)remove(path);
}

bool
bench_asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return true;
    }
    return false;
}

bool
bench_options_read(const struct bench_option *options, size_t count, int argc, char **argv)
{
    struct command_option taken[BENCH_MOST_OPTIONS];
    struct text why = {0};

    assert(count <= BENCH_MOST_OPTIONS);
    if (bench_asks_for_help(argc, argv))
        return false;
    for (size_t i = 0; i < count; i++)
        taken[i] =
            (struct command_option){.name = options[i].name,
                                    .flag = options[i].kind == BENCH_FLAG ? options[i].value : NULL,
                                    .take = take_value,
                                    .argument = (void *)(uintptr_t)&options[i],
                                    .wants = kind_texts[options[i].kind]};
    for (int i = 0; i < argc; i++) {
        if (!option_take(taken, count, argc, argv, &i, &why)) {
            bench_complain("%s", text_string(&why));
            text_free(&why);
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (options[i].kind == BENCH_OUTPUT && *(const char **)options[i].value != NULL)
            try_to_write(*(const char **)options[i].value);
    }
    return true;
}

bool
bench_numbers_read(const char *option, const char *text, double *numbers, size_t most,
                   size_t *count, double low, double high)
{
    for (*count = 0; *count < most;) {
        char *end;
        double number = strtod(text, &end);

        if (end == text || !(number >= low && number <= high) || (*end != ',' && *end != '\0'))
            break;
        numbers[(*count)++] = number;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
    bench_complain("%s: at most %zu numbers from %g to %g", option, most, low, high);
    return false;
}

bool
bench_names_read(const char *option, const char *text, const char *const *names, size_t count,
                 uint64_t *bits)
{
    *bits = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        size_t i = 0;

        while (i < count && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0))
            i++;
        if (i == count) {
            bench_complain("%s: there is no \"%.*s\"", option, (int)length, text);
            return false;
        }
        *bits |= UINT64_C(1) << i;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

bool
bench_refused(bool refused, const char *why)
{
    if (refused)
        bench_complain("%s", why);
    return refused;
}
