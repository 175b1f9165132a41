/*
 * file.h -- the one JSON form of the results of all commands, which `kv-bench diff` reads.
 *
 * {"kind", "time" (UTC, ISO 8601), "machine": {"cpu", "cores", "memory" in bytes, "kernel"},
 *  "commit" (of BENCH_COMMIT in the environment, else null), "command": "kv-bench NAME …",
 *  "settings": {an option each, "--write-buffer" as "write_buffer"},
 *  "results": [{"operation", "store", "setting", "block_bytes", "threads",
 *               METRIC: [one a repeat], …, "row", "words"}]}; of commands that run stores besides
 *  "stores": [{"name", "describe", "assertions" (null: not known), METRIC: [one a repeat], …}].
 * A metric that was not measured is left out, or null in a repeat. Each result has "per_second", a
 * rate above zero, or "per_unit", a count of what one unit of work cost: what diff compares.
 * Of compare and quick a result has the "row" of --rows that it is of, and in "words" what people
 * call its operation. Members that a reader does not know it passes by.
 *
 * Writing ends the program when the disk is full.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_FILE_H
#define PETAL_TOOLS_BENCH_RESULTS_FILE_H

#include "tools/bench/harness/options.h"
#include "tools/bench/results/result.h"

#include <jansson.h>

struct bench_file {
    const char *kind;
    const char *name; /* of the command, with its arguments */
    int argc;
    char **argv;
    const struct bench_option *options; /* the settings */
    size_t option_count;
    /* Sets the row of an operation and what people call it; NULL: results have neither. */
    void (*name_row)(const char *operation, const char **row, const char **words);
};

/* Of a command that is called as its kind. */
struct bench_file bench_file_of(const char *name, int argc, char **argv,
                                const struct bench_option *options, size_t option_count);

/* `path` NULL: no file. `more`: members besides, taken over; NULL: none. Series that nothing was
 * measured of are left out. */
void bench_file_write(const struct bench_file *file, const char *path,
                      const struct bench_result *result, json_t *more);

/* Set the metrics that were measured, a list each. */
void bench_metrics_to_json(json_t *object, const struct bench_series *series);

/* False, with a line that names the file and the place in it, when that is no file of results.
 * `result` is empty before; what is in it then is to be freed in any case. */
bool bench_file_read(struct bench_result *result, const char *path, char *fault,
                     size_t fault_bytes);

/* The processor's name as /proc/cpuinfo has it; "unknown" where there is none. */
void bench_processor_name(char *name, size_t bytes);

#endif
