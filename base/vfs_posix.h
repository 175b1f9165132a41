/*
 * vfs_posix.h -- the default file layer: petal_vfs over POSIX calls.
 *
 * The only code of the library that asks the operating system about files.  Files are
 * regular files, opened with O_CLOEXEC and O_NOFOLLOW, created with mode 0600 (directories
 * 0700); a symbolic link in the place of a file is refused with ELOOP, a device or a pipe with
 * EINVAL.  The path to a directory may lead over symbolic links: it is the caller's own.
 *
 * Locks, shared ones too, belong to the open file (F_OFD_SETLK), so they also exclude a second
 * opener in the same process, and closing another descriptor of the file does not drop them.  A
 * forked child has no part in them: its copies of locked files are closed before fork() returns
 * there.
 *
 * Small stores into a log go through a mapping of the file where that is safe (base/wal_window.h),
 * else through write(); fdatasync takes both.
 *
 * Threads: all functions from any thread, log_store from one at a time for each file; pread and
 * pwrite share no file position.
 */
#ifndef PETAL_BASE_VFS_POSIX_H
#define PETAL_BASE_VFS_POSIX_H

#include "engine/petal.h"

extern const petal_vfs vfs_posix;

/* Descriptors that the process may have, as things are now. */
uint32_t vfs_posix_most_open_files(void);

/* Write the number of this process, which has locked the file alone, into it, for error messages of
 * others.  Where that fails, or the file has a second name, it is left out. */
void vfs_posix_note_holder(petal_file *file);

/* The number of the process that has locked the file alone, as it has noted it; 0: not known, or
 * the lock is shared. */
long vfs_posix_holder(petal_file *file);

/* Memory of the machine; 0: it does not tell. */
uint64_t vfs_posix_memory_bytes(void);

#endif
