/* epoch_test.c -- what is retired is released after every reader that could see it has left, and
 * not before. */
#include "base/epoch.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

static void
retire(struct epoch *epoch, struct epoch_item *item)
{
    epoch_defer(epoch, item);
    epoch_collect(epoch);
}

/* An object whose release can be seen. */
struct thing {
    struct epoch_item item;
    unsigned released;
    struct epoch *epoch; /* retire `successor` there at release */
    struct thing *successor;
};

static void
release_thing(struct epoch_item *item)
{
    struct thing *thing = (struct thing *)(void *)item;

    thing->released++;
    if (thing->successor != NULL)
        retire(thing->epoch, &thing->successor->item);
}

static struct thing
make_thing(void)
{
    return (struct thing){.item.release = release_thing};
}

static struct epoch *
new_epoch(void)
{
    struct epoch *epoch =
        mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, sizeof *epoch);

    assert_non_null(epoch);
    assert_int_equal(epoch_init(epoch), PETAL_OK);
    return epoch;
}

static void
free_epoch(struct epoch *epoch)
{
    epoch_fini(epoch);
    mem_free(&mem_default_allocator, epoch, sizeof *epoch);
}

TEST(released_at_once_without_readers)
{
    struct epoch *epoch = new_epoch();
    struct thing thing = make_thing();

    retire(epoch, &thing.item);
    assert_int_equal(thing.released, 1);
    epoch_collect(epoch);
    assert_int_equal(thing.released, 1);
    free_epoch(epoch);
    assert_int_equal(thing.released, 1);
}

TEST(held_while_an_earlier_reader_is_inside)
{
    struct epoch *epoch = new_epoch();
    struct thing first = make_thing();
    struct thing second = make_thing();
    unsigned reader = epoch_enter(epoch);

    retire(epoch, &first.item);
    epoch_collect(epoch);
    assert_int_equal(first.released, 0);
    retire(epoch, &second.item);
    assert_int_equal(first.released, 0);
    epoch_leave(epoch, reader);
    assert_int_equal(first.released, 0);
    epoch_collect(epoch);
    assert_int_equal(first.released, 1);
    assert_int_equal(second.released, 1);
    free_epoch(epoch);
}

TEST(a_later_reader_holds_nothing_back)
{
    struct epoch *epoch = new_epoch();
    struct thing seen = make_thing();
    struct thing unseen = make_thing();
    unsigned earlier = epoch_enter(epoch);
    unsigned later;

    retire(epoch, &unseen.item);
    later = epoch_enter(epoch);
    retire(epoch, &seen.item);
    epoch_leave(epoch, earlier);
    epoch_collect(epoch);
    assert_int_equal(unseen.released, 1);
    assert_int_equal(seen.released, 0);
    epoch_leave(epoch, later);
    epoch_collect(epoch);
    assert_int_equal(seen.released, 1);
    free_epoch(epoch);
}

TEST(deferred_waits_for_a_collection)
{
    struct epoch *epoch = new_epoch();
    struct thing deferred[3] = {make_thing(), make_thing(), make_thing()};
    struct thing retired = make_thing();
    unsigned reader;

    epoch_defer(epoch, &deferred[0].item);
    epoch_defer(epoch, &deferred[1].item);
    assert_int_equal(deferred[0].released + deferred[1].released, 0);
    retire(epoch, &retired.item);
    assert_int_equal(deferred[0].released + deferred[1].released + retired.released, 3);

    reader = epoch_enter(epoch);
    epoch_defer(epoch, &deferred[2].item);
    epoch_collect(epoch);
    assert_int_equal(deferred[2].released, 0);
    epoch_leave(epoch, reader);
    epoch_collect(epoch);
    assert_int_equal(deferred[2].released, 1);
    free_epoch(epoch);
}

/* Nothing was released in between, so the reader got the number of the epoch in which the item was
 * retired. */
TEST(a_reader_of_the_same_epoch_is_waited_for)
{
    struct epoch *epoch = new_epoch();
    struct thing thing = make_thing();
    unsigned reader;

    epoch_defer(epoch, &thing.item);
    reader = epoch_enter(epoch);
    epoch_collect(epoch);
    assert_int_equal(thing.released, 0);
    epoch_leave(epoch, reader);
    epoch_collect(epoch);
    assert_int_equal(thing.released, 1);
    free_epoch(epoch);
}

