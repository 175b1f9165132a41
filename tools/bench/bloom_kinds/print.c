/* print.c -- see tools/bench/bloom_kinds/print.h. */
#include "tools/bench/bloom_kinds/print.h"

#include "tools/bench/results/repeats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_WIDTH 14
#define BAR_WIDTH  50.0 /* of the longest bar */

void
kinds_print_heading(void)
{
    printf(
        "bits: a key, with many keys; expected: by theory; measured: absent keys that pass\n"
        "nanoseconds of processor time a key, medians; keys are hashed before, but for \"bytes\":\n"
        "  one      absent keys one by one: the processor looks ahead as far as it can\n"
        "  alone    the same, each answer waited for\n"
        "  batch    absent keys, many a call\n"
        "  present  present keys one by one\n"
        "  bytes    absent keys of %d to %d bytes one by one, hashing included\n"
        "  build    adding all keys, and building where that comes last\n",
        KINDS_LEAST_KEY_BYTES, KINDS_MOST_KEY_BYTES);
}

/* Those that were measured. */
static struct bench_spread
spread_of(const struct kinds_bed *bed, enum kinds_measure measure, size_t repeats)
{
    double values[BENCH_MOST_REPEATS];
    size_t count = 0;

    for (size_t i = 0; i < repeats; i++) {
        if (!isnan(bed->ns[measure][i]))
            values[count++] = bed->ns[measure][i];
    }
    return bench_spread_of(values, count);
}

static void
print_times(const struct kinds_bed *bed, size_t repeats)
{
    for (int measure = 0; measure < KINDS_MEASURES; measure++) {
        struct bench_spread spread = spread_of(bed, (enum kinds_measure)measure, repeats);

        if (spread.median == 0) {
            printf(" %7s", "-");
            continue;
        }
        printf(" %7.1f", spread.median);
    }
}

static void
print_percent(int width, double rate)
{
    if (isnan(rate))
        printf(" %*s  ", width, "-");
    else
        printf(" %*.*f %%", width, rate < 0.0005 ? 5 : 4, 100 * rate);
}

static void
print_line(const struct kinds_table *table, size_t i)
{
    const struct kinds_bed *few = &table->few[i], *many = &table->many[i];

    printf("%-*s", NAME_WIDTH, many->kind->name);
    if (many->filter == NULL) {
        printf(" cannot hold so many keys\n");
        return;
    }
    printf(" %6.2f", kinds_bed_bits(many));
    print_percent(8, many->facts.expected);
    print_percent(8, kinds_bed_rate(many));
    printf(" |");
    print_times(few, table->repeats);
    printf(" |");
    print_times(many, table->repeats);
    putchar('\n');
}

static void
print_complaints(const struct kinds_bed *bed)
{
    if (!kinds_bed_is_as_expected(bed))
        printf("OUTSIDE: of %s with %" PRIu64 " keys %.5f %% of absent keys pass, not %.5f %%\n",
               bed->kind->name, bed->keys, 100 * kinds_bed_rate(bed), 100 * bed->facts.expected);
    if (bed->missed > 0)
        printf("MISSED: %s with %" PRIu64 " keys does not find %" PRIu64 " of %" PRIu64 "\n",
               bed->kind->name, bed->keys, bed->missed, bed->present);
}

static void
print_column_names(void)
{
    static const char *const names[KINDS_MEASURES] = {"one",     "alone", "batch",
                                                      "present", "bytes", "build"};

    for (int place = 0; place < 2; place++) {
        printf(" |");
        for (int measure = 0; measure < KINDS_MEASURES; measure++)
            printf(" %7s", names[measure]);
    }
    putchar('\n');
}

void
kinds_print_table(const struct kinds_table *table)
{
    int times = 8 * KINDS_MEASURES;
    uint64_t present = 0, missed = 0;
    char few[32], many[32];

    (void)snprintf(few, sizeof few, "%" PRIu64 " keys", table->few_keys);
    (void)snprintf(many, sizeof many, "%" PRIu64 " keys", table->many_keys);
    printf("\nrate %g\n%-*s %6s %10s %10s | %*s | %*s\n", table->rate, NAME_WIDTH, "", "", "", "",
           -times + 1, few, -times + 1, many);
    printf("%-*s %6s %10s %10s", NAME_WIDTH, "kind", "bits", "expected", "measured");
    print_column_names();
    for (size_t i = 0; i < table->count; i++)
        print_line(table, i);
    for (size_t i = 0; i < table->count; i++) {
        present += table->few[i].present + table->many[i].present;
        missed += table->few[i].missed + table->many[i].missed;
    }
    printf("few: %" PRIu64 " keys, many: %" PRIu64 "; asked for %" PRIu64
           " present keys, of which %" PRIu64 " were missed\n",
           table->few_keys, table->many_keys, present, missed);
    for (size_t i = 0; i < table->count; i++) {
        print_complaints(&table->few[i]);
        print_complaints(&table->many[i]);
    }
    fflush(stdout);
}

void
kinds_print_bars(const struct kinds_table *table)
{
    double most = 0;

    for (size_t i = 0; i < table->count; i++) {
        if (table->many[i].filter != NULL)
            most = fmax(most, kinds_bed_bits(&table->many[i]));
    }
    printf("\nbits a key at a rate of %g\n", table->rate);
    for (size_t i = 0; i < table->count; i++) {
        const struct kinds_bed *bed = &table->many[i];

        if (bed->filter == NULL)
            continue;
        printf("%-*s %6.2f  ", NAME_WIDTH, bed->kind->name, kinds_bed_bits(bed));
        for (double filled = 0; filled < BAR_WIDTH * kinds_bed_bits(bed) / most; filled++)
            printf("█");
        putchar('\n');
    }
    fflush(stdout);
}
