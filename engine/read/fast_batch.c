/* fast_batch.c -- see fast_batch.h. From top to bottom: the stages, in their order. */
#include "engine/read/fast_batch.h"

#include <assert.h>

struct lane {
    struct fast_get get;
    struct data_block_column column;
    struct read_context context;
    struct sst_point_search search;
    uint32_t file; /* that is searched, or the next */
    enum sst_point_answer answer;
};

/* Gets that are at the same stage: numbers of lanes. */
struct lane_list {
    uint32_t count;
    uint8_t lanes[FAST_BATCH];
};

struct batch {
    struct lane lanes[FAST_BATCH];
    uint32_t declined; /* a bit a lane */
};

static inline void
add(struct lane_list *list, uint32_t lane)
{
    assert(list->count < FAST_BATCH);
    list->lanes[list->count++] = (uint8_t)lane;
}

static inline void
decline(struct batch *batch, uint32_t lane)
{
    batch->declined |= 1u << lane;
}

/* ---- questions, memtables, filters ---- */

static enum fast_status
begin(struct lane *lane, const struct fast_question *question, petal_slice row,
      const struct read_point *point)
{
    enum fast_status status = fast_get_begin(&lane->get, question->family->table->db,
                                             question->family, row, question->qualifier, point);

    if (status != FAST_ANSWERED)
        return status;
    lane->column = (struct data_block_column){row, question->qualifier, point->sequence};
    lane->context = (struct read_context){.trace = &lane->get.trace,
                                          .keep_out_of_cache = question->keep_out_of_cache,
                                          .only_cached = true};
    lane->get.only_cached = true;
    lane->file = 0;
    return fast_get_visit_memtables(&lane->get);
}

/* ---- files ---- */

/* Each get's next file that its filter does not rule out; those that need no more are left out. */
static void
choose_files(struct batch *batch, struct lane_list *list)
{
    struct lane_list chosen = {0};

    for (uint32_t i = 0; i < list->count; i++) {
        struct lane *lane = &batch->lanes[list->lanes[i]];
        const struct file_entry *file;

        if (!fast_get_next_file(&lane->get, &lane->file))
            continue;
        file = &lane->get.store->files[lane->file];
        lane->answer =
            fast_get_can_read(file)
                ? sst_point_search_begin(&lane->search, file->reader, &lane->column, &lane->context)
                : SST_POINT_DECLINED;
        add(&chosen, list->lanes[i]);
    }
    *list = chosen;
}

static inline bool
is_above_blocks(const struct lane *lane)
{
    return lane->answer == SST_POINT_FOUND && lane->search.descent.level > 0;
}

/* Down the indexes, a level at a time. */
static void
descend(struct batch *batch, const struct lane_list *list)
{
    bool more = true;

    for (uint32_t i = 0; i < list->count; i++) {
        const struct lane *lane = &batch->lanes[list->lanes[i]];

        if (lane->answer == SST_POINT_FOUND)
            sst_point_search_load(&lane->search);
    }
    while (more) {
        more = false;
        for (uint32_t i = 0; i < list->count; i++) {
            struct lane *lane = &batch->lanes[list->lanes[i]];

            if (is_above_blocks(lane))
                lane->answer = sst_point_search_enter(&lane->search, &lane->context);
        }
        for (uint32_t i = 0; i < list->count; i++) {
            struct lane *lane = &batch->lanes[list->lanes[i]];

            if (!is_above_blocks(lane))
                continue;
            lane->answer = sst_point_search_step(&lane->search);
            if (lane->answer == SST_POINT_FOUND)
                sst_point_search_load(&lane->search);
            more = true;
        }
    }
}

static void
search_blocks(struct batch *batch, const struct lane_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct lane *lane = &batch->lanes[list->lanes[i]];

        if (lane->answer == SST_POINT_FOUND)
            lane->answer = sst_point_search_reach(&lane->search, &lane->context);
    }
}

/* What they found; those that were declined are left out. */
static void
take(struct batch *batch, struct lane_list *list)
{
    struct lane_list going_on = {0};

    for (uint32_t i = 0; i < list->count; i++) {
        struct lane *lane = &batch->lanes[list->lanes[i]];
        struct data_block_put put;

        if (lane->answer == SST_POINT_FOUND)
            lane->answer = sst_point_search_end(&lane->search, &lane->context, &put);
        if (fast_get_take_from_file(&lane->get, lane->answer, &put) == FAST_ANSWERED)
            add(&going_on, list->lanes[i]);
        else
            decline(batch, list->lanes[i]);
        lane->file++;
    }
    *list = going_on;
}

uint32_t
fast_batch_get(const struct fast_question *question, const struct read_point *point,
               const petal_slice *rows, size_t count, petal_result *const *results)
{
    struct batch batch;
    struct lane_list list = {0};

    assert(count > 0 && count <= FAST_BATCH);
    batch.declined = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (begin(&batch.lanes[i], question, rows[i], point) == FAST_ANSWERED)
            add(&list, i);
        else
            decline(&batch, i);
    }
    for (uint32_t i = 0; i < list.count; i++)
        fast_get_prefetch_blooms(&batch.lanes[list.lanes[i]].get);
    while (list.count > 0) {
        choose_files(&batch, &list);
        descend(&batch, &list);
        search_blocks(&batch, &list);
        take(&batch, &list);
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((batch.declined & 1u << i) == 0 &&
            fast_get_answer(&batch.lanes[i].get, results[i]) != FAST_ANSWERED)
            decline(&batch, i);
        if ((batch.declined & 1u << i) == 0)
            fast_get_count(&batch.lanes[i].get);
    }
    return batch.declined;
}
