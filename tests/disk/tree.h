/*
 * tree.h -- the directories of the in-memory file layer (tests/disk/vfs.h): what names there are
 * now, what names are durable, and the changes (create, link, rename, remove) between the two.
 *
 * A sync of a directory makes the changes since its last one durable; a sync of a file
 * (tests/disk/file.h) says nothing of its name.  After a failed sync the changes are `lost` as with
 * files: later syncs leave them out, unless a later change of the same name builds on them.
 *
 * A power cut leaves, at random, any subset of a directory's pending changes in which each name
 * follows its own history: a change survives only with all earlier pending changes of the names it
 * touches.  A rename happens whole or not at all.  Names do not depend on data: a new file may be
 * gone though its data was synced, as ext4 may have it, a renamed file may have lost its data, a
 * removed one may be back.
 *
 * A file that grew may find in its new blocks what another file of its directory has, or had before
 * it lost its name.
 *
 * A link is a second name of a file, of any directory; each name has the history of its own
 * directory.
 *
 * Not modelled: renames between directories (EXDEV), removal of directories (EISDIR).
 *
 * Paths are split at '/'; empty parts and "." are skipped, so relative and absolute paths are the
 * same; ".." is EINVAL.  Errors are errno values.  Nodes are counted.  Threads: the caller keeps
 * them apart.
 */
#ifndef PETAL_TESTS_DISK_TREE_H
#define PETAL_TESTS_DISK_TREE_H

#include "tests/disk/file.h"

struct memory_node; /* a directory or a file */

/* An empty directory, to be the root of a tree. */
struct memory_node *memory_tree_new(void);

void memory_tree_ref(struct memory_node *node);
void memory_tree_unref(struct memory_node *node);

/* A deep copy of a tree, pending changes included. */
struct memory_node *memory_tree_clone(struct memory_node *root);

bool memory_tree_is_directory(const struct memory_node *node);

/* The bytes of a file; NULL for a directory. */
struct memory_file *memory_tree_file(struct memory_node *node);

/* The directory that holds a directory; the root itself for the root. */
struct memory_node *memory_tree_parent(struct memory_node *directory);

/* Paths begin at `root`, which may be any directory.  *node is borrowed: ref it to keep it. ENOENT,
 * ENOTDIR. */
int memory_tree_find(struct memory_node *root, const char *path, struct memory_node **node);

/* An empty file or directory; EEXIST. */
int memory_tree_create(struct memory_node *root, const char *path, bool is_directory,
                       struct memory_node **node);
int memory_tree_rename(struct memory_node *root, const char *from, const char *to);
int memory_tree_link(struct memory_node *from_root, const char *from, struct memory_node *to_root,
                     const char *to);
int memory_tree_remove(struct memory_node *root, const char *path);

/* Bytes of all files that have a name, each once. */
uint64_t memory_tree_used_bytes(struct memory_node *root);

/* Of a directory. */
size_t memory_tree_name_count(const struct memory_node *node);
const char *memory_tree_name_at(const struct memory_node *node, size_t index);
void memory_tree_sync_names(struct memory_node *node);
void memory_tree_fail_sync_names(struct memory_node *node);

/* Of a tree: what survives becomes live and durable.  Equal trees and random states give equal
 * results.  A node that vanishes stays valid for who holds it. */
void memory_tree_power_cut(struct memory_node *root, enum memory_cut cut,
                           struct test_random *random);

/*
 * What is pending, in units: each change of a directory, and all that is pending of the bytes of
 * one file.  A power cut in which all units survive but the `index`-th, or none but that: what
 * cannot survive without it goes with it, and what it cannot survive without comes with it.
 */
size_t memory_tree_pending(struct memory_node *root);
void memory_tree_cut_one(struct memory_node *root, size_t index, bool survives);

/* Of all names and what reads see of the files; equal trees have equal hashes, in this process. */
uint64_t memory_tree_hash(const struct memory_node *root);

#endif
