/* call.c -- see tools/shell/eval/call.h. */
#include "tools/shell/eval/call.h"

const struct method *
method_find(const struct method *methods, petal_slice name)
{
    for (; methods != NULL && methods->name != NULL; methods++)
        if (slice_is(name, methods->name))
            return methods;
    return NULL;
}

bool
method_run(const struct method *method, struct call *call)
{
    if (call->count < method->least || call->count > method->most)
        return complain(&call->complaint, "ArgumentError",
                        "%s takes %zu argument%s%s, and there %s "
                        "%zu",
                        method->name, method->least, method->least == 1 ? "" : "s",
                        method->most > method->least ? " or more" : "",
                        call->count == 1 ? "is" : "are", call->count);
    return method->run(call);
}

bool
call_wants(struct call *call, const char *wanted)
{
    return complain(&call->complaint, "ArgumentError", "%.*s wants %s", SLICE_UP_TO(40, call->name),
                    wanted);
}

bool
call_wants_text(struct call *call, size_t argument)
{
    return call->arguments[argument].kind == VALUE_STRING || call_wants(call, "a text");
}

bool
call_wants_integer(struct call *call, size_t argument)
{
    return call->arguments[argument].kind == VALUE_INTEGER || call_wants(call, "a whole number");
}

bool
call_takes_base(struct call *call, unsigned *base)
{
    *base = 10;
    if (call->count == 0)
        return true;
    if (!call_wants_integer(call, 0))
        return false;
    if (call->arguments[0].as.integer < 2 || call->arguments[0].as.integer > 36)
        return call_wants(call, "a base from 2 to 36");
    *base = (unsigned)call->arguments[0].as.integer;
    return true;
}

bool
call_gives_boolean(struct call *call, bool boolean)
{
    *call->value = value_boolean(boolean);
    return true;
}

bool
call_gives_bytes(struct call *call, const void *bytes, size_t size)
{
    *call->value = value_string_copy(&call->session->arena, (petal_slice){bytes, size});
    return true;
}
