/*
 * sst_walk.h -- the blocks of a store file, one after the other as they stand in it, those that
 * are damaged passed over: for who looks at a file as a whole, and at one that may be damaged.
 *
 * Goes by the bytes alone: where a block is damaged, the next place where one begins is searched,
 * at every byte, and believed when its checksum is right. So trailer, facts and index may be lost.
 * Where the index can be read it tells which data blocks a damaged place held, and so the rows.
 *
 * Reads the file anew, with a small cache of its own; writes nothing. The search costs what it
 * reads, and a hostile file cannot make it cost more than a few times that: then the rest is given
 * up as damaged.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_SSTABLE_SST_WALK_H
#define PETAL_SSTABLE_SST_WALK_H

#include "sstable/sst_reader.h"

struct sst_walk;

struct sst_walk_options {
    uint64_t file_identity; /* from the manifest; 0: take the trailer's */
    struct file_pool *pool; /* as in struct sst_open_options */
    size_t window_bytes;    /* read at once, if no block is longer; 0: 1 MiB */
};

enum sst_walk_event {
    SST_WALK_BLOCK,
    SST_WALK_DAMAGE, /* some bytes, in which no whole block stands */
    SST_WALK_END
};

/* What the index says of a data block. */
enum sst_walk_named {
    SST_WALK_NAMED,     /* its place, size and first cell */
    SST_WALK_NOT_NAMED, /* nothing */
    SST_WALK_MISNAMED,  /* it names it wrongly: index_fault says how */
    SST_WALK_NO_INDEX   /* it cannot be read from here on: index_fault says why */
};

struct sst_walk_step {
    enum sst_walk_event event;
    uint64_t offset, bytes; /* in the file, of a block with its frame */
    enum block_kind kind;   /* of a block */
    uint8_t codec;          /* likewise: enum block_codec */
    uint32_t entries;       /* likewise, as in its frame */
    size_t raw_bytes;       /* likewise */
    /* Of a block, as readers have it in memory: decompressed and checked, of an index node arranged
     * (index_block.h).  Good until the next step. */
    const uint8_t *memory;
    enum sst_walk_named named; /* of a data block */
    uint32_t begins;           /* NAMED: what the index claims that it begins (enum block_begins) */
    const petal_error *index_fault;
    petal_error cause; /* of damage */
    /* Of damage: data blocks that it concerns, as the index tells; where that cannot be read 1, if
     * it may concern any. 0: none. */
    uint64_t data_blocks;
    struct sst_rows rows; /* of these; slices are good until the next step */
    /* At the end: the index names a block where none stands, and not for damage; a read failed once,
     * while what was asked for could be read when it was tried again.  NULL: no. */
    const petal_error *left_over, *passed;
};

/*
 * *walk: also where nothing of the file can be used but its identity is known; sst_walk_reader says
 * how much of it opens. Fails where there is nothing to walk: the file cannot be read at all, is of
 * a newer version, or tells no identity while options give none; and for want of descriptors or
 * memory (error_passes), which says nothing of the file.
 */
enum petal_status sst_walk_open(struct sst_walk **walk, const struct directory *directory,
                                const char *path, const struct sst_walk_options *options,
                                petal_error *error);
void sst_walk_close(struct sst_walk *walk); /* NULL: no-op */

/* The file opened as readers do; NULL: it cannot be, and *error, which may be NULL, says why. */
const struct sst_reader *sst_walk_reader(const struct sst_walk *walk, petal_error *error);
/* Its facts; NULL: it cannot be opened. */
const struct file_facts *sst_walk_facts(const struct sst_walk *walk);
/* The epoch for its calls. */
struct epoch *sst_walk_epoch(const struct sst_walk *walk);

const char *sst_walk_path(const struct sst_walk *walk);
uint64_t sst_walk_identity(const struct sst_walk *walk);
/* As the trailer says (sstable/file/trailer.h); 0 also where it cannot be read. */
uint64_t sst_walk_stated_shift(const struct sst_walk *walk);

/* The file's size. */
uint64_t sst_walk_file_bytes(const struct sst_walk *walk);

/*
 * The next step. Fails for want of descriptors or memory alone. Another failed read is damage of
 * the bytes that could not be read. Damage that may have taken data blocks comes when their rows
 * are known: without an index before the next data block that is whole.
 */
enum petal_status sst_walk_next(struct sst_walk *walk, struct sst_walk_step *step,
                                petal_error *error);

#endif
