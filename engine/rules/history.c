/* history.c -- see engine/rules/history.h. */
#include "engine/rules/history.h"

#include <assert.h>

void
version_history_fini(struct version_history *history, const petal_allocator *allocator)
{
    mem_free(allocator, history->events, history->event_capacity * sizeof *history->events);
    mem_free(allocator, history->family, history->family_capacity * sizeof *history->family);
    mem_free(allocator, history->lives, history->life_capacity * sizeof *history->lives);
    *history = (struct version_history){0};
}

void
version_history_start_row(struct version_history *history)
{
    history->family_count = 0;
}

static bool
grow_events(const petal_allocator *allocator, struct version_event **events, size_t *capacity,
            size_t used, size_t need)
{
    void *array = *events;
    bool grown = mem_grow(allocator, &array, capacity, used, need, sizeof **events);

    *events = array;
    return grown;
}

enum petal_status
version_history_start_column(struct version_history *history, const petal_allocator *allocator)
{
    history->event_count = 0;
    history->life_count = 0;
    history->living_now = 0;
    history->has_put = false;
    assert(history->family_count <= history->family_capacity);
    if (history->family_count == 0)
        return PETAL_OK;
    if (!grow_events(allocator, &history->events, &history->event_capacity, 0,
                     history->family_count))
        return PETAL_NO_MEMORY;
    memcpy(history->events, history->family, history->family_count * sizeof *history->family);
    history->event_count = history->family_count;
    return PETAL_OK;
}

static void
insert_event(struct version_event *events, size_t count, const struct version_event *event)
{
    size_t at = count;

    while (at > 0 && events[at - 1].point.sequence > event->point.sequence) {
        events[at] = events[at - 1];
        at--;
    }
    events[at] = *event;
}

enum petal_status
version_history_add_marker(struct version_history *history, const petal_allocator *allocator,
                           const struct cell *marker)
{
    struct version_event event = {{marker->timestamp, marker->sequence}, marker->type, 0};

    assert(marker->type != PETAL_PUT);
    if (cell_is_family_marker(marker->type)) {
        if (!grow_events(allocator, &history->family, &history->family_capacity,
                         history->family_count, history->family_count + 1))
            return PETAL_NO_MEMORY;
        insert_event(history->family, history->family_count++, &event);
        return PETAL_OK;
    }
    if (!grow_events(allocator, &history->events, &history->event_capacity, history->event_count,
                     history->event_count + 1))
        return PETAL_NO_MEMORY;
    for (size_t i = 0; i < history->life_count; i++)
        event.living +=
            history->lives[i].born < marker->sequence && marker->sequence <= history->lives[i].ends;
    insert_event(history->events, history->event_count++, &event);
    return PETAL_OK;
}

static bool
ends_life(const struct version_event *event, struct version_point put)
{
    if (event->type == PETAL_DELETE_COLUMN || event->type == PETAL_DELETE_FAMILY)
        return event->point.timestamp >= put.timestamp;
    return event->point.timestamp == put.timestamp;
}

static enum petal_status
remember_life(struct version_history *history, const petal_allocator *allocator, uint64_t born,
              uint64_t ends)
{
    void *array = history->lives;
    bool grown = mem_grow(allocator, &array, &history->life_capacity, history->life_count,
                          history->life_count + 1, sizeof *history->lives);

    history->lives = array;
    if (!grown)
        return PETAL_NO_MEMORY;
    history->lives[history->life_count++] = (struct version_life){born, ends};
    return PETAL_OK;
}

enum petal_status
version_history_judge(struct version_history *history, const petal_allocator *allocator,
                      struct version_point put, uint32_t versions, enum version_fate *fate)
{
    /* A put at the same timestamp that was seen before was written later. */
    uint64_t ends = history->has_put && history->put.timestamp == put.timestamp
                        ? history->put.sequence
                        : UINT64_MAX;

    assert(versions > 0);
    history->has_put = true;
    history->put = put;
    *fate = ends < UINT64_MAX ? VERSION_ENDED : VERSION_LIVES;
    for (size_t i = 0; i < history->event_count; i++) {
        struct version_event *event = &history->events[i];

        if (event->point.sequence <= put.sequence)
            continue;
        if (event->point.sequence > ends)
            break;
        if (event->living >= versions) {
            *fate = VERSION_SURPLUS;
            return remember_life(history, allocator, put.sequence, event->point.sequence - 1);
        }
        event->living++;
        if (ends_life(event, put)) {
            *fate = VERSION_ENDED;
            return remember_life(history, allocator, put.sequence, event->point.sequence);
        }
    }
    if (*fate == VERSION_LIVES && history->living_now >= versions)
        *fate = VERSION_SURPLUS_NOW;
    if (*fate == VERSION_LIVES)
        history->living_now++;
    return remember_life(history, allocator, put.sequence, ends);
}

int64_t
version_history_least_end(const struct version_history *history, struct version_point put)
{
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < history->event_count; i++) {
        const struct version_event *event = &history->events[i];

        if (event->point.sequence > put.sequence && event->point.timestamp < least &&
            ends_life(event, put))
            least = event->point.timestamp;
    }
    return least;
}
