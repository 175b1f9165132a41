/* claims.c -- see engine/compact/claims.h. */
#include "engine/compact/claims.h"

#include "base/mem.h"

#include <assert.h>

bool
claim_runs(struct claim *claim, const petal_allocator *allocator, size_t count)
{
    assert(count > 0);
    claim->runs = mem_alloc(allocator, count * sizeof *claim->runs);
    claim->run_count = claim->runs != NULL ? count : 0;
    return claim->runs != NULL;
}

void
claim_fini(struct claim *claim, const petal_allocator *allocator)
{
    mem_free(allocator, claim->runs, claim->run_count * sizeof *claim->runs);
    claim->runs = NULL;
    claim->run_count = 0;
    claim->bytes = 0;
}

void
claims_add(struct claims *claims, struct claim *claim)
{
    struct claim **link = &claims->first;

    while (*link != NULL)
        link = &(*link)->next;
    claim->next = NULL;
    *link = claim;
}

void
claims_remove(struct claims *claims, struct claim *claim)
{
    struct claim **link = &claims->first;

    while (*link != claim)
        link = &(*link)->next;
    *link = claim->next;
}

bool
claims_asked(const struct claims *claims, const struct store *store)
{
    for (const struct claim *c = claims->first; c != NULL; c = c->next) {
        if (c->asked && c->store == store)
            return true;
    }
    return false;
}

bool
claims_large(const struct claims *claims, const struct store *store)
{
    for (const struct claim *c = claims->first; c != NULL; c = c->next) {
        if (c->running && c->large && c->store == store)
            return true;
    }
    return false;
}

uint64_t
claims_most_bytes(const struct claims *claims, const struct store *store)
{
    uint64_t most = 0;

    for (const struct claim *c = claims->first; c != NULL; c = c->next) {
        if (c->running && (store == NULL || c->store == store) && c->bytes > most)
            most = c->bytes;
    }
    return most;
}

bool
claims_busy(const struct claims *claims, const struct store *store, uint64_t run)
{
    for (const struct claim *c = claims->first; c != NULL; c = c->next) {
        for (size_t i = 0; c->store == store && i < c->run_count; i++) {
            if (c->runs[i] == run)
                return true;
        }
    }
    return false;
}

bool
claims_may_run(const struct claims *claims, const struct claim *claim)
{
    bool before = true;

    for (const struct claim *c = claims->first; c != NULL; c = c->next) {
        if (c == claim)
            before = false;
        else if (c->store == claim->store && (c->running || (before && c->asked)))
            return false;
    }
    return true;
}

size_t
claims_running(const struct claims *claims)
{
    size_t running = 0;

    for (const struct claim *c = claims->first; c != NULL; c = c->next)
        running += c->running;
    return running;
}
