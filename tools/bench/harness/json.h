/*
 * json.h -- files of results: how kv-bench makes them, and what all of them begin with.
 *
 * These end the program when memory or the disk is full.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_JSON_H
#define PETAL_TOOLS_BENCH_HARNESS_JSON_H

#include <jansson.h>
#include <stdint.h>

json_t *bench_json_object(void);
json_t *bench_json_list(void);

/* `value`'s owner is the object, or the list, from here on. */
void bench_json_set(json_t *object, const char *name, json_t *value);
void bench_json_append(json_t *list, json_t *value);
void bench_json_set_count(json_t *object, const char *name, uint64_t count);

/*
 * A new object: {"kind", "time" (UTC, ISO 8601), "machine": {"cpu", "cores", "memory" in bytes,
 * "kernel"}, "commit" (of BENCH_COMMIT in the environment, else null), "command": "kv-bench NAME
 * …"}.
 */
json_t *bench_json_head(const char *kind, const char *name, int argc, char **argv);

/* `path` NULL: the standard output. */
void bench_json_write(const json_t *whole, const char *path);

/* The processor's name as /proc/cpuinfo has it; "unknown" where there is none. */
void bench_processor_name(char *name, size_t bytes);

#endif