TEST(releasing_may_retire)
{
    struct epoch *epoch = new_epoch();
    struct thing last = make_thing();
    struct thing middle = make_thing();
    struct thing first = make_thing();

    middle.epoch = first.epoch = epoch;
    middle.successor = &last;
    first.successor = &middle;
    retire(epoch, &first.item);
    assert_int_equal(first.released + middle.released + last.released, 3);

    first.released = middle.released = last.released = 0;
    epoch_defer(epoch, &first.item);
    free_epoch(epoch); /* epoch_fini releases all of the chain */
    assert_int_equal(first.released + middle.released + last.released, 3);
}

struct late_reader {
    struct epoch *epoch;
    unsigned slot;
};

static void *
enter_when_there_is_room(void *argument)
{
    struct late_reader *reader = argument;

    reader->slot = epoch_enter(reader->epoch);
    return NULL;
}

TEST(with_all_slots_taken_a_reader_waits_for_one)
{
    struct epoch *epoch = new_epoch();
    struct late_reader late = {.epoch = epoch, .slot = EPOCH_SLOTS};
    bool taken[EPOCH_SLOTS] = {false};
    pthread_t thread;

    for (unsigned i = 0; i < EPOCH_SLOTS; i++) {
        unsigned slot = epoch_enter(epoch);

        assert_in_range(slot, 0, EPOCH_SLOTS - 1);
        assert_false(taken[slot]);
        taken[slot] = true;
    }
    assert_int_equal(pthread_create(&thread, NULL, enter_when_there_is_room, &late), 0);
    while (atomic_load(&epoch->waiting) == 0) /* it sleeps */
        sched_yield();
    epoch_leave(epoch, 41);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&epoch->waiting), 0);
    assert_int_equal(late.slot, 41);
    for (unsigned i = 0; i < EPOCH_SLOTS; i++)
        epoch_leave(epoch, i);
    free_epoch(epoch);
}

#define CROWD (3 * EPOCH_SLOTS)
#define STAYS 50

static void *
enter_and_leave(void *argument)
{
    struct epoch *epoch = argument;

    for (unsigned i = 0; i < STAYS; i++) {
        unsigned slot = epoch_enter(epoch);

        sched_yield();
        epoch_leave(epoch, slot);
    }
    return NULL;
}

TEST(a_crowd_of_readers_gets_through)
{
    struct epoch *epoch = new_epoch();
    pthread_t threads[CROWD];

    for (unsigned i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_and_leave, epoch), 0);
    for (unsigned i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&epoch->waiting), 0);
    free_epoch(epoch);
}

struct stay_with_count {
    struct epoch_stay stay; /* first member */
    struct thing *thing;
    unsigned calls, released_then;
    enum petal_status status;
};

static enum petal_status
hold_nothing(struct epoch_stay *stay)
{
    struct stay_with_count *holder = (struct stay_with_count *)(void *)stay;

    holder->calls++;
    epoch_collect(stay->epoch);
    holder->released_then = holder->thing->released;
    return holder->status;
}

/* What needs to be held is held before anything can go; if that fails, the reader is still inside.
 */
TEST(an_interrupted_stay_holds_nothing_back)
{
    struct epoch *epoch = new_epoch();
    struct thing thing = make_thing();
    struct stay_with_count holder = {.stay = {.epoch = epoch, .hold = hold_nothing},
                                     .thing = &thing};

    holder.stay.slot = epoch_enter(epoch);
    retire(epoch, &thing.item);
    holder.status = PETAL_NO_MEMORY;
    assert_int_equal(epoch_interrupt(&holder.stay), PETAL_NO_MEMORY);
    epoch_collect(epoch);
    assert_int_equal(thing.released, 0);

    holder.status = PETAL_OK;
    assert_int_equal(epoch_interrupt(&holder.stay), PETAL_OK);
    assert_int_equal(holder.calls, 2);
    assert_int_equal(holder.released_then, 0);
    epoch_collect(epoch);
    assert_int_equal(thing.released, 1);
    epoch_resume(&holder.stay);
    assert_in_range(holder.stay.slot, 0, EPOCH_SLOTS - 1);
    epoch_leave(epoch, holder.stay.slot);
    free_epoch(epoch);
}

