/* files.c -- see tests/conformance/files.h. */
#include "tests/conformance/files.h"

#include "tests/support/test_support.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool
read_whole_file(const char *path, petal_slice *bytes)
{
    FILE *in = fopen(path, "rb");
    size_t room = 1 << 16, size = 0, got;
    char *buffer;

    if (in == NULL)
        return false;
    buffer = test_allocate(room);
    while ((got = fread(buffer + size, 1, room - size, in)) > 0) {
        size += got;
        if (size == room)
            buffer = test_reallocate(buffer, room *= 2);
    }
    *bytes = (petal_slice){buffer, size};
    if (ferror(in) != 0) {
        free(buffer);
        fclose(in);
        errno = EIO;
        return false;
    }
    fclose(in);
    return true;
}

static bool
tell(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    return false;
}

static bool
add_file(struct case_files *files, const char *path)
{
    struct case_file file = {.path = test_strdup(path)};

    if (!read_whole_file(path, &file.bytes)) {
        free(file.path);
        return tell(path, strerror(errno));
    }
    files->files = test_reallocate(files->files, (files->count + 1) * sizeof file);
    files->files[files->count++] = file;
    return true;
}

static int
is_wanted(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool
is_text(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".txt") == 0;
}

/* Folders are followed to any depth, links to files and folders included. */
static bool
add_folder(struct case_files *files, const char *path)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, is_wanted, alphasort);
    bool fine = true;

    if (count < 0)
        return tell(path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *inner = test_path(path, names[i]->d_name);
        struct stat info;

        if (stat(inner, &info) != 0)
            fine = tell(inner, strerror(errno)) && fine;
        else if (S_ISDIR(info.st_mode))
            fine = add_folder(files, inner) && fine;
        else if (is_text(inner))
            fine = add_file(files, inner) && fine;
        free(inner);
        free(names[i]);
    }
    free(names);
    return fine;
}

bool
case_files_add(struct case_files *files, const char *path)
{
    size_t before = files->count;
    struct stat info;

    if (stat(path, &info) != 0)
        return tell(path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return add_file(files, path);
    if (!add_folder(files, path))
        return false;
    return files->count > before || tell(path, "no *.txt files in this folder");
}

void
case_files_fini(struct case_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->files[i].path);
        free((void *)(uintptr_t)files->files[i].bytes.data);
    }
    free(files->files);
}
