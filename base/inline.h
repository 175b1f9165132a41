/* inline.h -- where the compiler's own judgement of what to inline costs. */
#ifndef PETAL_BASE_INLINE_H
#define PETAL_BASE_INLINE_H

/* NEVER_INLINE: rarely called functions, which would cost their frequent callers registers. SELDOM:
 * the same, placed apart, after branches that are predicted not taken. ALWAYS_INLINE: one body that
 * becomes several functions by constant arguments; and prefetches (base/mem.h). */
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
