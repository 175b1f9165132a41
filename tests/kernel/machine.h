/*
 * machine.h -- a disk that can be taken away: an image of a file system on a loop device, mounted
 * where only this process and its children see it.
 *
 * CUTS.  A file system is shut down by its own call: what it had not written is gone, as with the
 * power, though its device goes on (the journal is written out before, or all is, as the kind of
 * cut says). Or the device goes: the image lies on another file system, which is shut down so. Then
 * the inner one loses what it gave to the device and did not flush, which no call of its own shows,
 * and any file system can be cut like that.
 *
 * Nothing is left behind, however the process ends: mounts go with its mount namespace, loop
 * devices with the mounts, images with the memory that they lie in.
 */
#ifndef PETAL_TESTS_KERNEL_MACHINE_H
#define PETAL_TESTS_KERNEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cut_kind {
    CUT_NOTHING_WRITTEN, /* NOLOGFLUSH: the journal is not written out */
    CUT_JOURNAL_WRITTEN, /* LOGFLUSH */
    CUT_ALL_WRITTEN,     /* DEFAULT: the file system comes to rest first */
    CUT_DEVICE,
    CUT_KINDS
};

extern const char *const cut_names[CUT_KINDS];

/* A file system as it is tried. */
struct machine_kind {
    const char *name; /* of the file system */
    const char *make; /* the program that makes it */
    const char *arguments[8];
    uint64_t bytes;      /* of the image */
    const char *options; /* of the mount */
    const char *text;    /* its options for people */
    bool cuts[CUT_KINDS];
};

extern const struct machine_kind machine_kinds[];
extern const size_t machine_kind_count;

struct machine {
    const struct machine_kind *kind;
    bool on_outer;                         /* CUT_DEVICE */
    char disk[128], outer[160], root[128]; /* directories: of images; of the outer image's files; of
                                              the file system */
    char image[192], tag[64];
    int root_handle, outer_handle; /* of mounted file systems; -1 */
    double cut_seconds;            /* what cutting and mounting took */
    char why[256];                 /* what could not be done */
};

/* Memory for images below `directory`, in a mount namespace of this process's own. False: why says
 * what hinders. */
bool machine_begin(const char *directory, char *why, size_t bytes);

/* Make and mount the file system. False: machine->why says what hinders. */
bool machine_start(struct machine *machine, const struct machine_kind *kind, bool on_outer,
                   const char *directory);

/* Take the disk away, now. What uses it has to end before machine_restore. False: as above. */
bool machine_cut(struct machine *machine, enum cut_kind cut);

/* Mount again what is left. */
bool machine_restore(struct machine *machine);
void machine_stop(struct machine *machine);

/* Have the kernel write pages of some file in the directory, or what the file system knows of a
 * neighbour: so what is on the disk is any part of what was written. `random` chooses. */
void machine_write_some(struct machine *machine, const char *directory, uint64_t random);

/* How many loop devices there are still of machines that were started in the directory. */
size_t machine_left_behind(const char *directory);

#endif
