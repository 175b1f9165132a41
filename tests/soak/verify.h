/* verify.h -- looks at all that must be there after a kill; each in a process of its own, with
 * nobody else at the database. */
#ifndef PETAL_TESTS_SOAK_VERIFY_H
#define PETAL_TESTS_SOAK_VERIFY_H

#include "tests/soak/database.h"

/* Disk use when the background work has ended: so many times what compacting everything leaves
 * .. */
#define SOAK_DISK_FACTOR 2.0
/* .. which is at most so many times the bytes of keys and values; and logs, descriptions of files
 * and the like beside. */
#define SOAK_DATA_FACTOR 1.5
#define SOAK_DISK_MORE   ((uint64_t)4 << 20)

enum soak_look {
    SOAK_LOOK,           /* open and check every slot; writes under way are settled */
    SOAK_LOOK_READ_ONLY, /* the same twice at once, opened to read only; no file may change */
    /* and wait for the background, weigh the disk, check a checkpoint and a restored snapshot */
    SOAK_LOOK_THOROUGH
};

void soak_verify(struct soak_shared *shared, enum soak_look look, uint64_t seed);

/* What the files below a directory take on the disk. */
uint64_t soak_disk_bytes(const char *directory);

#endif
