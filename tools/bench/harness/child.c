/* child.c -- see tools/bench/harness/child.h. */
#include "tools/bench/harness/child.h"

#include "tools/bench/harness/util.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

int
bench_child_run(void (*work)(void *argument), void *argument)
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
        work(argument);
        exit(0);
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            bench_fail("wait for a process", strerror(errno));
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "kv-bench: a store's process was ended by signal %d\n", WTERMSIG(status));
        return 3;
    }
    return WEXITSTATUS(status);
}
