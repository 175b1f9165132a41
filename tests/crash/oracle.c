/* oracle.c -- see tests/crash/oracle.h. */
#include "tests/crash/oracle.h"

#include "tests/support/test.h"

#include <string.h>

/* So many acts that may have happened are tried both ways; those after them have not happened. */
#define MOST_UNSURE 4

/* Which acts count. */
struct choice {
    uint32_t writes;  /* those among so many acts */
    uint32_t changes; /* those among so many */
    unsigned unsure;  /* bit i: the i-th of those that are not sure */
};

static bool
counts(const struct oracle *oracle, const struct choice *choice, uint32_t index, unsigned unsure)
{
    const struct act *act = &oracle->acts[index];

    if (act_is_loose(act) || act->refused)
        return false;
    if (act->failed && (unsure >= MOST_UNSURE || (choice->unsure >> unsure & 1) == 0))
        return false;
    return act_is_write(act) ? index < choice->writes
                             : act_is_change(act) && index < choice->changes;
}

/* A snapshot that lives for a second is gone when another life looks. */
static void
end_brief_snapshot(struct world *world)
{
    memset(&world->snapshots[WORLD_BRIEF], 0, sizeof world->snapshots[WORLD_BRIEF]);
}

static void
make(const struct oracle *oracle, const struct choice *choice, struct world *world)
{
    unsigned unsure = 0;

    *world = *oracle->base;
    for (uint32_t i = 0; i < oracle->progress.begun; i++) {
        if (counts(oracle, choice, i, unsure))
            act_apply(&oracle->acts[i], world);
        unsure += act_is_unsure(&oracle->acts[i]);
    }
}

/* Whether a change that counts comes after write `index`. */
static bool
change_follows(const struct oracle *oracle, uint32_t index, uint32_t changes)
{
    for (uint32_t i = index + 1; i < changes; i++) {
        if (act_is_change(&oracle->acts[i]))
            return true;
    }
    return false;
}

/* All prefixes of writes, from the promised one on. */
static bool
try_writes(const struct oracle *oracle, struct choice *choice, uint32_t least,
           const struct world *found, struct world *matched)
{
    bool stale = true;

    for (choice->writes = least;; choice->writes++) {
        if (stale)
            make(oracle, choice, matched);
        stale = false;
        end_brief_snapshot(matched);
        if (world_equal(matched, found))
            return true;
        if (choice->writes >= oracle->progress.begun)
            return false;
        if (!act_is_write(&oracle->acts[choice->writes]))
            continue;
        if (oracle->acts[choice->writes].failed ||
            change_follows(oracle, choice->writes, choice->changes))
            stale = true;
        else if (!act_is_loose(&oracle->acts[choice->writes]))
            act_apply(&oracle->acts[choice->writes], matched);
    }
}

static unsigned
count_unsure(const struct oracle *oracle)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < oracle->progress.begun; i++)
        count += act_is_unsure(&oracle->acts[i]);
    return count < MOST_UNSURE ? count : MOST_UNSURE;
}

static bool
try_all(const struct oracle *oracle, uint32_t least, const struct world *found,
        struct world *matched)
{
    unsigned combinations = 1u << count_unsure(oracle);

    for (unsigned unsure = combinations; unsure-- > 0;) {
        struct choice choice = {.changes = oracle->progress.begun, .unsure = unsure};

        if (try_writes(oracle, &choice, least, found, matched))
            return true;
        if (choice.changes == oracle->progress.changed)
            continue;
        choice.changes = oracle->progress.changed;
        if (try_writes(oracle, &choice, least, found, matched))
            return true;
    }
    return false;
}

/* ---- what was not logged ---- */

static bool
loose_slot_is_right(const struct oracle *oracle, unsigned family, unsigned slot, uint64_t held)
{
    uint64_t value = oracle->base->tables[WORLD_LOOSE].families[family].slots[slot];
    bool right = oracle->progress.loose == 0 && held == value;

    for (uint32_t i = 0; i < oracle->progress.begun; i++) {
        const struct act_cell *cell = &oracle->acts[i].cells[0];

        if (act_is_loose(&oracle->acts[i]) && cell->family == family &&
            cell->row * WORLD_QUALIFIERS + cell->qualifier == slot)
            value = oracle->acts[i].number;
        if (i + 1 >= oracle->progress.loose && held == value)
            right = true;
    }
    return right;
}

static bool
loose_is_right(const struct oracle *oracle, const struct world *found)
{
    for (unsigned family = 0; family < WORLD_FAMILIES; family++) {
        for (unsigned slot = 0; slot < WORLD_SLOTS; slot++) {
            uint64_t held = found->tables[WORLD_LOOSE].families[family].slots[slot];

            if (!loose_slot_is_right(oracle, family, slot, held)) {
                print_error("what was not logged: family %u slot %u holds %llu\n", family, slot,
                            (unsigned long long)held);
                return false;
            }
        }
    }
    return true;
}

bool
oracle_accepts(const struct oracle *oracle, bool process, const struct world *found,
               struct world *matched, bool quiet)
{
    uint32_t least = process ? oracle->progress.stored : oracle->progress.synced;

    if (!try_all(oracle, least, found, matched)) {
        struct choice choice = {.writes = oracle->progress.begun,
                                .changes = oracle->progress.begun};

        if (quiet)
            return false;
        make(oracle, &choice, matched);
        print_error("found, against what it would be with all %u acts, of which %u, and changes "
                    "among %u, were promised:\n",
                    oracle->progress.begun, least, oracle->progress.changed);
        world_print_differences(found, matched);
        return false;
    }
    if (!loose_is_right(oracle, found))
        return false;
    matched->tables[WORLD_LOOSE] = found->tables[WORLD_LOOSE];
    return true;
}
