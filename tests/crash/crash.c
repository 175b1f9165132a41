/* crash.c -- see tests/crash/crash.h. */
#include "tests/crash/crash.h"

#include <inttypes.h>

void
crash_do(const struct crash *crash, struct memory_vfs *files)
{
    switch (crash->kind) {
    case CRASH_CUT:
        memory_vfs_power_cut(files, crash->cut, crash->choice);
        break;
    case CRASH_LOSES_UNIT:
    case CRASH_SPARES_UNIT:
        memory_vfs_power_cut_one(files, (size_t)crash->choice, crash->kind == CRASH_SPARES_UNIT);
        break;
    case CRASH_DEATH:
        memory_vfs_process_death(files);
        break;
    }
}

struct crash
crash_random(struct memory_vfs *files, struct test_random *random)
{
    static const enum crash_kind kinds[] = {CRASH_CUT,        CRASH_CUT,        CRASH_CUT,
                                            CRASH_LOSES_UNIT, CRASH_LOSES_UNIT, CRASH_SPARES_UNIT,
                                            CRASH_DEATH,      CRASH_DEATH};
    struct crash crash = {.kind = kinds[test_random_below(random, sizeof kinds / sizeof *kinds)],
                          .cut = (enum memory_cut)test_random_below(random, MEMORY_CUT_STALE + 1),
                          .choice = test_random_next(random)};
    size_t units = memory_vfs_pending(files);

    if (crash.kind == CRASH_LOSES_UNIT || crash.kind == CRASH_SPARES_UNIT) {
        if (units == 0)
            crash.kind = CRASH_CUT;
        else
            crash.choice = test_random_below(random, units);
    }
    return crash;
}

const char *
crash_text(const struct crash *crash)
{
    static const char *const cuts[] = {"all lost",
                                       "all kept",
                                       "random sectors",
                                       "random pages",
                                       "names only",
                                       "bytes only",
                                       "torn",
                                       "torn first",
                                       "sizes and zeros",
                                       "sizes and garbage",
                                       "sizes and stale bytes"};
    static char text[80];

    if (crash->kind == CRASH_DEATH)
        return "death";
    if (crash->kind == CRASH_CUT)
        snprintf(text, sizeof text, "cut, %s (%" PRIu64 ")", cuts[crash->cut], crash->choice);
    else
        snprintf(text, sizeof text, "cut, %s unit %" PRIu64,
                 crash->kind == CRASH_LOSES_UNIT ? "all but" : "only", crash->choice);
    return text;
}
