/* job.c -- see tools/bench/workloads/job.h. */
#include "tools/bench/workloads/job.h"

#include "tools/bench/harness/child.h"
#include "tools/bench/harness/directory.h"
#include "tools/bench/results/table.h"
#include "tools/bench/stores/assertions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTION_BYTES   512
#define LEAST_TAKEN_SECONDS 1.0

/* ---- in the child ---- */

static struct bench_outcome *
add_outcome(struct bench_job *job, const char *operation, unsigned threads)
{
    struct bench_tally *tally = job->tally;
    struct bench_outcome *outcome = &tally->outcomes[tally->count];

    if (tally->count == BENCH_MOST_OUTCOMES)
        bench_fail("run the workloads", "too many of them");
    tally->count++;
    bench_outcome_init(outcome, operation, job->store->name, threads);
    outcome->name.block_bytes = job->config.block_bytes;
    return outcome;
}

struct bench_outcome *
bench_job_begin(struct bench_job *job, const char *operation, unsigned threads)
{
    struct bench_outcome *outcome = add_outcome(job, operation, threads);

    bench_meter_begin(&job->meter);
    return outcome;
}

void
bench_outcome_set_answers(struct bench_outcome *outcome, const struct bench_driven *driven)
{
    outcome->values[BENCH_FOUND] = (double)driven->found;
    outcome->values[BENCH_WRONG] = (double)driven->wrong;
    outcome->values[BENCH_GIVEN] = (double)driven->given;
    outcome->values[BENCH_ANSWERED] = (double)driven->answered;
}

void
bench_job_add_part(struct bench_job *job, const struct bench_outcome *outcome, const char *part,
                   const struct bench_histogram *latencies)
{
    char operation[BENCH_NAME_BYTES];

    snprintf(operation, sizeof operation, "%.23s: %.22s", outcome->name.operation, part);
    bench_outcome_set_rate(add_outcome(job, operation, outcome->name.threads), latencies->total,
                           outcome->values[BENCH_SECONDS], latencies);
}

/* Parts follow their whole. */
void
bench_job_end(struct bench_job *job, struct bench_outcome *outcome, uint64_t live_bytes)
{
    struct bench_tally *tally = job->tally;
    double *values = outcome->values, *all = tally->whole.values;

    bench_outcome_set_usage(outcome, &job->meter, bench_disk_bytes(job->directory), live_bytes);
    all[BENCH_GIVEN] = fmax(all[BENCH_GIVEN], 0) + fmax(values[BENCH_GIVEN], 0);
    all[BENCH_PEAK] = fmax(all[BENCH_PEAK], values[BENCH_PEAK]);
    for (size_t i = (size_t)(outcome - tally->outcomes); job->plan->live && i < tally->count; i++)
        bench_outcome_print(&tally->outcomes[i]);
}

void
bench_job_finish(struct bench_job *job, uint64_t live_bytes)
{
    struct bench_outcome *whole = &job->tally->whole;
    double peak = whole->values[BENCH_PEAK];

    bench_outcome_set_usage(whole, &job->whole, bench_disk_bytes(job->directory), live_bytes);
    whole->values[BENCH_PEAK] = fmax(whole->values[BENCH_PEAK], peak);
    if (job->plan->live)
        bench_outcome_print_whole(whole);
}

static void
work(void *argument)
{
    struct bench_job *job = argument;

    if (job->stage == 0)
        bench_outcome_init(&job->tally->whole, "all", job->store->name, 1);
    bench_meter_begin(&job->whole);
    job->plan->work(job);
}

/* ---- in the parent ---- */

struct run {
    const struct bench_plan *plan;
    struct bench_result result;
    struct bench_result wholes;  /* a series for each store */
    struct bench_tally *tallies; /* one a store, shared */
    double wrong;                /* answers */
    struct bench_machine began;
};

