/* machine.c -- see machine.h. */
#include "tests/kernel/machine.h"

#include "tests/support/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

/* EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are one call, and so are their flags. */
#define SHUT_DOWN _IOR('X', 125, uint32_t)

const char *const cut_names[CUT_KINDS] = {"nothing written", "journal written", "all written",
                                          "device gone"};

#define EXT4(journal)                                                                              \
    {                                                                                              \
        .name = "ext4", .make = "mkfs.ext4",                                                       \
        .arguments = {"-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"},   \
        .bytes = 64 * MIB, .options = "data=" journal, .text = "data=" journal, .cuts = {          \
            true,                                                                                  \
            true,                                                                                  \
            true,                                                                                  \
            true                                                                                   \
        }                                                                                          \
    }

const struct machine_kind machine_kinds[] = {
    EXT4("ordered"),
    EXT4("writeback"),
    EXT4("journal"),
    {.name = "xfs",
     .make = "mkfs.xfs",
     .arguments = {"-q", "-f"},
     .bytes = 300 * MIB,
     .options = "",
     .text = "",
     .cuts = {true, true, true, true}},
    {.name = "btrfs",
     .make = "mkfs.btrfs",
     .arguments = {"-q", "-f"},
     .bytes = 160 * MIB,
     .options = "",
     .text = "",
     .cuts = {[CUT_DEVICE] = true}},
};
const size_t machine_kind_count = sizeof machine_kinds / sizeof *machine_kinds;

/* What the other images lie on. */
static const struct machine_kind outer_kind = EXT4("ordered");
#define OUTER_MORE (32 * MIB) /* for its own journal and tables */

static bool
hindered(struct machine *machine, const char *what)
{
    snprintf(machine->why, sizeof machine->why, "%s: %s", what, strerror(errno));
    return false;
}

/* ---- surroundings ---- */

bool
machine_begin(const char *directory, char *why, size_t bytes)
{
    int control;

    if (geteuid() != 0) {
        snprintf(why, bytes, "it takes root to mount file systems");
        return false;
    }
    control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0) {
        snprintf(why, bytes, "there are no loop devices: /dev/loop-control: %s", strerror(errno));
        return false;
    }
    close(control);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        snprintf(why, bytes, "there is no mount namespace to be had: %s", strerror(errno));
        return false;
    }
    if (mount("tmpfs", directory, "tmpfs", 0, "size=2g,mode=0700") != 0) {
        snprintf(why, bytes, "no memory can be mounted at %s: %s", directory, strerror(errno));
        return false;
    }
    return true;
}

/* What loop devices of this test are known by: the last part of the directory. */
static const char *
tag_of(const char *directory)
{
    const char *slash = strrchr(directory, '/');

    return slash != NULL ? slash + 1 : directory;
}

