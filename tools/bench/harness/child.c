/* child.c -- see tools/bench/harness/child.h. */
#include "tools/bench/harness/child.h"

#include "tools/bench/harness/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void *
bench_child_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        bench_fail("share memory", strerror(errno));
    return memory;
}

static void
fall_silent(void)
{
    const struct rlimit none = {0, 0};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0 ||
        setrlimit(RLIMIT_CORE, &none) != 0)
        exit(3);
}

/* How it ended, as waitpid(2) tells it. */
static int
run(void (*work)(void *argument), void *argument, bool silent)
{
    pid_t parent = getpid(), child;
    int status;

    fflush(stdout); /* else the child writes it, too */
    fflush(stderr);
    child = fork();
    if (child < 0)
        bench_fail("start a process", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            exit(3);
        if (silent)
            fall_silent();
        work(argument);
        exit(0);
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            bench_fail("wait for a process", strerror(errno));
    }
    return status;
}

int
bench_child_run(void (*work)(void *argument), void *argument)
{
    int status = run(work, argument, false);

    if (WIFSIGNALED(status)) {
        fprintf(stderr, "kv-bench: a store's process was ended by signal %d\n", WTERMSIG(status));
        return 3;
    }
    return WEXITSTATUS(status);
}

int
bench_child_ending(void (*work)(void *argument), void *argument)
{
    return run(work, argument, true);
}
