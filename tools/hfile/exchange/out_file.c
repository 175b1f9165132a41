/* out_file.c -- see out_file.h. */
#include "tools/hfile/exchange/out_file.h"

#include "tools/hfile/format/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Blocks go to the kernel as they come: they are of tens of kilobytes. */
static enum petal_status
write_all(void *context, const void *bytes, size_t size, petal_error *error)
{
    struct out_file *file = context;
    const char *at = bytes;

    while (size > 0) {
        ssize_t written = write(file->descriptor, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return hfile_error_io(error, file->at_work, errno, "write");
        at += written;
        size -= (size_t)written;
    }
    return PETAL_OK;
}

enum petal_status
out_file_begin(struct out_file *file, const char *folder, const petal_hfile_write_options *options,
               petal_error *error)
{
    petal_hfile_sink sink = {.context = file, .name = file->path, .write = write_all};
    uint64_t name[2];
    int length;
    enum petal_status status;

    *file = (struct out_file){.descriptor = -1};
    if (getrandom(name, sizeof name, 0) != (ssize_t)sizeof name)
        return hfile_error_io(error, folder, errno, "draw a file's name in");
    length = snprintf(file->path, sizeof file->path, "%s/%016llx%016llx", folder,
                      (unsigned long long)name[0], (unsigned long long)name[1]);
    if (length < 0 || (size_t)length >= sizeof file->path - 1)
        return hfile_error_set(error, PETAL_INVALID, "", "the path of the folder is too long");
    snprintf(file->at_work, sizeof file->at_work, "%s/_%016llx%016llx", folder,
             (unsigned long long)name[0], (unsigned long long)name[1]);
    file->descriptor =
        open(file->at_work, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file->descriptor < 0)
        return hfile_error_io(error, file->at_work, errno, "create");
    status = petal_hfile_writer_new(&sink, options, &file->writer, error);
    if (status != PETAL_OK)
        out_file_abandon(file);
    return status;
}

enum petal_status
out_file_finish(struct out_file *file, uint64_t *bytes, petal_error *error)
{
    enum petal_status status = petal_hfile_writer_finish(file->writer, bytes, error);
    int descriptor = file->descriptor;

    if (status == PETAL_OK && fsync(descriptor) != 0)
        status = hfile_error_io(error, file->at_work, errno, "sync");
    if (status == PETAL_OK) {
        file->descriptor = -1;
        if (close(descriptor) != 0)
            status = hfile_error_io(error, file->at_work, errno, "close");
    }
    if (status == PETAL_OK && rename(file->at_work, file->path) != 0)
        status = hfile_error_io(error, file->path, errno, "name");
    if (status != PETAL_OK) {
        out_file_abandon(file);
        return status;
    }
    petal_hfile_writer_free(file->writer);
    file->writer = NULL;
    return PETAL_OK;
}

void
out_file_abandon(struct out_file *file)
{
    petal_hfile_writer_free(file->writer);
    file->writer = NULL;
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
    unlink(file->at_work);
}

enum petal_status
out_folder_make(const char *path, bool *made, petal_error *error)
{
    struct stat what;

    *made = mkdir(path, 0777) == 0;
    if (*made)
        return PETAL_OK;
    if (errno != EEXIST)
        return hfile_error_io(error, path, errno, "create");
    if (stat(path, &what) != 0)
        return hfile_error_io(error, path, errno, "look at");
    if (!S_ISDIR(what.st_mode))
        return hfile_error_set(error, PETAL_EXISTS, path,
                               "there is something here that is not a folder");
    return PETAL_OK;
}

enum petal_status
out_folder_sync(const char *path, petal_error *error)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum petal_status status = PETAL_OK;

    if (descriptor < 0)
        return hfile_error_io(error, path, errno, "open");
    if (fsync(descriptor) != 0)
        status = hfile_error_io(error, path, errno, "sync");
    close(descriptor);
    return status;
}
