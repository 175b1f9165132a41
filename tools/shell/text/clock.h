/* clock.h -- clocks as seconds, to tell how long something took.  Any thread. */
#ifndef PETAL_TOOLS_SHELL_TEXT_CLOCK_H
#define PETAL_TOOLS_SHELL_TEXT_CLOCK_H

#include <time.h>

double clock_seconds(clockid_t clock);

#endif
