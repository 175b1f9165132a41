/* assertions.c -- see tools/bench/stores/assertions.h. */
#include "tools/bench/stores/assertions.h"

#include "tools/bench/harness/child.h"
#include "tools/bench/harness/directory.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#define PATH_BYTES 512

struct question {
    const struct bench_store *store;
    char directory[PATH_BYTES];
    bool *misusing; /* shared with the child */
};

static void
misuse(void *argument)
{
    const struct question *question = argument;
    const struct bench_config config = bench_config_default();
    void *store = question->store->open(question->directory, &config);

    *question->misusing = true;
    question->store->misuse(store);
    _Exit(0); /* a store that was misused is not closed */
}

static enum bench_assertions
ask(const struct bench_store *store)
{
    static bool *misusing; /* one for all questions: it lives as long as the process */
    struct question question = {.store = store};
    int ending;

    if (misusing == NULL)
        misusing = bench_child_share(sizeof *misusing);
    *misusing = false;
    question.misusing = misusing;
    bench_make_directory(question.directory, sizeof question.directory);
    ending = bench_child_ending(misuse, &question);
    bench_remove_directory(question.directory);
    if (!*misusing)
        return BENCH_ASSERTIONS_UNKNOWN;
    if (WIFSIGNALED(ending))
        return WTERMSIG(ending) == SIGABRT ? BENCH_ASSERTIONS_ON : BENCH_ASSERTIONS_OFF;
    return WEXITSTATUS(ending) == 0 ? BENCH_ASSERTIONS_OFF : BENCH_ASSERTIONS_UNKNOWN;
}

enum bench_assertions
bench_assertions_of(const struct bench_store *store)
{
    static struct {
        const struct bench_store *store;
        enum bench_assertions assertions;
    } known[BENCH_MOST_STORES];
    size_t i = 0;

    while (i < BENCH_MOST_STORES && known[i].store != NULL && known[i].store != store)
        i++;
    if (i == BENCH_MOST_STORES)
        return ask(store);
    if (known[i].store == NULL) {
        known[i].assertions = ask(store);
        known[i].store = store;
    }
    return known[i].assertions;
}

const char *
bench_assertions_text(enum bench_assertions assertions)
{
    static const char *const texts[] = {"?", "off", "on"};

    return texts[assertions];
}
