/* commands.c -- see commands.h. */
#include "tools/check/commands.h"

#include <string.h>

static bool asked;

bool
check_help_is_asked(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        asked = asked || strcmp(argv[i], "--help") == 0;
    return asked;
}

FILE *
check_usage_output(void)
{
    return asked ? stdout : stderr;
}

int
check_usage(const char *usage)
{
    (void)fprintf(check_usage_output(), "usage: %s", usage);
    return asked ? CHECK_SOUND : CHECK_FAILED;
}
