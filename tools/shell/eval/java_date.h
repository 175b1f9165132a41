/*
 * java_date.h -- dates as java.text.SimpleDateFormat reads them, in the local time zone.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_JAVA_DATE_H
#define PETAL_TOOLS_SHELL_EVAL_JAVA_DATE_H

#include "tools/shell/text/text.h"

/* Read a date by a pattern of y M d H m s S and what stands between them; false if the text is not
 * so. */
bool java_date_parse(petal_slice pattern, petal_slice text, int64_t *milliseconds);

#endif
