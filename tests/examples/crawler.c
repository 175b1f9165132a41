/*
 * crawler.c -- has this page been seen? A filter that grows with the pages remembers each in a
 * few bytes, and is there again when the crawler goes on tomorrow.
 *
 *     cc crawler.c $(pkg-config --cflags --libs petal-bloom petal) -o crawler
 *     ./crawler FILE
 */
#include "example.h"

#include <petal_bloom.h>

/* A little web: each page links to three others. */
enum { PAGES = 20000, LINKS = 3 };

static unsigned
link_of(unsigned page, unsigned number)
{
    return (page * (number + 2) + 7919 * number + 1) % PAGES;
}

/* Pages that are still to be fetched, first come, first served. */
struct queue {
    unsigned pages[PAGES];
    size_t begin, end;
};

/* Put the page into the queue, unless it was there before. At the filter's rate a new page is
 * taken for an old one and missed: a crawler can live with that, and not with fetching twice. */
static void
meet(petal_bloom *seen, struct queue *queue, unsigned page)
{
    char url[64];
    bool was_new;

    (void)snprintf(url, sizeof url, "http://example.org/%u", page);
    check(petal_bloom_add(seen, petal_text(url), &was_new, &error));
    if (was_new)
        queue->pages[queue->end++] = page;
}

static void
crawl(petal_bloom *seen, struct queue *queue, unsigned most)
{
    for (unsigned i = 0; i < most && queue->begin < queue->end; i++) {
        unsigned page = queue->pages[queue->begin++];

        for (unsigned number = 0; number < LINKS; number++)
            meet(seen, queue, link_of(page, number));
    }
}

int
main(int argc, char **argv)
{
    static struct queue queue;
    petal_bloom_options options = PETAL_DEFAULTS;
    petal_bloom *seen;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    options.kind = PETAL_BLOOM_KIND_GROWING; /* nobody knows how many pages there are */
    options.rate = 0.0001;
    check(petal_bloom_create(&options, &seen, &error));

    meet(seen, &queue, 0);
    crawl(seen, &queue, 5000);
    printf("today: %zu pages were fetched, %zu wait\n", queue.begin, queue.end - queue.begin);
    check(petal_bloom_save(seen, argv[1], &error)); /* durable when it returns */
    petal_bloom_free(seen);

    check(petal_bloom_load(argv[1], NULL, &seen, &error));
    crawl(seen, &queue, PAGES);
    printf("tomorrow: %zu pages were fetched, %zu wait\n", queue.begin, queue.end - queue.begin);
    petal_bloom_free(seen);
    return remove(argv[1]);
}
