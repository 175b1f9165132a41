/* inline.h -- where the compiler's own judgement of what to inline costs. */
#ifndef PETAL_BASE_INLINE_H
#define PETAL_BASE_INLINE_H

/* NEVER_INLINE: for functions that are seldom called by functions that often are, and would pay for
 * them with registers. SELDOM: such ones that lie apart, behind branches that are not foreseen.
 * ALWAYS_INLINE: for one body of which several functions are made, by constant
 * arguments; and for what does nothing but ask for memory (base/mem.h). */
#if defined(__GNUC__)
#define NEVER_INLINE  __attribute__((noinline))
#define SELDOM        __attribute__((noinline, cold))
#define ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define NEVER_INLINE
#define SELDOM
#define ALWAYS_INLINE inline
#endif

/* UNFORESEEABLE: as often true as not, so that a choice by it is better not made by a branch. */
#if defined(__clang__)
#define UNFORESEEABLE(condition) __builtin_unpredictable(condition)
#elif defined(__GNUC__)
#define UNFORESEEABLE(condition) __builtin_expect_with_probability(condition, 1, 0.5)
#else
#define UNFORESEEABLE(condition) (condition)
#endif

#endif
