/* lead_test.c -- who leads, whom the leader serves, in which order, and that nobody is served twice
 * or forgotten. */
#include "engine/state/lead.c"

#include "base/clock.h"
#include "engine/state/lead.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <sched.h>

#define MOST_BYTES   100
#define MOST_WAITERS 16

/* Everything but the queue is the leader's: ThreadSanitizer tells when two lead at once. */
struct line {
    struct write_queue queue;
    size_t most_bytes;
    unsigned served; /* places, and so the number of the next one */
    unsigned groups;
};

struct waiter {
    struct write_place place; /* first member */
    struct line *line;
    pthread_t thread;
    unsigned number, group; /* among those served, and of groups; from 1 on */
    bool led;
    struct write_place *leader;
};

static struct waiter *
waiter_of(struct write_place *place)
{
    return (struct waiter *)(void *)place;
}

/* Number the places of the group. LEADER. */
static void
serve(struct line *line, const struct write_group *group, struct write_place *leader)
{
    line->groups++;
    for (struct write_place *place = group->first;; place = place->next) {
        struct waiter *waiter = waiter_of(place);

        waiter->number = ++line->served;
        waiter->group = line->groups;
        waiter->leader = leader;
        if (place == group->last)
            break;
    }
}

static void
go_through(struct waiter *waiter)
{
    struct line *line = waiter->line;
    struct write_group group;

    waiter->led = write_queue_enter(&line->queue, &waiter->place, line->most_bytes, &group);
    if (!waiter->led)
        return;
    do {
        serve(line, &group, &waiter->place);
    } while (!write_queue_leave(&line->queue, &waiter->place, &group));
}

static void *
wait_in_line(void *argument)
{
    go_through(argument);
    return NULL;
}

/* ---- one line, put up place by place while the test leads ---- */

struct fixture {
    struct line line;
    struct waiter own;
    struct write_group group;
    struct waiter waiters[MOST_WAITERS];
    unsigned count;
};

static void
begin(struct fixture *fixture, bool slow, size_t most_bytes)
{
    *fixture = (struct fixture){.line.most_bytes = most_bytes, .own.place.slow = slow};
    assert_true(write_queue_init(&fixture->line.queue));
    assert_true(write_queue_enter(&fixture->line.queue, &fixture->own.place,
                                  fixture->line.most_bytes, &fixture->group));
    assert_ptr_equal(fixture->group.first, &fixture->own.place);
    assert_ptr_equal(fixture->group.last, &fixture->own.place);
    serve(&fixture->line, &fixture->group, &fixture->own.place);
}

/* A thread that waits, in line when this returns. */
static struct waiter *
add(struct fixture *fixture, struct write_place place)
{
    struct waiter *waiter = &fixture->waiters[fixture->count++];

    *waiter = (struct waiter){.place = place, .line = &fixture->line};
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_in_line, waiter), 0);
    while (atomic_load(&fixture->line.queue.newest) != &waiter->place)
        sched_yield();
    return waiter;
}

/* All have gone: in the order in which they came. */
static void
end(struct fixture *fixture)
{
    for (unsigned i = 0; i < fixture->count; i++)
        assert_int_equal(pthread_join(fixture->waiters[i].thread, NULL), 0);
    for (unsigned i = 0; i < fixture->count; i++)
        assert_int_equal(fixture->waiters[i].number, i + 2);
    assert_null(atomic_load(&fixture->line.queue.newest));
    write_queue_fini(&fixture->line.queue);
}

static void
expect_group(const struct fixture *fixture, unsigned from, unsigned to, unsigned group,
             bool own_leads)
{
    const struct write_place *leader =
        own_leads ? &fixture->own.place : &fixture->waiters[from].place;

    for (unsigned i = from; i <= to; i++) {
        assert_int_equal(fixture->waiters[i].group, group);
        assert_ptr_equal(fixture->waiters[i].leader, leader);
        assert_int_equal(fixture->waiters[i].led, !own_leads && i == from);
    }
}

TEST(groups_end_at_their_limits)
{
    struct fixture fixture;

    begin(&fixture, true, MOST_BYTES);
    /* Slow ones: who leads hands on. */
    add(&fixture, (struct write_place){.slow = true, .bytes = 60});
    add(&fixture, (struct write_place){.slow = true, .bytes = 40});
    add(&fixture, (struct write_place){.slow = true, .bytes = MOST_BYTES + 1});
    add(&fixture, (struct write_place){.slow = true, .alone = true});
    add(&fixture, (struct write_place){.slow = true});
    add(&fixture, (struct write_place){.slow = true});
    assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
    end(&fixture);
    expect_group(&fixture, 0, 1, 2, false);
    expect_group(&fixture, 2, 2, 3, false);
    expect_group(&fixture, 3, 3, 4, false);
    expect_group(&fixture, 4, 5, 5, false);
}

