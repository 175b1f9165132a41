/* history.c -- see tools/shell/terminal/history.h.  What fails is passed over: a shell without a
 * history is a shell. */
#include "tools/shell/terminal/history.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_LINES = 1000, GREATEST_LINES = 1000000 };

/* Make the directories that the path names before its last part. */
static bool
make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        bool made;

        *slash = '\0';
        made = mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

void
line_history_init(struct line_history *lines)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const char *size = getenv("HISTSIZE");
    long greatest = size != NULL && *size != '\0' ? strtol(size, NULL, 10) : DEFAULT_LINES;
    int length = 0;

    memset(lines, 0, sizeof(*lines));
    if (greatest <= 0)
        return;
    lines->greatest = greatest < GREATEST_LINES ? (size_t)greatest : GREATEST_LINES;
    if (state != NULL && state[0] == '/')
        length = snprintf(lines->path, sizeof(lines->path), "%s/petal/history", state);
    else if (home != NULL && home[0] == '/')
        length = snprintf(lines->path, sizeof(lines->path), "%s/.local/state/petal/history", home);
    if (length >= (int)sizeof(lines->path) || length <= 0 || !make_directories(lines->path))
        lines->path[0] = '\0';
}

static FILE *
open_private(const char *path, int flags, const char *mode)
{
    int file = open(path, flags | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *stream;

    if (file < 0)
        return NULL;
    (void)fchmod(file, S_IRUSR | S_IWUSR);
    stream = fdopen(file, mode);
    if (stream == NULL)
        (void)close(file);
    return stream;
}

/* The file is long: keep its last lines only. */
static void
shorten(const struct line_history *lines, char *const *kept, size_t count)
{
    char partial[sizeof(lines->path) + 32];
    FILE *file;
    bool good = true;

    (void)snprintf(partial, sizeof(partial), "%s.part-%ld", lines->path, (long)getpid());
    file = open_private(partial, O_WRONLY | O_CREAT | O_TRUNC, "w");
    if (file == NULL)
        return;
    for (size_t i = 0; i < count && good; i++)
        good = fputs(kept[i], file) >= 0;
    good = fclose(file) == 0 && good;
    if (!good || rename(partial, lines->path) != 0)
        (void)unlink(partial);
}

void
line_history_load(const struct line_history *lines, void (*add)(void *context, const char *line),
                  void *context)
{
    FILE *file = lines->path[0] != '\0' ? fopen(lines->path, "re") : NULL;
    char **read = NULL, *line = NULL;
    size_t count = 0, capacity = 0, line_capacity = 0, first;

    if (file == NULL)
        return;
    while (getline(&line, &line_capacity, file) > 0) {
        read = memory_room(read, count, &capacity, sizeof(*read));
        read[count++] = line;
        line = NULL;
        line_capacity = 0;
    }
    free(line);
    (void)fclose(file);
    first = count > lines->greatest ? count - lines->greatest : 0;
    for (size_t i = first; i < count; i++)
        add(context, read[i]);
    if (count >= 2 * lines->greatest)
        shorten(lines, read + first, count - first);
    for (size_t i = 0; i < count; i++)
        free(read[i]);
    free(read);
}

void
line_history_add(const struct line_history *lines, const char *line)
{
    FILE *file;
    size_t size = strlen(line);

    if (lines->path[0] == '\0' || size == 0)
        return;
    file = open_private(lines->path, O_WRONLY | O_APPEND | O_CREAT, "a");
    if (file == NULL)
        return;
    (void)fputs(line, file);
    if (line[size - 1] != '\n')
        (void)fputc('\n', file);
    (void)fclose(file);
}
