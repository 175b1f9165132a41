/* nearest.c -- see tools/command/nearest.h. */
#include "tools/command/nearest.h"

#include "tools/shell/text/near.h"

#include <stdio.h>
#include <string.h>

/* Fewer letters begin too much. */
enum { LEAST_LETTERS = 2 };

void
nearest_consider(const char *word, const char *name, const char **nearest, unsigned *least)
{
    size_t letters = strlen(word);

    if (letters < LEAST_LETTERS || strncmp(word, name, letters) != 0) {
        near_consider(slice_of_string(word), name, nearest, least);
    } else if (*nearest == NULL || *least > 0) {
        *nearest = name;
        *least = 0;
    }
}

void
nearest_tell(const char *program, const char *word, const char *nearest)
{
    (void)fprintf(stderr, "%s: there is no command \"%s\"; ", program, word);
    if (nearest != NULL)
        (void)fprintf(stderr, "did you mean \"%s\"? ", nearest);
    (void)fprintf(stderr, "\"%s --help\" lists them\n", program);
}
