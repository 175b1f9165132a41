/* schedule.c -- see schedule.h: whose turn it is. Compiled without instrumentation. */
#include "tests/schedule/schedule.h"

#include "tests/schedule/points.h"

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Who runs so long without a wait falls behind: it may be looking for what another is to do. */
#define MOST_POINTS_IN_TURN 20000

#define TIME_OF_A_LOOK_NS 1000
#define KEPT_BLOCKS       256
#define FILLED_BYTES      65536

enum task_state { TASK_FREE, TASK_READY, TASK_WAITS, TASK_ENDED };

struct task {
    enum task_state state;
    int go; /* futex: 1: it is this one's turn */
    uint64_t priority;
    const void *waits_for;
    uint64_t until_ns;
    bool woken;
    struct vector_clock clock;
};

static struct {
    bool running, weak, by_chance;
    uint64_t seed, random, now_ns, lowest;
    uint64_t until_change; /* points */
    uint64_t mean;         /* between changes */
    uint64_t in_turn;
    unsigned held, count;
    struct task tasks[MOST_TASKS];
    struct schedule_counts counts;
} schedule;

static __thread struct task *self;

/* ---- random numbers ---- */

static uint64_t
next_random(void)
{
    uint64_t z = schedule.random += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t
schedule_random(uint64_t limit)
{
    return next_random() % limit;
}

static void
plan_change(void)
{
    schedule.until_change = 1 + next_random() % (2 * schedule.mean);
}

/* ---- passing the turn on ---- */

static void
wait_for_turn(struct task *task)
{
    while (__atomic_load_n(&task->go, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &task->go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    __atomic_store_n(&task->go, 0, __ATOMIC_RELAXED);
}

static void
give_turn(struct task *task)
{
    __atomic_store_n(&task->go, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &task->go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void
end_wait(struct task *task, bool woken)
{
    task->state = TASK_READY;
    task->woken = woken;
    task->waits_for = NULL;
}

static void
end_waits_that_are_over(void)
{
    for (unsigned i = 0; i < schedule.count; i++) {
        struct task *task = &schedule.tasks[i];

        if (task->state == TASK_WAITS && task->until_ns <= schedule.now_ns)
            end_wait(task, false);
    }
}

/* The time of the one that waits for the nearest comes. False: nobody waits for a time. */
static bool
let_time_pass(void)
{
    uint64_t nearest = POINT_NEVER;

    for (unsigned i = 0; i < schedule.count; i++) {
        const struct task *task = &schedule.tasks[i];

        if (task->state == TASK_WAITS && task->until_ns < nearest)
            nearest = task->until_ns;
    }
    if (nearest == POINT_NEVER)
        return false;
    if (nearest > schedule.now_ns)
        schedule.now_ns = nearest;
    schedule.counts.deadlines++;
    end_waits_that_are_over();
    return true;
}

static struct task *
first_of_ready(void)
{
    struct task *first = NULL;

    for (unsigned i = 0; i < schedule.count; i++) {
        struct task *task = &schedule.tasks[i];

        if (task->state == TASK_READY && (first == NULL || task->priority > first->priority))
            first = task;
    }
    return first;
}

static void
say_who_waits(void)
{
    for (unsigned i = 0; i < schedule.count; i++)
        fprintf(stderr, "  thread %u: state %d, waits for %p\n", i, (int)schedule.tasks[i].state,
                schedule.tasks[i].waits_for);
}

/* Whoever has the highest priority goes on; the caller returns when that is it again. */
static void
pass_turn(struct task *from)
{
    struct task *next;

    end_waits_that_are_over();
    while ((next = first_of_ready()) == NULL) {
        if (!let_time_pass()) {
            say_who_waits();
            schedule_fail(__FILE__, __LINE__, "all threads wait for one another");
        }
    }
    schedule.in_turn = 0;
    if (next == from)
        return;
    schedule.counts.switches++;
    if (from->state == TASK_ENDED) {
        give_turn(next); /* the thread ends beside it */
        return;
    }
    give_turn(next);
    wait_for_turn(from);
}

static void
fall_behind(struct task *task)
{
    task->priority = --schedule.lowest;
}

/* ---- points ---- */

bool
point_is_ours(void)
{
    return self != NULL;
}

static void
change(void)
{
    plan_change();
    if (next_random() % 16 == 0)
        let_time_pass();
    if (schedule.by_chance)
        for (unsigned i = 0; i < schedule.count; i++)
            schedule.tasks[i].priority = schedule.lowest + next_random() % 1000000;
    else
        fall_behind(self);
    pass_turn(self);
}

void
point(void)
{
    schedule.counts.points++;
    if (schedule.held > 0)
        return;
    if (++schedule.in_turn > MOST_POINTS_IN_TURN)
        point_yield();
    else if (--schedule.until_change == 0)
        change();
}

void
point_yield(void)
{
    schedule.counts.points++;
    if (schedule.held > 0)
        return;
    fall_behind(self);
    pass_turn(self);
}

bool
point_wait(const void *object, uint64_t until_ns)
{
    schedule.counts.points++;
    self->state = TASK_WAITS;
    self->waits_for = object;
    self->until_ns = until_ns;
    pass_turn(self);
    return self->woken;
}

void
point_wake(const void *object, bool all)
{
    unsigned waiting = 0, chosen;

    for (unsigned i = 0; i < schedule.count; i++)
        waiting += schedule.tasks[i].state == TASK_WAITS && schedule.tasks[i].waits_for == object;
    if (waiting == 0)
        return;
    chosen = (unsigned)(next_random() % waiting);
    for (unsigned i = 0; i < schedule.count; i++) {
        struct task *task = &schedule.tasks[i];

        if (task->state == TASK_WAITS && task->waits_for == object && (all || chosen-- == 0))
            end_wait(task, true);
    }
}

void
point_hold(bool hold)
{
    schedule.held += hold ? 1u : -1u;
}

uint64_t
point_time_ns(void)
{
    return schedule.now_ns += TIME_OF_A_LOOK_NS;
}

unsigned
point_task(void)
{
    return (unsigned)(self - schedule.tasks);
}

struct vector_clock *
point_clock(void)
{
    return &self->clock;
}

bool
point_is_weak(void)
{
    return schedule.weak;
}

void
point_count_stale(void)
{
    schedule.counts.stale_loads++;
}

uint64_t
schedule_now(void)
{
    return schedule.counts.points;
}

/* ---- threads ---- */

static struct task *
new_task(void)
{
    struct task *task = &schedule.tasks[schedule.count];

    schedule_check(schedule.count < MOST_TASKS);
    schedule.count++;
    *task = (struct task){.state = TASK_READY,
                          .priority = (UINT64_C(1) << 62) + next_random() % (UINT64_C(1) << 60)};
    return task;
}

void *
point_new_task(void)
{
    struct task *task = new_task();

    task->clock = self->clock;
    task->clock.steps[task - schedule.tasks] = 1;
    self->clock.steps[self - schedule.tasks]++;
    return task;
}

void
point_begin_task(void *task)
{
    self = task;
    wait_for_turn(self);
}

void
point_end_task(void *task)
{
    self->state = TASK_ENDED;
    point_wake(task, true);
    pass_turn(self);
}

bool
point_task_has_ended(const void *task)
{
    return ((const struct task *)task)->state == TASK_ENDED;
}

struct vector_clock *
point_clock_of(void *task)
{
    return &((struct task *)task)->clock;
}

/* ---- a schedule ---- */

/* Half of the seeds are weak; of two in three few threads fall behind, as many as a race needs. How
 * many points lie between is left to chance: nothing is known of how many there will be. */
static void
plan(uint64_t seed)
{
    memset(&schedule, 0, sizeof schedule);
    schedule.seed = seed;
    schedule.random = seed * 0xD1342543DE82EF95u;
    schedule.lowest = UINT64_C(1) << 61;
    schedule.now_ns = UINT64_C(1000000000000);
    schedule.weak = next_random() % 2 == 0;
    schedule.by_chance = next_random() % 3 == 0;
    schedule.mean = UINT64_C(4) << next_random() % (schedule.by_chance ? 8 : 14);
    plan_change();
}

void
schedule_run(uint64_t seed, void (*body)(void *argument), void *argument,
             struct schedule_counts *counts)
{
    plan(seed);
    atomics_begin();
    calls_begin();
    self = new_task();
    self->clock.steps[0] = 1;
    schedule.running = true;
    body(argument);
    for (unsigned i = 1; i < schedule.count; i++)
        schedule_check(schedule.tasks[i].state == TASK_ENDED);
    self = NULL;
    schedule.running = false;
    *counts = schedule.counts;
}

void
schedule_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n  at point %llu of the schedule with seed %llu\n", file, line, what,
            (unsigned long long)schedule.counts.points, (unsigned long long)schedule.seed);
    abort();
}

/* ---- memory ---- */

struct kept {
    void *memory;
    size_t size;
};

static struct kept kept[KEPT_BLOCKS];
static unsigned next_kept;

static void *
allocate(void *context, size_t alignment, size_t size)
{
    void *memory;

    (void)context;
    schedule_check(posix_memalign(&memory, alignment < 16 ? 16 : alignment, size) == 0);
    memset(memory, 0xA5, size < FILLED_BYTES ? size : FILLED_BYTES);
    atomics_forget(memory, size);
    return memory;
}

static void
release(void *context, void *memory, size_t size)
{
    struct kept *place = &kept[next_kept];

    (void)context;
    if (memory == NULL)
        return;
    memset(memory, 0xDD, size < FILLED_BYTES ? size : FILLED_BYTES);
    atomics_forget(memory, size);
    free(place->memory);
    *place = (struct kept){memory, size};
    next_kept = (next_kept + 1) % KEPT_BLOCKS;
}

const petal_allocator schedule_allocator = {NULL, allocate, release};
