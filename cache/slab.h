/*
 * slab.h -- memory for objects of one to 32 KiB that any thread takes and any thread gives back.
 * malloc keeps what a thread gave back for the thread that took it, so that with each thread that
 * reads it would keep another cache's worth.
 *
 * A slab is SLAB_BYTES on a border of as many, so an object's slab is found by its address, and
 * holds objects of one class:
 *
 *     struct slab | owner of each object | stack of the objects given back, a byte each | objects
 *
 * Classes are an eighth of a power of two apart, so rounding adds less than that.  Objects lie on
 * cache line borders.
 *
 * Objects of a slab are first used in order, so memory behind the last one used was never touched
 * and, with an allocator that maps pages, is not taken from the system: slabs count what was
 * touched.  What is given back is used again before anything new, in the fullest slab first; so
 * those that are nearly empty have a chance to become empty, and go back.
 *
 * CLOSING.  Objects cannot be moved, and a slab goes back when its last one does.  To get memory
 * back the owner of the slabs closes the emptiest one and sees to it that its objects are given
 * back.  A closed slab is used again only when there is no other of its class with room.
 *
 * SPARE.  A set keeps the slab that became empty last, unless it was closed, with all that was
 * touched of it: where the number of objects goes up and down by a few around what fills whole
 * slabs, one would go to the system and come back each time.  It counts as touched and not in use,
 * is taken when no other of its class has room, and goes when another becomes empty or the owner of
 * the slabs wants memory back (slab_drop_spare).
 *
 * Threads: none of its own; one at a time for one struct slab_set, also while it takes memory from
 * the system or gives some back: that is once for many objects.  slab_is_closing: any.
 */
#ifndef PETAL_CACHE_SLAB_H
#define PETAL_CACHE_SLAB_H

#include "cache/slab_region.h"

#include <stdatomic.h>

#define SLAB_LEAST_OBJECT 1024u
#define SLAB_MOST_OBJECT  (32u << 10)
#define SLAB_CLASSES      41
#define SLAB_OBJECTS      253 /* at most in one slab */

/* Lists of a class: slabs with objects given back, by eighths in use of what was touched; those
 * where all that was touched is in use; closed ones.  Full slabs and the spare are in none. */
enum { SLAB_FRESH = 8, SLAB_CLOSED, SLAB_LISTS, SLAB_FULL = SLAB_LISTS };

struct cache_block;

struct slab {
    struct slab *next, *previous;
    uint32_t class, object_bytes, count;
    uint32_t first;   /* where objects begin */
    uint32_t touched; /* objects that were ever used */
    uint32_t used;
    uint32_t list;
    _Atomic(bool) closing;
    struct slab_region *region;   /* where it lies, for giving it back */
    struct cache_block *owners[]; /* of the objects in use */
};

struct slab_set {
    struct slab_regions regions; /* where slabs lie */
    struct slab *lists[SLAB_CLASSES][SLAB_LISTS];
    uint16_t lists_used[SLAB_CLASSES]; /* a bit for each that is not empty */
    unsigned slab_count;
    uint64_t touched_bytes, used_bytes; /* of slabs that are not closed */
    uint64_t closed_bytes;              /* touched, of those that are */
    struct slab *spare;                 /* the one without objects that is kept, or NULL */
};

/* What an object of `bytes` takes.  REQUIRES, here and below: SLAB_LEAST_OBJECT <= bytes <=
 * SLAB_MOST_OBJECT. */
uint32_t slab_object_bytes(uint32_t bytes);

/* Is the object in a slab that is to become empty? */
bool slab_is_closing(const void *object);

/* For a cache of `capacity` bytes. */
void slab_set_init(struct slab_set *set, const petal_allocator *allocator, uint64_t capacity);

/* REQUIRES: all objects given back. */
void slab_set_fini(struct slab_set *set);

/* An object for this owner, on a cache line's border; NULL when there is no memory. */
void *slab_take(struct slab_set *set, uint32_t bytes, struct cache_block *owner);
void slab_give(struct slab_set *set, void *object);

/* Give the spare back to the system, if there is one. */
void slab_drop_spare(struct slab_set *set);

/*
 * Close the slab with the least share of its touched memory in use: its objects are to be given
 * back.  The number of their owners; 0: there is no slab with memory to spare.
 */
size_t slab_close_emptiest(struct slab_set *set, struct cache_block *owners[SLAB_OBJECTS]);

#endif
