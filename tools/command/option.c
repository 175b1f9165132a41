/* option.c -- see option.h. */
#include "tools/command/option.h"

#include "tools/shell/text/near.h"

#include <string.h>

bool
command_take_any_text(void *argument, char *value)
{
    *(const char **)argument = value;
    return true;
}

bool
command_take_text(void *argument, char *value)
{
    return command_take_any_text(argument, value) && *value != '\0';
}

/* The option that an argument is; *value: what follows an equals sign in it, or NULL. */
static const struct command_option *
find_option(const struct command_option *options, size_t count, char *argument, char **value)
{
    char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    size_t length = equals == NULL ? strlen(argument) : (size_t)(equals - argument);

    *value = equals == NULL ? NULL : equals + 1;
    for (size_t i = 0; i < count; i++) {
        if (strlen(options[i].name) == length && memcmp(options[i].name, argument, length) == 0)
            return &options[i];
    }
    return NULL;
}

static void
tell_unknown(const struct command_option *options, size_t count, const char *word, struct text *why)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; i < count; i++)
        near_consider(slice_of_string(word), options[i].name, &nearest, &least);
    text_add_format(why, "there is no option \"%.200s\"", word);
    if (nearest != NULL)
        text_add_format(why, "; did you mean \"%s\"?", nearest);
    for (size_t i = 0; i < count; i++)
        text_add_format(why, "%s%s",
                        i > 0             ? ", "
                        : nearest != NULL ? " There are "
                                          : "; there are ",
                        options[i].name);
}

bool
option_take_value(const struct command_option *option, const char *name, char *value,
                  struct text *why)
{
    struct text given = {0};
    bool taken;

    text_add_string(&given, value); /* `take` may change it */
    taken = option->take(option->argument, value);
    if (!taken)
        text_add_format(why, "%s takes %s, not \"%.200s\"", name, option->wants,
                        text_string(&given));
    text_free(&given);
    return taken;
}

bool
option_take(const struct command_option *options, size_t count, int argc, char **argv, int *at,
            struct text *why)
{
    char *value;
    const struct command_option *option = find_option(options, count, argv[*at], &value);

    if (option == NULL) {
        tell_unknown(options, count, argv[*at], why);
        return false;
    }
    if (option->flag != NULL) {
        if (value != NULL)
            text_add_format(why, "%s takes no value, not %.200s", option->name, value);
        *option->flag = true;
        return value == NULL;
    }
    if (value == NULL && *at + 1 == argc) {
        text_add_format(why, "%s must be followed by %s", option->name, option->wants);
        return false;
    }
    return option_take_value(option, option->name, value != NULL ? value : argv[++*at], why);
}
