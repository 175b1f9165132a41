/* work.c -- see engine/compact/work.h. */
#include "engine/compact/work.h"

#include "base/clock.h"

/* ---- finding it ---- */

static enum petal_status
gather(const struct look *look, struct store *store, const struct store_view *view)
{
    uint64_t in_vain_until = atomic_load_explicit(&store->deleted_stay_us, memory_order_relaxed);
    uint64_t last = store_last_in_files(view), in_memory = store_first_in_memory(view);
    struct store_moment moment = {.now_ms = look->now_ms,
                                  .read_point = look->oldest,
                                  .markers_stay = last > look->oldest ||
                                                  look->newest >= in_memory || last >= in_memory ||
                                                  clock_us() < in_vain_until};

    return store_runs_gather(look->runs, store->family->table->db->env.allocator, view,
                             family_options(store->family), &moment);
}

/* What may begin while someone asks for the store; false: nothing. */
static bool
limit_beside_asked(const struct look *look, const struct store *store, struct policy_limits *limits)
{
    uint64_t most;

    if (!claims_asked(look->claims, store))
        return true;
    most = policy_bytes_beside(claims_most_bytes(look->claims, store), look->small_bytes);
    if (limits->max_bytes > most)
        limits->max_bytes = most;
    limits->all_files_first = false;
    return claims_large(look->claims, store);
}

/* Gathering a store's runs costs something for each of its files; most have changed as little as
 * what they depend on since the last look. */
static bool
is_quiet(const struct look *look, const struct store *store, const struct store_view *view)
{
    return store->quiet.view == view->number &&
           store->quiet.options == family_options(store->family) &&
           store->quiet.snapshot == look->newest && store->quiet.time == look->time;
}

/* Is nothing due in the store, whatever the limits, and if nothing was busy? */
static bool
becomes_quiet(const struct look *look, struct store *store, const struct store_view *view)
{
    struct policy_limits limits = {.min_bytes = store->family->table->db->memtable_bytes,
                                   .max_bytes = UINT64_MAX};
    struct policy_pick pick;

    policy_pick(look->runs->policy, look->runs->count, &limits, &pick);
    if (pick.reason != POLICY_NOTHING)
        return false;
    store->quiet.view = view->number;
    store->quiet.options = family_options(store->family);
    store->quiet.snapshot = look->newest;
    store->quiet.time = look->time;
    return true;
}

static void
look_at_store(const struct region_store *region, struct look *look)
{
    struct store *store = region->store;
    const struct store_view *view = region->view;
    struct policy_limits limits = {.min_bytes = store->family->table->db->memtable_bytes,
                                   .max_bytes = look->max_bytes,
                                   .all_files_first = look->all_files_first};
    struct policy_pick pick;
    uint64_t damaged;

    /* With no more files than the best one has runs it has no more runs. Without memory nothing is
     * due. */
    if (store_is_dropped(store) || store->family->unusable || view->file_count == 0 ||
        view->file_count <= look->run_count || is_quiet(look, store, view) ||
        !limit_beside_asked(look, store, &limits) || gather(look, store, view) != PETAL_OK ||
        becomes_quiet(look, store, view))
        return;
    /* What is left alone for its damage is busy for ever; an all-files job is not waited for, then.
     */
    damaged = store_view_bad_sequence(view);
    limits.all_files_first = limits.all_files_first && damaged == 0;
    for (size_t i = 0; i < look->runs->count; i++)
        look->runs->policy[i].busy = claims_busy(look->claims, store, look->runs->runs[i].number) ||
                                     look->runs->runs[i].sequence_max <= damaged;
    policy_pick(look->runs->policy, look->runs->count, &limits, &pick);
    if (pick.reason == POLICY_NOTHING || look->runs->count <= look->run_count)
        return;
    look->pick = pick;
    look->store = store;
    look->run_count = look->runs->count;
}

void
look_at_all(petal_db *db, struct look *look)
{
    assert_held(&db->schema.mutex);
    for (petal_table *table = db->schema.tables; table != NULL; table = table->next) {
        const struct table_descriptor *descriptor = table_descriptor(table);

        for (size_t i = 0; !table_is_dropped(table) && i < descriptor->family_count; i++) {
            const struct region_list *list = view_regions(look->view, descriptor->families[i]);

            for (uint32_t k = 0; list != NULL && k < list->count; k++)
                look_at_store(region_at(list, k), look);
        }
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
            if (store->files[k].run != work->claim.runs[i])
                continue;
            job->inputs[job->input_count++] = hold(store->files[k].file);
            job->shared = job->shared || store->files[k].shared;
        }
    }
    return PETAL_OK;
}

enum petal_status
work_begin(struct work *work, const struct look *look)
{
    petal_db *db = look->store->family->table->db;
    const struct store_view *view = view_store(look->view, look->store);
    enum petal_status status;

    assert(look->pick.reason != POLICY_NOTHING && look->pick.count > 0);
    *work = (struct work){
        .claim = {.store = look->store,
                  .running = true,
                  .large = look->pick.bytes > look->small_bytes,
                  .all_files = look->pick.all_files},
        .job = {.store = look->store,
                .all_files = look->pick.all_files,
                .reason = look->pick.reason,
                .now_ms = look->now_ms},
    };
    /* The list held the store's runs in between, and others. */
    work->job.end = view_end(look->view, look->store);
    status = gather(look, look->store, view);
    if (status == PETAL_OK)
        status = take_inputs(work, db, look->runs, view, look->pick.first, look->pick.count);
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
                                                 family_options(work->job.store->family), &moment);

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
