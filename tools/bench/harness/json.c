/* json.c -- see tools/bench/harness/json.h. */
#include "tools/bench/harness/json.h"

#include "tools/bench/harness/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static json_t *
checked(json_t *value)
{
    if (value == NULL)
        bench_fail("make JSON", "out of memory");
    return value;
}

json_t *
bench_json_object(void)
{
    return checked(json_object());
}

json_t *
bench_json_list(void)
{
    return checked(json_array());
}

void
bench_json_set(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, checked(value)) != 0)
        bench_fail("make JSON", "out of memory");
}

void
bench_json_append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, checked(value)) != 0)
        bench_fail("make JSON", "out of memory");
}

void
bench_json_set_count(json_t *object, const char *name, uint64_t count)
{
    bench_json_set(object, name, json_integer((json_int_t)count));
}

/* ---- what all begin with ---- */

void
bench_processor_name(char *name, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];

    snprintf(name, bytes, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(name, bytes, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
}

static json_t *
machine(void)
{
    struct utsname system = {0};
    char processor[512], kernel[256] = "unknown";

    bench_processor_name(processor, sizeof processor);
    if (uname(&system) == 0)
        snprintf(kernel, sizeof kernel, "%.64s %.64s", system.sysname, system.release);
    return json_pack("{s:s, s:I, s:I, s:s}", "cpu", processor, "cores",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory",
                     (json_int_t)sysconf(_SC_PHYS_PAGES) * (json_int_t)sysconf(_SC_PAGESIZE),
                     "kernel", kernel);
}

/* The words of a command, for people; to be freed. */
static char *
command_line(const char *name, int argc, char **argv)
{
    size_t bytes = sizeof "kv-bench " + strlen(name);
    char *line;

    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    line = bench_alloc(bytes);
    strcat(strcpy(line, "kv-bench "), name);
    for (int i = 0; i < argc; i++)
        strcat(strcat(line, " "), argv[i]);
    return line;
}

json_t *
bench_json_head(const char *kind, const char *name, int argc, char **argv)
{
    const char *commit = getenv("BENCH_COMMIT");
    char *command = command_line(name, argc, argv);
    time_t now = time(NULL);
    struct tm parts;
    char when[32] = "";
    json_t *head;

    if (gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (commit != NULL && commit[0] == '\0')
        commit = NULL;
    head = json_pack("{s:s, s:s, s:o, s:s?, s:s}", "kind", kind, "time", when, "machine", machine(),
                     "commit", commit, "command", command);
    free(command);
    return checked(head);
}

void
bench_json_write(const json_t *whole, const char *path)
{
    FILE *file = path != NULL ? fopen(path, "w") : stdout;
    bool written;

    if (file == NULL)
        bench_fail("write results to", path);
    written = json_dumpf(whole, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
    written = fputc('\n', file) != EOF && written;
    if ((path != NULL ? fclose(file) : fflush(file)) != 0 || !written)
        bench_fail("write results to", path != NULL ? path : "the standard output");
}