static const char *
words_of(const struct bench_plan *plan, const char *operation)
{
    const char *row, *words = operation;

    if (plan->file.name_row != NULL)
        plan->file.name_row(operation, &row, &words);
    return words;
}

/* Of the whole run so far. */
static double
others_of(const struct run *run)
{
    struct bench_machine now;
    double busy, own, all;

    bench_machine_get(&now);
    bench_machine_taken(&run->began, &now, &busy, &own, &all);
    return bench_others_share(busy, own, all);
}

/* The operation of which others took the greatest share, where that is more than `share`; NULL:
 * there is none. Operations too short for the ticks of /proc/stat are passed by. */
static const char *
most_disturbed(const struct run *run, double *share)
{
    const char *operation = NULL;

    for (size_t i = 0; i < run->result.count; i++) {
        const struct bench_name *name = &run->result.series[i].name;
        double others = bench_result_others(&run->result, name);

        if (bench_result_seconds(&run->result, name) >= LEAST_TAKEN_SECONDS && others > *share) {
            operation = name->operation;
            *share = others;
        }
    }
    return operation;
}

static void
print_others(const struct run *run)
{
    const struct bench_plan *plan = run->plan;
    double others = others_of(run), most = others;
    const char *operation = most_disturbed(run, &most);
    char text[BENCH_FIGURE_BYTES], most_text[BENCH_FIGURE_BYTES];

    bench_share_text(text, others);
    bench_share_text(most_text, most);
    if (plan->markdown)
        putchar('\n');
    if (others > plan->patience->limit)
        printf("THE MACHINE WAS NOT IDLE: these figures are not to be quoted.\n");
    if (isnan(others))
        printf("What others took of the machine's processor time is not known: no /proc/stat.\n");
    else
        printf("Others took %s of processor time", text);
    if (operation != NULL)
        printf("; most, %s, of: %s", most_text, words_of(plan, operation));
    if (!isnan(others))
        printf(".\n");
}

static void
print_result(const struct run *run)
{
    const struct bench_plan *plan = run->plan;
    struct bench_column columns[BENCH_MOST_STORES];
    const struct bench_table table = {.result = &run->result,
                                      .columns = columns,
                                      .column_count = plan->store_count,
                                      .name_row = plan->file.name_row,
                                      .markdown = plan->markdown};

    if (plan->head != NULL)
        plan->head(plan->settings);
    for (size_t i = 0; i < plan->store_count; i++) {
        const struct bench_store *store = plan->stores[i];

        columns[i] = (struct bench_column){store->name, store->title,
                                           bench_assertions_text(bench_assertions_of(store))};
    }
    bench_table_print(stdout, &table);
    if (plan->patience != NULL)
        print_others(run);
    if (plan->foot != NULL)
        plan->foot(plan->settings);
}

static void
write_file(const struct run *run)
{
    const struct bench_plan *plan = run->plan;
    json_t *more = json_object(), *stores = json_array();

    for (size_t i = 0; i < run->wholes.count; i++) {
        enum bench_assertions assertions = bench_assertions_of(plan->stores[i]);
        char text[DESCRIPTION_BYTES] = "";
        json_t *store;

        plan->stores[i]->describe(&plan->config, text, sizeof text);
        store = json_pack("{s:s, s:s, s:o}", "name", plan->stores[i]->name, "describe", text,
                          "assertions",
                          assertions == BENCH_ASSERTIONS_UNKNOWN
                              ? json_null()
                              : json_boolean(assertions == BENCH_ASSERTIONS_ON));
        bench_metrics_to_json(store, &run->wholes.series[i]);
        json_array_append_new(stores, store);
    }
    if (plan->patience != NULL && !isnan(others_of(run)))
        json_object_set_new(more, "others", json_real(others_of(run)));
    json_object_set_new(more, "stores", stores);
    bench_file_write(&plan->file, plan->json, &run->result, more);
}

