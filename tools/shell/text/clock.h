/* clock.h -- clocks as seconds, to tell how long something took, and the time of day as cells have
 * it. Any thread. */
#ifndef PETAL_TOOLS_SHELL_TEXT_CLOCK_H
#define PETAL_TOOLS_SHELL_TEXT_CLOCK_H

#include <stdint.h>
#include <time.h>

double clock_seconds(clockid_t clock);

/* Milliseconds since 1970. */
int64_t clock_now_ms(void);

#endif
