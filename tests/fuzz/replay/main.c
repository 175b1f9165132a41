/*
 * main.c -- fuzz-replay: runs inputs that fuzzers have found, without a fuzzer. Usage: fuzz-replay
 * DIRECTORY.. Below each directory there is one for each target, by its name, with its inputs.
 *
 * An input is in memory of exactly its size, takes SECONDS of a processor at most, and where no
 * sanitizer needs the addresses the process has ADDRESS_BYTES. What ends it names the input.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECONDS         20
#define ADDRESS_BYTES   ((rlim_t)1 << 30)
#define MOST_FILE_BYTES ((size_t)1 << 20)

/* Of the targets that the Makefile has found, by the names that it gives to them. */
#define TARGET(name) int fuzz_##name(const uint8_t *bytes, size_t size);
FUZZ_TARGETS
#undef TARGET

static const struct target {
    const char *name;
    int (*run)(const uint8_t *bytes, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
    FUZZ_TARGETS
#undef TARGET
};

static char path[4096]; /* of the input at hand */

static void
tell_input(int number)
{
    static const char began[] = "\nfuzz-replay: at ";

    if (write(STDERR_FILENO, began, sizeof began - 1) < 0 ||
        write(STDERR_FILENO, path, strlen(path)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

static void
give_up(const char *what)
{
    perror(what);
    exit(2);
}

static void
limit(void)
{
    static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], tell_input);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
    if (setrlimit(RLIMIT_AS, &(struct rlimit){ADDRESS_BYTES, ADDRESS_BYTES}) != 0)
        give_up("setrlimit");
#endif
}

static void
set_timer(time_t seconds)
{
    if (setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL) != 0)
        give_up("setitimer");
}

static size_t
read_file(uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t size;

    if (file == NULL)
        give_up(path);
    size = fread(bytes, 1, MOST_FILE_BYTES, file);
    if (ferror(file) || !feof(file))
        give_up(path);
    fclose(file);
    return size;
}

/* Run all inputs of a directory; false: there is none such. */
static bool
run_directory(const struct target *target, const char *directory, size_t *inputs, size_t *bytes)
{
    static uint8_t buffer[MOST_FILE_BYTES];
    size_t prefix = (size_t)snprintf(path, sizeof path, "%s/%s/", directory, target->name);
    DIR *list = opendir(path);
    const struct dirent *entry;

    if (list == NULL)
        return false;
    while ((entry = readdir(list)) != NULL) {
        size_t size;
        uint8_t *input;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path + prefix, sizeof path - prefix, "%s", entry->d_name);
        size = read_file(buffer);
        input = malloc(size > 0 ? size : 1);
        if (input == NULL)
            give_up("malloc");
        memcpy(input, buffer, size);
        set_timer(SECONDS);
        target->run(input, size);
        set_timer(0);
        free(input);
        ++*inputs;
        *bytes += size;
    }
    closedir(list);
    return true;
}

static double
seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int
main(int count, char **directories)
{
    bool all = true;
    size_t sum = 0;

    limit();
    printf("%-14s %8s %10s %8s\n", "target", "inputs", "bytes", "seconds");
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        size_t inputs = 0, bytes = 0;
        double began = seconds();

        for (int at = 1; at < count; at++)
            run_directory(&targets[i], directories[at], &inputs, &bytes);
        printf("%-14s %8zu %10zu %8.2f%s\n", targets[i].name, inputs, bytes, seconds() - began,
               inputs == 0 ? "  NO INPUT IS KEPT" : "");
        fflush(stdout);
        all = all && inputs > 0;
        sum += inputs;
    }
    printf("%zu inputs, each answered as it has to be\n", sum);
    return all ? 0 : 1;
}
