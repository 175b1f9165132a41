/* keyset.c -- see tools/bench/keys/keyset.h. */
#include "tools/bench/keys/keyset.h"

#include "tools/bench/harness/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
word_count(const struct bench_keyset *set)
{
    return set->count / 64 + 1;
}

void
bench_keyset_init(struct bench_keyset *set, uint64_t count)
{
    set->count = count;
    set->words = bench_alloc((size_t)word_count(set) * sizeof *set->words);
}

void
bench_keyset_free(struct bench_keyset *set)
{
    free(set->words);
    *set = (struct bench_keyset){0};
}

bool
bench_keyset_has(const struct bench_keyset *set, uint64_t number)
{
    uint64_t word = atomic_load_explicit(&set->words[number / 64], memory_order_relaxed);

    return (word >> (number % 64) & 1) != 0;
}

/* Most numbers are there already when they are written again: no need to lock the line. */
void
bench_keyset_add(struct bench_keyset *set, uint64_t number)
{
    if (!bench_keyset_has(set, number))
        atomic_fetch_or(&set->words[number / 64], (uint64_t)1 << (number % 64));
}

void
bench_keyset_remove(struct bench_keyset *set, uint64_t number)
{
    atomic_fetch_and(&set->words[number / 64], ~((uint64_t)1 << (number % 64)));
}

void
bench_keyset_clear(struct bench_keyset *set)
{
    for (uint64_t i = 0; i < word_count(set); i++)
        atomic_store(&set->words[i], 0);
}

uint64_t
bench_keyset_total(const struct bench_keyset *set)
{
    uint64_t total = 0;

    for (uint64_t i = 0; i < word_count(set); i++)
        total += (uint64_t)__builtin_popcountll(atomic_load(&set->words[i]));
    return total;
}

void
bench_keyset_save(const struct bench_keyset *set, const char *path, const char *description,
                  bool closed)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        bench_fail("write down what is in the store", strerror(errno));
    fprintf(file, "%s %s\n", description, closed ? "closed" : "open");
    for (uint64_t i = 0; closed && i < word_count(set); i++) {
        uint64_t word = atomic_load(&set->words[i]);

        fwrite(&word, sizeof word, 1, file);
    }
    if (fflush(file) != 0 || ferror(file))
        bench_fail("write down what is in the store", path);
    fclose(file);
}

void
bench_keyset_load(struct bench_keyset *set, const char *path, const char *description)
{
    FILE *file = fopen(path, "rb");
    char line[512], wanted[512];

    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        bench_fail("find what these workloads left there", path);
    snprintf(wanted, sizeof wanted, "%s closed\n", description);
    if (strcmp(line, wanted) != 0) {
        fprintf(stderr, "kv-bench: there is:  %skv-bench: wanted is: %s", line, wanted);
        bench_fail("use what is there", path);
    }
    for (uint64_t i = 0; i < word_count(set); i++) {
        uint64_t word;

        if (fread(&word, sizeof word, 1, file) != 1)
            bench_fail("read what is in the store", path);
        atomic_store(&set->words[i], word);
    }
    fclose(file);
}
