/* make_table.c -- random changes of tables, flushes, compactions and the like; see
 * tests/model/maker.h. */
#include "tests/model/maker.h"

void
pick_family(struct maker *maker, struct model_family *family)
{
    *family = (struct model_family){.versions = 1, .keep_deleted = PETAL_KEEP_DELETED_FALSE};
    if (has(maker, FEATURE_VERSIONS) && chance(maker, 70))
        family->versions = 1 + (uint32_t)below(maker, 4);
    if (maker->roomy)
        family->versions = INT32_MAX;
    if (has(maker, FEATURE_TTL) && !maker->dense && chance(maker, 40)) {
        family->has_ttl = true;
        family->ttl_ms = 1000 * (1 + (int64_t)below(maker, 2));
        if (!maker->roomy && chance(maker, 50))
            family->min_versions = (uint32_t)below(maker, family->versions + 1);
    }
    /* Under it time ranges tell whether a marker is there that hides nothing more: who looks for
     * what a crash has left does not see that. */
    if (has(maker, FEATURE_KEEP_DELETED) && !(maker->roomy && has(maker, FEATURE_CRASHES)) &&
        chance(maker, 40))
        family->keep_deleted =
            chance(maker, 50) && !maker->calm ? PETAL_KEEP_DELETED_TTL : PETAL_KEEP_DELETED_TRUE;
    family->new_version_behavior = has(maker, FEATURE_NEW_VERSION_BEHAVIOR) && chance(maker, 25);
}

/* ---- changes of tables ---- */

void
pick_schema(struct maker *maker, bool may_lack, struct model_schema *schema)
{
    unsigned sure = (unsigned)below(maker, MODEL_FAMILIES);

    *schema = (struct model_schema){.read_only = may_lack && chance(maker, 5)};
    if (chance(maker, 30))
        schema->durability =
            PETAL_ASYNC_WAL + (unsigned)below(maker, PETAL_FSYNC_WAL - PETAL_ASYNC_WAL + 1);
    for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
        if (maker->calm)
            schema->families[family] = maker->calm_families[family];
        else
            pick_family(maker, &schema->families[family]);
        schema->families[family].absent = may_lack && family != sure && chance(maker, 25);
    }
}

bool
pick_table_change(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    operation->table_snapshot = (unsigned)below(maker, MODEL_TABLE_SNAPSHOTS);
    operation->table = (unsigned)below(maker, maker->tables);
    if (choice < 50 && has(maker, FEATURE_SCHEMA)) {
        /* What is gone comes back soon: most of the list is about what is there. */
        operation->kind = choice < 8    ? OPERATION_DROP_TABLE
                          : choice < 24 ? OPERATION_CREATE_TABLE
                          : choice < 30 ? OPERATION_TRUNCATE_TABLE
                                        : OPERATION_ALTER_TABLE;
        pick_schema(maker, chance(maker, 60), &operation->schema);
    } else if (choice < 90 && has(maker, FEATURE_TABLE_SNAPSHOTS)) {
        operation->kind = choice < 65   ? OPERATION_TAKE_TABLE_SNAPSHOT
                          : choice < 74 ? OPERATION_CLONE_TABLE
                          : choice < 83 ? OPERATION_RESTORE_TABLE
                                        : OPERATION_DELETE_TABLE_SNAPSHOT;
        operation->skip_flush = !maker->calm && chance(maker, 30);
        operation->ttl_seconds = chance(maker, 20) ? 1 + (uint32_t)below(maker, 3) : 0;
    } else if (has(maker, FEATURE_CHECKPOINTS)) {
        operation->kind = OPERATION_CHECKPOINT;
        operation->read.raw = !maker->calm;
    } else {
        return false;
    }
    return true;
}

/* ---- the rest ---- */

static void
pick_compaction(struct maker *maker, struct operation *operation)
{
    operation->kind = OPERATION_COMPACT;
    if (chance(maker, 40) || maker->calm)
        return;
    operation->family = (unsigned)below(maker, MODEL_FAMILIES);
    operation->first_run = below(maker, 4);
    operation->run_count = 1 + below(maker, 4);
}

void
pick_maintenance(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    operation->variant = (unsigned)below(maker, 8);
    operation->is_read_first = chance(maker, 25);
    if (choice >= 65 && choice < 92 && pick_table_change(maker, operation))
        return;
    if (choice >= 92 && has(maker, FEATURE_LOOKS)) {
        operation->kind = OPERATION_LOOK;
        return;
    }
    operation->kind = OPERATION_FLUSH;
    operation->whole_database = chance(maker, 50);
    operation->snapshot = 1 + (unsigned)below(maker, MODEL_READ_POINTS);
    operation->family = (unsigned)below(maker, MODEL_FAMILIES + 1);
    if (choice < 20 && has(maker, FEATURE_COMPACTION))
        pick_compaction(maker, operation);
    else if (choice < 45 && has(maker, FEATURE_SNAPSHOTS))
        operation->kind = choice < 32 ? OPERATION_TAKE_SNAPSHOT : OPERATION_FREE_SNAPSHOT;
    else if (choice < 55 && has(maker, FEATURE_RESTARTS))
        operation->kind = choice < 50 ? OPERATION_REOPEN : OPERATION_CRASH;
}