/* ---- Stress: writers replace objects that readers read ---- */

#define PLACES  8
#define READERS 4
#define WRITERS 2
#define ALIVE   0x5EED5EED5EED5EEDu

struct object {
    struct epoch_item item;
    uint64_t words
        [6]; /* all ALIVE until released; not atomic, so that a sanitizer sees a mistake, too */
    struct arena *arena;
};

struct arena {
    struct epoch *epoch;
    _Atomic(struct object *) places[PLACES];
    _Atomic(uint64_t) released;
    _Atomic(uint64_t) visits;
    _Atomic(unsigned) started; /* threads; gives each its random numbers */
    _Atomic(bool) stop;
    _Atomic(unsigned) broken;
    unsigned rounds;
    uint64_t seed;
};

static void
release_object(struct epoch_item *item)
{
    struct object *object = (struct object *)(void *)item;

    for (unsigned i = 0; i < 6; i++)
        object->words[i] = 0;
    atomic_fetch_add(&object->arena->released, 1);
    free(object);
}

static struct object *
new_object(struct arena *arena)
{
    struct object *object = test_allocate(sizeof *object);

    object->item.release = release_object;
    object->arena = arena;
    for (unsigned i = 0; i < 6; i++)
        object->words[i] = ALIVE;
    return object;
}

static void *
read_objects(void *argument)
{
    struct arena *arena = argument;
    struct test_random random;

    test_random_init(&random, arena->seed + atomic_fetch_add(&arena->started, 1));
    while (!atomic_load(&arena->stop)) {
        unsigned slot = epoch_enter(arena->epoch);
        struct object *first = atomic_load_explicit(
            &arena->places[test_random_below(&random, PLACES)], memory_order_acquire);
        struct object *second = atomic_load_explicit(
            &arena->places[test_random_below(&random, PLACES)], memory_order_acquire);

        if (test_random_below(&random, 64) == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
        for (unsigned i = 0; i < 6; i++)
            if (first->words[i] != ALIVE || second->words[i] != ALIVE)
                atomic_fetch_add(&arena->broken, 1);
        epoch_leave(arena->epoch, slot);
        atomic_fetch_add_explicit(&arena->visits, 1, memory_order_relaxed);
    }
    return NULL;
}

static void *
replace_objects(void *argument)
{
    struct arena *arena = argument;
    struct test_random random;

    test_random_init(&random, arena->seed + atomic_fetch_add(&arena->started, 1));
    while (atomic_load(&arena->visits) == 0) /* else it may be over before a reader begins */
        sched_yield();
    for (unsigned i = 0; i < arena->rounds; i++) {
        struct object *replaced =
            atomic_exchange_explicit(&arena->places[test_random_below(&random, PLACES)],
                                     new_object(arena), memory_order_acq_rel);

        if (test_random_chance(&random, 25))
            retire(arena->epoch, &replaced->item);
        else
            epoch_defer(arena->epoch, &replaced->item);
    }
    return NULL;
}

TEST(readers_never_meet_a_released_object)
{
    struct arena arena = {.epoch = new_epoch(), .seed = test_seed()};
    pthread_t readers[READERS], writers[WRITERS];

    arena.rounds = test_long() ? 5000000 : 200000;
    for (unsigned i = 0; i < PLACES; i++)
        atomic_init(&arena.places[i], new_object(&arena));
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_objects, &arena), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, replace_objects, &arena), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    atomic_store(&arena.stop, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);

    assert_int_equal(atomic_load(&arena.broken), 0);
    epoch_collect(arena.epoch);
    assert_int_equal(atomic_load(&arena.released), (uint64_t)arena.rounds * WRITERS);
    for (unsigned i = 0; i < PLACES; i++)
        free(atomic_load(&arena.places[i]));
    free_epoch(arena.epoch);
}
