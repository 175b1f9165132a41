/* target.c -- see target.h. */
#include "tools/filter/sets/target.h"

#include "tools/filter/sets/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool
target_open(struct job *job, const char *path, struct target *target)
{
    mode_t mask = umask(0);
    struct stat about;

    (void)umask(mask);
    *target = (struct target){.mode = 0666 & ~mask};
    if (!set_path_is_file(job, path))
        return false;
    if (stat(path, &about) == 0) {
        if (!S_ISREG(about.st_mode))
            return job_fail(job, "%s is no regular file, and is not replaced by one", path);
        target->mode = about.st_mode & 0777;
        target->path = realpath(path, NULL);
    } else {
        target->path = strdup(path);
    }
    return target->path != NULL || job_fail(job, "cannot find %s: %s", path, strerror(errno));
}

bool
target_close(struct job *job, struct target *target, bool saved)
{
    if (saved && chmod(target->path, target->mode) != 0)
        saved =
            job_fail(job, "cannot set the permissions of %s: %s", target->path, strerror(errno));
    free(target->path);
    return saved;
}