TEST(sleepers_are_woken)
{
    struct fixture fixture;

    begin(&fixture, true, MOST_BYTES);
    for (unsigned i = 0; i < 6; i++) {
        struct waiter *waiter =
            add(&fixture, (struct write_place){.slow = i % 2 == 0, .bytes = 40});

        while (atomic_load(&waiter->place.turn) != WRITE_SLEEPS)
            sched_yield();
    }
    assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
    end(&fixture);
    expect_group(&fixture, 0, 1, 2, false);
    expect_group(&fixture, 2, 3, 3, false);
    expect_group(&fixture, 4, 5, 4, false);
}

TEST(leader_stays_for_quick_ones)
{
    struct fixture fixture;

    begin(&fixture, false, MOST_BYTES);
    add(&fixture, (struct write_place){.bytes = 1});
    add(&fixture, (struct write_place){.bytes = 1});
    add(&fixture, (struct write_place){.slow = true});
    assert_false(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
    assert_ptr_equal(fixture.group.first, &fixture.waiters[0].place);
    assert_ptr_equal(fixture.group.last, &fixture.waiters[1].place);
    serve(&fixture.line, &fixture.group, &fixture.own.place);
    assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
    end(&fixture);
    expect_group(&fixture, 0, 1, 2, true);
    expect_group(&fixture, 2, 2, 3, false);
}

TEST(leader_does_not_stay)
{
    const struct write_place others[] = {
        {.alone = true}, {.slow = true}, {.bytes = STAY_BYTES + 1}};

    for (unsigned i = 0; i < 3; i++) {
        struct fixture fixture;

        begin(&fixture, false, SIZE_MAX);
        add(&fixture, others[i]);
        assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
        end(&fixture);
        expect_group(&fixture, 0, 0, 2, false);
    }
}

TEST(leader_stays_not_for_ever)
{
    struct fixture fixture;

    begin(&fixture, false, SIZE_MAX);
    for (unsigned i = 0; i < MOST_STAYS + 1; i++)
        add(&fixture, (struct write_place){.bytes = STAY_BYTES});
    for (unsigned i = 0; i < MOST_STAYS; i++) {
        assert_false(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
        assert_ptr_equal(fixture.group.first, fixture.group.last);
        serve(&fixture.line, &fixture.group, &fixture.own.place);
    }
    assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
    end(&fixture);
    assert_true(fixture.waiters[MOST_STAYS].led);
}

/* Two that sync: when the first is served and the second leads, the first comes again. Whether it
 * is back before the second waits no longer is the machine's affair: so some tries. */
TEST(slow_leader_waits_for_those_who_come_back)
{
    unsigned tries = 0;
    bool shared = false;

    for (; !shared && tries < 100; tries++) {
        struct fixture fixture;
        struct waiter again = {.place.slow = true};
        struct waiter *waiter;

        begin(&fixture, true, SIZE_MAX);
        again.line = &fixture.line;
        waiter = add(&fixture, (struct write_place){.slow = true});
        clock_sleep(20000);
        assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
        go_through(&again);
        shared = again.group == waiter->group;
        if (shared)
            assert_false(again.led);
        end(&fixture);
    }
    assert_true(shared);
}

/* Who leads and was told to expect another one that never comes, goes on. */
TEST(slow_leader_does_not_wait_for_ever)
{
    for (unsigned i = 0; i < 50; i++) {
        struct fixture fixture;

        begin(&fixture, true, SIZE_MAX);
        add(&fixture, (struct write_place){.slow = true});
        assert_true(write_queue_leave(&fixture.line.queue, &fixture.own.place, &fixture.group));
        end(&fixture);
        expect_group(&fixture, 0, 0, 2, false);
    }
}

/* ---- many ---- */

#define THREADS 5
#define TURNS   (test_long() ? 400000u : 20000u)

struct crowd {
    struct line line;
    _Atomic(unsigned) faults;
};

struct member {
    struct crowd *crowd;
    pthread_t thread;
    struct test_random random;
};

static void *
come_again(void *argument)
{
    struct member *member = argument;
    unsigned last = 0;

    for (unsigned i = 0; i < TURNS; i++) {
        uint64_t kind = test_random_below(&member->random, 64);
        struct waiter waiter = {
            .place = {.alone = kind == 0, .slow = kind < 4, .bytes = (size_t)kind},
            .line = &member->crowd->line};

        go_through(&waiter);
        /* Served, after the one before, and nobody but itself did what it wanted to do alone. */
        if (waiter.number <= last || (waiter.place.alone && waiter.leader != &waiter.place) ||
            waiter.led != (waiter.leader == &waiter.place))
            atomic_fetch_add(&member->crowd->faults, 1);
        last = waiter.number;
    }
    return NULL;
}

TEST(many_come_and_go)
{
    struct crowd crowd = {.line.most_bytes = MOST_BYTES};
    struct member members[THREADS];

    assert_true(write_queue_init(&crowd.line.queue));
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (struct member){.crowd = &crowd};
        test_random_init(&members[i].random, i + 1);
        assert_int_equal(pthread_create(&members[i].thread, NULL, come_again, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&crowd.faults), 0);
    assert_int_equal(crowd.line.served, THREADS * TURNS);
    write_queue_fini(&crowd.line.queue);
}
