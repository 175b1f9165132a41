/* complaint.c -- see tools/shell/eval/complaint.h. */
#include "tools/shell/eval/complaint.h"

#include <stdarg.h>
#include <stdio.h>

bool
complain(struct complaint *complaint, const char *kind, const char *format, ...)
{
    va_list arguments;

    complaint->kind = kind;
    va_start(arguments, format);
    (void)vsnprintf(complaint->text, sizeof(complaint->text), format, arguments);
    va_end(arguments);
    return false;
}
