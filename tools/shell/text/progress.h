/*
 * progress.h -- a line on standard error that says how far something long has come; on a terminal
 * only.
 *
 * It appears when half a second has passed, is drawn anew ten times a second at most, and is wiped
 * away at the end.
 */
#ifndef PETAL_TOOLS_SHELL_TEXT_PROGRESS_H
#define PETAL_TOOLS_SHELL_TEXT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *what; /* lives as long; NULL: nobody watches */
    const char *unit; /* of what is counted beside the bar */
    double begun, drawn;
    bool visible;
};

void progress_begin(struct progress *progress, const char *what, const char *unit);

static inline bool
progress_is_watched(const struct progress *progress)
{
    return progress->what != NULL;
}

/* `done` of `total` (0: not known); `count` of the unit. Cheap to call for each row. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total, uint64_t count);
void progress_hide(struct progress *progress); /* until the next update */
void progress_end(struct progress *progress);

#endif
