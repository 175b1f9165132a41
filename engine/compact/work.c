/* work.c -- see engine/compact/work.h. */
#include "engine/compact/work.h"

#include "base/clock.h"

/* ---- finding it ---- */

static enum petal_status
gather(const struct look *look, petal_family *family, const struct store_view *store)
{
    uint64_t in_vain_until = atomic_load_explicit(&family->deleted_stay_us, memory_order_relaxed);
    uint64_t last = store_last_in_files(store), in_memory = store_first_in_memory(store);
    struct store_moment moment = {.now_ms = look->now_ms,
                                  .read_point = look->oldest,
                                  .markers_stay = last > look->oldest ||
                                                  look->newest >= in_memory || last >= in_memory ||
                                                  clock_us() < in_vain_until};

    return store_runs_gather(look->runs, family->table->db->env.allocator, store,
                             family_options(family), &moment);
}

/* What may begin while someone asks for the family; false: nothing. */
static bool
limit_beside_asked(const struct look *look, const petal_family *family,
                   struct policy_limits *limits)
{
    uint64_t most;

    if (!claims_asked(look->claims, family))
        return true;
    most = policy_bytes_beside(claims_most_bytes(look->claims, family), look->small_bytes);
    if (limits->max_bytes > most)
        limits->max_bytes = most;
    limits->all_files_first = false;
    return claims_large(look->claims, family);
}

static void
look_at_family(petal_family *family, struct look *look)
{
    const struct store_view *store = view_store(look->view, family);
    struct policy_limits limits = {.min_bytes = family->table->db->memtable_bytes,
                                   .max_bytes = look->max_bytes,
                                   .now_ms = look->now_ms,
                                   .all_files_first = look->all_files_first};
    struct policy_pick pick;
    uint64_t damaged;

    /* Without memory nothing is due. */
    if (family_is_dropped(family) || family->unusable || store == NULL || store->file_count == 0 ||
        !limit_beside_asked(look, family, &limits) || gather(look, family, store) != PETAL_OK)
        return;
    /* What is left alone for its damage is busy for ever; an all-files job is not waited for, then.
     */
    damaged = store_view_bad_sequence(store);
    limits.all_files_first = limits.all_files_first && damaged == 0;
    for (size_t i = 0; i < look->runs->count; i++)
        look->runs->policy[i].busy =
            claims_busy(look->claims, family, look->runs->runs[i].number) ||
            look->runs->runs[i].sequence_max <= damaged;
    policy_pick(look->runs->policy, look->runs->count, &limits, &pick);
    if (pick.reason == POLICY_NOTHING || look->runs->count <= look->run_count)
        return;
    look->pick = pick;
    look->family = family;
    look->run_count = look->runs->count;
}

void
look_at_all(petal_db *db, struct look *look)
{
    assert_held(&db->schema.mutex);
    for (petal_table *table = db->schema.tables; table != NULL; table = table->next) {
        const struct table_descriptor *descriptor = table_descriptor(table);

        for (size_t i = 0; !table_is_dropped(table) && i < descriptor->family_count; i++)
            look_at_family(descriptor->families[i], look);
    }
}

/* ---- holding it ---- */

static struct store_file *
hold(struct store_file *file)
{
    store_file_ref(file);
    return file;
}

/* The files of runs first .. first + count - 1 of the list become the inputs, and are claimed. */
static enum petal_status
take_inputs(struct work *work, petal_db *db, const struct store_runs *runs,
            const struct store_view *store, size_t first, size_t count)
{
    struct compact_job *job = &work->job;

    assert(count > 0 && first + count <= runs->count);
    assert(job->inputs == NULL && job->input_count == 0);
    work->input_bytes = store->file_count * sizeof *job->inputs;
    job->inputs = mem_alloc(db->env.allocator, work->input_bytes);
    if (job->inputs == NULL || !claim_runs(&work->claim, db->env.allocator, count))
        return PETAL_NO_MEMORY;
    job->run = runs->runs[first].number;
    for (size_t i = 0; i < count; i++) {
        work->claim.runs[i] = runs->runs[first + i].number;
        work->claim.bytes += runs->policy[first + i].bytes;
        for (uint32_t k = 0; k < store->file_count; k++) {
            if (store->files[k].run == work->claim.runs[i])
                job->inputs[job->input_count++] = hold(store->files[k].file);
        }
    }
    return PETAL_OK;
}

enum petal_status
work_begin(struct work *work, const struct look *look)
{
    petal_db *db = look->family->table->db;
    const struct store_view *store = view_store(look->view, look->family);
    enum petal_status status;

    assert(look->pick.reason != POLICY_NOTHING && look->pick.count > 0);
    *work = (struct work){
        .claim = {.family = look->family,
                  .running = true,
                  .large = look->pick.bytes > look->small_bytes,
                  .all_files = look->pick.all_files},
        .job = {.family = look->family,
                .all_files = look->pick.all_files,
                .reason = look->pick.reason,
                .now_ms = look->now_ms},
    };
    /* The list held the store's runs in between, and others. */
    status = gather(look, look->family, store);
    if (status == PETAL_OK)
        status = take_inputs(work, db, look->runs, store, look->pick.first, look->pick.count);
    if (status != PETAL_OK) {
        work_release(work, db);
        claim_fini(&work->claim, db->env.allocator);
        return status;
    }
    return PETAL_OK;
}

enum petal_status
work_take_runs(struct work *work, petal_db *db, struct store_runs *runs,
               const struct store_view *store, size_t first, size_t count, bool fewer_first)
{
    static const struct store_moment moment = {0};
    struct policy_limits limits = {.min_bytes = db->memtable_bytes, .max_bytes = UINT64_MAX};
    struct policy_pick fewer;
    enum petal_status status = store_runs_gather(runs, db->env.allocator, store,
                                                 family_options(work->job.family), &moment);

    assert(work->job.input_count == 0);
    if (status != PETAL_OK || first >= runs->count)
        return status;
    if (fewer_first && policy_pick_fewer(runs->policy, runs->count, &limits, &fewer)) {
        first = fewer.first;
        count = fewer.count;
    }
    if (count > runs->count - first)
        count = runs->count - first;
    work->job.all_files = count == runs->count;
    return count > 0 ? take_inputs(work, db, runs, store, first, count) : PETAL_OK;
}

void
work_release(struct work *work, petal_db *db)
{
    for (size_t i = 0; i < work->job.input_count; i++)
        store_file_unref(work->job.inputs[i]);
    mem_free(db->env.allocator, work->job.inputs, work->input_bytes);
    work->job.inputs = NULL;
    work->job.input_count = work->input_bytes = 0;
}
