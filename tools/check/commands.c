/* commands.c -- see commands.h. */
#include "tools/check/commands.h"

#include <stdio.h>
#include <string.h>

static bool
tell_mistake(const struct check_command *command, const char *what, const char *argument,
             const char *why)
{
    (void)fprintf(stderr, "kv-check %s: %s%s%s; \"kv-check %s --help\" tells what it takes\n",
                  command->name, what, argument, why, command->name);
    return false;
}

static const struct check_option *
find_option(const struct check_option *options, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    }
    return NULL;
}

/* Whether the option's value is taken, if it has one; *at goes to the last argument used. */
static bool
take_option(const struct check_command *command, const struct check_option *option, int argc,
            char **argv, int *at)
{
    if (option->flag != NULL) {
        *option->flag = true;
        return true;
    }
    if (++*at < argc && option->take(option->argument, argv[*at]))
        return true;
    return tell_mistake(command, option->name, " wants ", option->wants);
}

bool
check_take_arguments(const struct check_command *command, int argc, char **argv,
                     const struct check_option *options, size_t option_count, const char **places,
                     size_t place_count)
{
    size_t count = 0;
    bool only_places = false;

    for (int at = 0; at < argc; at++) {
        const struct check_option *option;

        if (only_places || argv[at][0] != '-') {
            if (count == place_count)
                return tell_mistake(command, "\"", argv[at], "\" is one argument too many");
            places[count++] = argv[at];
        } else if (strcmp(argv[at], "--") == 0) {
            only_places = true;
        } else {
            option = find_option(options, option_count, argv[at]);
            if (option == NULL)
                return tell_mistake(command, "there is no option \"", argv[at], "\"");
            if (!take_option(command, option, argc, argv, &at))
                return false;
        }
    }
    if (count == place_count)
        return true;
    return tell_mistake(command, "an argument is missing", "", "");
}
