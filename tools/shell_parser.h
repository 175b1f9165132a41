/*
 * shell_parser.h -- the grammar of the shell: tokens to a tree.
 *
 *     input      = { separator } [ expression { separator expression } ] { separator }
 *     expression = call | primary { "." name call-arguments }
 *     call       = name [ arguments ] | name "(" [ arguments [","] ] ")"
 *     arguments  = argument { "," argument }
 *     argument   = expression [ "=>" expression ] | label expression
 *     primary    = string { string } | number | symbol | constant | array | hash | "(" expression ")"
 *     array      = "[" [ expression { "," expression } [","] ] "]"
 *     hash       = "{" [ pair { "," pair } [","] ] "}"
 *     pair       = expression "=>" expression | label expression
 *
 * Pairs among the arguments make one last hash, as in Ruby; nothing but pairs may follow them.  Nodes live in the arena.
 */
#ifndef PETAL_SHELL_PARSER_H
#define PETAL_SHELL_PARSER_H

#include "tools/shell_lexer.h"
#include "tools/shell_value.h"

enum node_kind {
    NODE_LITERAL,  /* value */
    NODE_CONSTANT, /* name */
    NODE_CALL,     /* name, receiver if there is one, items: the arguments */
    NODE_ARRAY,    /* items */
    NODE_HASH      /* items: key, value, key, value .. */
};

struct node {
    enum node_kind kind;
    size_t position; /* in the input */
    struct value value;
    petal_slice name;
    struct node *receiver;
    bool bare; /* of a call: a name alone, which could be a variable */
    struct node **items;
    size_t count;
};

/*
 * Parse what a lexer, finished and without a mistake, has cut.  *statements and *count receive the
 * expressions of the input, none for an empty one.  Returns false after a mistake, described in *error.
 */
bool parser_parse(const struct lexer *lexer, struct arena *arena, struct node ***statements,
                  size_t *count, struct syntax_error *error);

#endif
