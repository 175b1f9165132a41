/* progress.c -- see tools/shell/text/progress.h. */
#include "tools/shell/text/progress.h"

#include "tools/shell/text/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MARKS = 30 };

static const double FIRST_AFTER = 0.5, AGAIN_AFTER = 0.1; /* seconds */

void
progress_begin(struct progress *progress, const char *what, const char *unit)
{
    *progress = (struct progress){.unit = unit};
    if (isatty(STDERR_FILENO) != 1)
        return;
    progress->what = what;
    progress->begun = clock_seconds(CLOCK_MONOTONIC);
    progress->drawn = progress->begun + FIRST_AFTER - AGAIN_AFTER;
}

/* No wider than the terminal, or it could not be wiped away. */
static void
draw(const char *line)
{
    struct winsize size;
    int width = 80;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    (void)fprintf(stderr, "\r%.*s\x1b[K", width - 1, line);
    (void)fflush(stderr);
}

void
progress_update(struct progress *progress, uint64_t done, uint64_t total, uint64_t count)
{
    char line[160], marks[MARKS + 1];
    double now, share;

    if (progress->what == NULL)
        return;
    now = clock_seconds(CLOCK_MONOTONIC);
    if (now - progress->drawn < AGAIN_AFTER)
        return;
    progress->drawn = now;
    progress->visible = true;
    if (total == 0) {
        (void)snprintf(line, sizeof(line), "%s: %" PRIu64 " %s, %.0f a second", progress->what,
                       count, progress->unit, (double)count / (now - progress->begun));
    } else {
        share = done < total ? (double)done / (double)total : 1;
        for (int i = 0; i < MARKS; i++)
            marks[i] = share * MARKS > i ? '#' : '.';
        marks[MARKS] = '\0';
        (void)snprintf(line, sizeof(line), "%s [%s] %3d%%  %" PRIu64 " %s", progress->what, marks,
                       (int)(share * 100), count, progress->unit);
    }
    draw(line);
}

void
progress_hide(struct progress *progress)
{
    if (progress->visible)
        draw("");
    progress->visible = false;
}

void
progress_end(struct progress *progress)
{
    progress_hide(progress);
    progress->what = NULL;
}
