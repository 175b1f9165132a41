#include "tools/python/native/call.h"

#include <stdlib.h>

#include "tools/python/native/pickle.h"

py_call *
py_call_new(void)
{
    py_call *call = calloc(1, sizeof *call);
    if (call && !(call->pickle = calloc(1, sizeof *call->pickle))) {
        free(call);
        return NULL;
    }
    return call;
}

void
py_call_free(py_call *call)
{
    if (!call)
        return;
    petal_result_free(call->result);
    for (size_t i = 0; i < call->other_count; i++)
        petal_result_free(call->others[i]);
    free(call->others);
    free(call->families);
    pickle_release(call->pickle);
    free(call->pickle);
    free(call);
}