/* Operation by operation, so that the file and reports have their stores side by side. */
static void
take_in(struct run *run)
{
    for (size_t i = 0; i < BENCH_MOST_OUTCOMES; i++) {
        for (size_t s = 0; s < run->plan->store_count; s++) {
            const struct bench_tally *tally = &run->tallies[s];

            if (i >= tally->count)
                continue;
            bench_result_add(&run->result, &tally->outcomes[i]);
            run->wrong += fmax(tally->outcomes[i].values[BENCH_WRONG], 0);
        }
    }
    for (size_t s = 0; s < run->plan->store_count; s++)
        bench_result_add(&run->wholes, &run->tallies[s].whole);
}

/* Not 0: the store's process failed. */
static int
run_job(const struct run *run, size_t index)
{
    const struct bench_plan *plan = run->plan;
    struct bench_job *job = bench_alloc(sizeof *job);
    char text[DESCRIPTION_BYTES] = "";
    int failed = 0;

    job->plan = plan;
    job->store = plan->stores[index];
    job->config = plan->config;
    job->tally = &run->tallies[index];
    memset(job->tally, 0, sizeof *job->tally);
    if (plan->live) {
        job->store->describe(&plan->config, text, sizeof text);
        printf("%s: assertions %s, %s\n", job->store->name,
               bench_assertions_text(bench_assertions_of(job->store)), text);
    }
    if (plan->place != NULL)
        plan->place(job);
    else
        bench_make_directory(job->directory, sizeof job->directory);
    for (; failed == 0 && (job->stage == 0 || job->stage < plan->stages); job->stage++)
        failed = bench_child_run(work, job);
    if (plan->place == NULL)
        bench_remove_directory(job->directory);
    if (failed != 0)
        fprintf(stderr, "kv-bench: cannot measure %s\n", job->store->name);
    free(job);
    return failed;
}

/* One repeat. */
static int
run_round(struct run *run, uint64_t repeat)
{
    const struct bench_plan *plan = run->plan;
    int failed = 0;

    for (size_t i = 0; i < plan->store_count && failed == 0; i++) {
        size_t index = (size_t)((repeat + i) % plan->store_count);

        if (!plan->live) /* it takes minutes: somebody may wait, or read it in a log */
            fprintf(stderr, "repeat %llu of %llu: %s, blocks of %zu\n",
                    (unsigned long long)repeat + 1, (unsigned long long)plan->repeats,
                    plan->stores[index]->name, plan->config.block_bytes);
        failed = run_job(run, index);
    }
    if (failed == 0)
        take_in(run);
    return failed;
}

struct bench_plan
bench_plan_of(const struct bench_settings *settings, struct bench_file file, const void *own)
{
    return (struct bench_plan){.file = file,
                               .settings = own,
                               .json = settings->json,
                               .stores = settings->chosen,
                               .store_count = settings->chosen_count,
                               .config = settings->config,
                               .repeats = settings->repeats,
                               .live = true};
}

int
bench_plan_run(const struct bench_plan *plan)
{
    struct run run = {.plan = plan};
    int failed = 0;

    bench_machine_get(&run.began);
    run.tallies = bench_child_share(plan->store_count * sizeof *run.tallies);
    if (plan->live)
        bench_outcome_heading();
    for (uint64_t repeat = 0; failed == 0 && repeat < plan->repeats; repeat++) {
        if (plan->patience != NULL)
            bench_wait_until_idle(plan->patience);
        failed = run_round(&run, repeat);
        /* Anew each time: a long run that is ended leaves something. */
        if (failed == 0 && plan->json != NULL)
            write_file(&run);
    }
    if (failed == 0 && (!plan->live || plan->store_count > 1 || plan->repeats > 1))
        print_result(&run);
    if (failed == 0 && run.wrong > 0)
        fprintf(stderr, "kv-bench: %.0f answers were wrong\n", run.wrong);
    bench_result_free(&run.result);
    bench_result_free(&run.wholes);
    return failed != 0 ? failed : run.wrong > 0 ? 1 : 0;
}
