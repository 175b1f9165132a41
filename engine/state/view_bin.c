/* view_bin.c -- see view_bin.h. */
#include "engine/state/view_bin.h"

bool
view_bin_init(struct view_bin *bin, void (*tell)(void *argument), void *argument)
{
    atomic_init(&bin->newest, NULL);
    bin->tell = tell;
    bin->argument = argument;
    return pthread_mutex_init(&bin->mutex, NULL) == 0;
}

void
view_bin_fini(struct view_bin *bin)
{
    pthread_mutex_destroy(&bin->mutex);
}

void
view_bin_put(struct view_bin *bin, struct view *view)
{
    struct view *newest = atomic_load_explicit(&bin->newest, memory_order_relaxed);

    do {
        view->next_in_bin = newest;
    } while (!atomic_compare_exchange_weak_explicit(&bin->newest, &newest, view,
                                                    memory_order_release, memory_order_relaxed));
    bin->tell(bin->argument);
}

bool
view_bin_is_empty(struct view_bin *bin)
{
    return atomic_load_explicit(&bin->newest, memory_order_acquire) == NULL;
}

void
view_bin_empty(struct view_bin *bin)
{
    struct view *view;

    pthread_mutex_lock(&bin->mutex);
    view = atomic_exchange_explicit(&bin->newest, NULL, memory_order_acquire);
    while (view != NULL) {
        struct view *next = view->next_in_bin;

        view_unref(view);
        view = next;
    }
    pthread_mutex_unlock(&bin->mutex);
}