size_t
machine_left_behind(const char *directory)
{
    DIR *list = opendir("/dev");
    size_t count = 0;

    for (struct dirent *entry = list != NULL ? readdir(list) : NULL; entry != NULL;
         entry = readdir(list)) {
        struct loop_info64 info;
        int device;

        if (strncmp(entry->d_name, "loop", 4) != 0 || strcmp(entry->d_name, "loop-control") == 0)
            continue;
        device = openat(dirfd(list), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (device < 0)
            continue;
        if (ioctl(device, LOOP_GET_STATUS64, &info) == 0 &&
            strncmp((const char *)info.lo_file_name, tag_of(directory), LO_NAME_SIZE - 1) == 0)
            count++;
        close(device);
    }
    if (list != NULL)
        closedir(list);
    return count;
}

/* ---- images, devices, mounts ---- */

static bool
make_file_system(struct machine *machine, const struct machine_kind *kind, const char *image,
                 uint64_t bytes)
{
    const char *arguments[12] = {kind->make};
    size_t count = 1;
    int file = open(image, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = 0;
    pid_t child;

    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        if (file >= 0)
            close(file);
        return hindered(machine, image);
    }
    close(file);
    for (size_t i = 0; i < 8 && kind->arguments[i] != NULL; i++)
        arguments[count++] = kind->arguments[i];
    arguments[count] = image;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        const char *path = getenv("PATH");
        char more[4096];
        int nowhere = open("/dev/null", O_WRONLY);

        snprintf(more, sizeof more, "%s:/usr/sbin:/sbin", path != NULL ? path : "/usr/bin:/bin");
        setenv("PATH", more, 1);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execvp(kind->make, (char **)arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return hindered(machine, "fork");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    snprintf(machine->why, sizeof machine->why,
             WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "there is no %s" : "%s failed",
             kind->make);
    return false;
}

/* A loop device for the image, which goes when it is closed and not mounted; others on the machine
 * may take the free one in between. Returns its descriptor, -1. */
static int
attach(struct machine *machine, const char *image, char device[32])
{
    for (int turn = 0; turn < 50; turn++) {
        struct loop_config configuration = {.info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
        int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number, handle, file, failed;
        if (control < 0)
            break;
        number = ioctl(control, LOOP_CTL_GET_FREE);
        close(control);
        if (number < 0)
            break;
        snprintf(device, 32, "/dev/loop%d", number);
        handle = open(device, O_RDWR | O_CLOEXEC);
        if (handle < 0)
            break;
        file = open(image, O_RDWR | O_CLOEXEC);
        if (file < 0) {
            close(handle);
            break;
        }
        configuration.fd = (uint32_t)file;
        snprintf((char *)configuration.info.lo_file_name, sizeof configuration.info.lo_file_name,
                 "%s", machine->tag);
        failed = ioctl(handle, LOOP_CONFIGURE, &configuration) == 0 ? 0 : errno;
        close(file);
        if (failed == 0)
            return handle;
        close(handle);
        errno = failed;
        if (failed != EBUSY)
            break;
        process_sleep_us(10000);
    }
    hindered(machine, "loop device");
    return -1;
}

static bool
mount_image(struct machine *machine, const struct machine_kind *kind, const char *image,
            const char *root, int *root_handle)
{
    char device[32];
    int handle = attach(machine, image, device);
    bool mounted;

    if (handle < 0)
        return false;
    mounted = mount(device, root, kind->name, MS_NOATIME, kind->options) == 0;
    if (!mounted) {
        snprintf(machine->why, sizeof machine->why, "%s cannot be mounted: %s", kind->name,
                 errno == ENODEV ? "this kernel has none" : strerror(errno));
        close(handle);
        return false;
    }
    close(handle);
    *root_handle = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *root_handle >= 0 || hindered(machine, root);
}

static bool
unmount(struct machine *machine, const char *root, int *handle)
{
    bool done;

    if (*handle < 0)
        return true;
    close(*handle);
    *handle = -1;
    done = umount2(root, 0) == 0;
    /* Threads of the kernel may hold it for a moment longer than the process that was killed. */
    for (int turn = 0; !done && errno == EBUSY && turn < 200; turn++) {
        process_sleep_us(10000);
        done = umount2(root, 0) == 0;
    }
    return done || hindered(machine, root);
}

/* ---- a machine ---- */

static bool
mount_all(struct machine *machine)
{
    char outer[192];

    snprintf(outer, sizeof outer, "%s/outer.image", machine->disk);
    return (!machine->on_outer ||
            mount_image(machine, &outer_kind, outer, machine->outer, &machine->outer_handle)) &&
           mount_image(machine, machine->kind, machine->image, machine->root,
                       &machine->root_handle);
}

bool
machine_start(struct machine *machine, const struct machine_kind *kind, bool on_outer,
              const char *directory)
{
    char outer[192];
    bool made = true;

    memset(machine, 0, sizeof *machine);
    machine->kind = kind;
    machine->on_outer = on_outer;
    machine->root_handle = machine->outer_handle = -1;
    snprintf(machine->tag, sizeof machine->tag, "%s", tag_of(directory));
    snprintf(machine->disk, sizeof machine->disk, "%s/disk", directory);
    snprintf(machine->root, sizeof machine->root, "%s/root", directory);
    snprintf(machine->outer, sizeof machine->outer, "%s/outer", machine->disk);
    snprintf(outer, sizeof outer, "%s/outer.image", machine->disk);
    snprintf(machine->image, sizeof machine->image, "%s/image",
             on_outer ? machine->outer : machine->disk);
    mkdir(machine->disk, 0700);
    mkdir(machine->outer, 0700);
    mkdir(machine->root, 0700);
    if (on_outer)
        made = make_file_system(machine, &outer_kind, outer, kind->bytes + OUTER_MORE) &&
               mount_image(machine, &outer_kind, outer, machine->outer, &machine->outer_handle);
    if (made && make_file_system(machine, kind, machine->image, kind->bytes) &&
        mount_image(machine, kind, machine->image, machine->root, &machine->root_handle)) {
        sync();
        return true;
    }
    machine_stop(machine);
    return false;
}

bool
machine_cut(struct machine *machine, enum cut_kind cut)
{
    static const uint32_t flags[CUT_KINDS] = {[CUT_ALL_WRITTEN] = 0,
                                              [CUT_JOURNAL_WRITTEN] = 1,
                                              [CUT_NOTHING_WRITTEN] = 2,
                                              [CUT_DEVICE] = 2};
    uint32_t flag = flags[cut];
    double began = process_now();

    if (ioctl(cut == CUT_DEVICE ? machine->outer_handle : machine->root_handle, SHUT_DOWN, &flag) !=
        0)
        return hindered(machine, "shut down");
    machine->cut_seconds += process_now() - began;
    return true;
}

bool
machine_restore(struct machine *machine)
{
    double began = process_now();
    bool done = unmount(machine, machine->root, &machine->root_handle) &&
                unmount(machine, machine->outer, &machine->outer_handle) && mount_all(machine);

    machine->cut_seconds += process_now() - began;
    return done;
}

void
machine_stop(struct machine *machine)
{
    char outer[192];

    (void)unmount(machine, machine->root, &machine->root_handle);
    (void)unmount(machine, machine->outer, &machine->outer_handle);
    snprintf(outer, sizeof outer, "%s/outer.image", machine->disk);
    unlink(outer);
    unlink(machine->image);
}

/* ---- writing ahead of the cut ---- */

/* The file of the directory that is the `which`-th, round and round. */
static int
open_some(const char *directory, uint64_t which)
{
    DIR *list = opendir(directory);
    int file = -1;
    size_t count = 0;

    for (int pass = 0; list != NULL && pass < 2 && file < 0; pass++) {
        size_t at = 0;

        rewinddir(list);
        for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
            if (entry->d_type != DT_REG)
                continue;
            if (pass == 1 && at++ == which % count)
                file = openat(dirfd(list), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
            count += pass == 0;
        }
        if (count == 0)
            break;
    }
    if (list != NULL)
        closedir(list);
    return file;
}

static void
write_pages(int file, uint64_t random)
{
    struct stat facts;

    if (fstat(file, &facts) == 0 && facts.st_size > 0) {
        uint64_t pages = ((uint64_t)facts.st_size + 4095) / 4096;
        uint64_t first = random % pages, count = 1 + (random >> 20) % 32;

        (void)sync_file_range(file, (off_t)(first * 4096), (off_t)(count * 4096),
                              SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                  SYNC_FILE_RANGE_WAIT_AFTER);
    }
}

void
machine_write_some(struct machine *machine, const char *directory, uint64_t random)
{
    int file = -1;

    if (random % 5 == 0) {
        file = openat(machine->root_handle, "neighbour", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0 && pwrite(file, &random, sizeof random, 0) > 0)
            (void)fsync(file);
    } else if (machine->on_outer && random % 5 < 3) {
        file = open(machine->image, O_RDWR | O_CLOEXEC);
        for (uint64_t i = 0; file >= 0 && i < 32; i++)
            write_pages(file, (random >> 8) * (i + 1) * 6364136223846793005u >> 8);
    } else {
        file = open_some(directory, random >> 40);
        if (file >= 0)
            write_pages(file, random >> 3);
    }
    if (file >= 0)
        close(file);
}
