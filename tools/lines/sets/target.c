/* target.c -- see target.h. */
#include "tools/lines/sets/target.h"

#include "tools/lines/sets/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file that was meant to be read may stand where the set is named. `name` is what the user calls
 * it, `path` where it is, through links. */
static bool
holds_set(struct job *job, const char *name, const char *path, const struct stat *about)
{
    enum petal_bloom_file_type type;

    if (!S_ISREG(about->st_mode))
        return job_fail(job, "%s is no regular file, and is not replaced by one", name);
    return about->st_size == 0 || petal_bloom_file_type(path, NULL, &type, NULL) == PETAL_OK ||
           job_fail(job,
                    "%s is there and holds no set, so it is not replaced; the set that is written "
                    "is named first",
                    name);
}

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
        target->mode = about.st_mode & 0777;
        target->path = realpath(path, NULL);
        if (target->path != NULL && !holds_set(job, path, target->path, &about)) {
            free(target->path);
            return false;
        }
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
