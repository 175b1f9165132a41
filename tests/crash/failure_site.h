/*
 * failure_site.h -- the places at which the library asks for a file call or for memory, each known
 * by itself.
 *
 * tests/crash/failure_sites.sed writes FAILURE_SITE(...) around each such call in a copy of the
 * sources, which includes this file first. Each leaves a record in a section of its own, so the
 * program has the list of all of them, those of code that never runs included; and it says in
 * failure_site_now, when it is passed, who asks. Nobody keeps a list: a new call is a new record.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_SITE_H
#define PETAL_TESTS_CRASH_FAILURE_SITE_H

struct failure_site {
    const char *file, *function, *called;
    int line;
    int number; /* among all, from 0; given by failure_sites_find */
};

/* The site that this thread passed last; who takes it sets it to NULL. */
extern _Thread_local struct failure_site *failure_site_now;

#define FAILURE_SITE(called)                                                                       \
    (__extension__({                                                                               \
         static struct failure_site failure_site_here = {__FILE__, __func__, #called, __LINE__,    \
                                                         -1};                                      \
         static struct failure_site *const failure_site_listed                                     \
             __attribute__((section("failure_sites"), used)) = &failure_site_here;                 \
                                                                                                   \
         failure_site_now = failure_site_listed;                                                   \
     }),                                                                                           \
     called)

#endif
