/* inline.h -- for functions that are seldom called by functions that often are: inlined, they would
 * cost those registers. */
#ifndef PETAL_BASE_INLINE_H
#define PETAL_BASE_INLINE_H

#if defined(__GNUC__)
#define NEVER_INLINE __attribute__((noinline))
#else
#define NEVER_INLINE
#endif

#endif
