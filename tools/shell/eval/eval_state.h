/*
 * eval_state.h -- an input at work, for the files that share it: eval.c has commands and
 * expressions, loop.c what is done again and again.
 *
 * What evaluates returns false when the input is over: after a mistake, which was shown then, after
 * Ctrl-C or `exit`, and on the way out of a loop that `break` or `next` leaves.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_EVAL_STATE_H
#define PETAL_TOOLS_SHELL_EVAL_EVAL_STATE_H

#include "tools/shell/eval/call.h"
#include "tools/shell/eval/eval.h"
#include "tools/shell/language/parser.h"

enum jump { JUMP_NONE, JUMP_BREAK, JUMP_NEXT };

struct eval {
    struct session *session;
    const struct text *input;
    unsigned line;                  /* number of the input's first line */
    unsigned calls;                 /* whose arguments are being evaluated */
    unsigned depth;                 /* of nodes */
    enum jump jump;                 /* that is on its way to its loop */
    uint64_t rounds_of_interrupted; /* of the outermost loop that Ctrl-C stopped; 0: of none */
};

/* ---- tools/shell/eval/eval.c ---- */

/* `value` NULL: only what it does is wanted. */
bool eval_node(struct eval *eval, const struct node *node, struct value *value);

/* One after the other; the last one's value, or NULL. */
bool eval_statements(struct eval *eval, const struct node *block, struct value *value);

bool eval_is_over(const struct eval *eval);

/* May a variable have the value?  Complains else. */
bool eval_may_keep(struct eval *eval, size_t position, const struct value *value);

/* Show what is wrong, if that was not done yet.  Return false. */
bool eval_fail(struct eval *eval, size_t position, const struct complaint *complaint);
bool eval_fail_name(struct eval *eval, const struct node *node, const char *what);

/* ---- tools/shell/eval/loop.c ---- */

/* Is it a method that goes through the receiver's items?  Run it. */
bool loop_is_method(petal_slice name, const struct value *receiver);
bool loop_over(struct eval *eval, const struct node *node, struct call *call);

bool loop_for(struct eval *eval, const struct node *node, struct value *value);
bool loop_while(struct eval *eval, const struct node *node, struct value *value);
bool loop_forever(struct eval *eval, const struct node *node);

#endif
