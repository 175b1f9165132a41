/*
 * parser.h -- the grammar of the shell: tokens to a tree.
 *
 *     input      = { separator } [ statement { separator statement } ] { separator }
 *     statement  = ( name | constant ) "=" statement | expression
 *     expression = ( call | primary ) { "." name ( call-arguments | [ block ] )
 *                | "[" expression "]" }
 *     block      = "{" "|" name "|" input "}"
 *     call       = name [ arguments ] | name "(" [ arguments [","] ] ")"
 *     arguments  = argument { "," argument }
 *     argument   = expression [ "=>" expression ] | label expression
 *     primary    = string { string } | number | symbol | constant | array | hash
 *                | "(" expression ")"
 *     array      = "[" [ expression { "," expression } [","] ] "]"
 *     hash       = "{" [ pair { "," pair } [","] ] "}"
 *     pair       = expression "=>" expression | label expression
 *
 * Pairs among the arguments make one last hash, as in Ruby; nothing but pairs may follow them.
 * Nodes live in the arena.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_PARSER_H
#define PETAL_TOOLS_SHELL_LANGUAGE_PARSER_H

#include "tools/shell/language/lexer.h"
#include "tools/shell/language/value.h"

enum node_kind {
    NODE_LITERAL,  /* value */
    NODE_CONSTANT, /* name */
    NODE_CALL,     /* name, receiver if there is one, items: the arguments */
    NODE_ASSIGN,   /* name, items: the value */
    NODE_INDEX,    /* receiver, items: the index */
    NODE_ARRAY,    /* items */
    NODE_HASH,     /* items: key, value, key, value .. */
    NODE_BLOCK     /* name of the parameter, items: statements */
};

struct node {
    enum node_kind kind;
    size_t position; /* in the input */
    struct value value;
    petal_slice name;
    struct node *receiver;
    struct node *block; /* of a call with a receiver, NULL if it has none */
    bool bare;          /* of a call: a name alone, which could be a variable */
    struct node **items;
    size_t count;
};

/*
 * Parse what a lexer, finished and without a mistake, has cut.  *statements and *count receive the
 * expressions of the input, none for an empty one.  Returns false after a mistake, described in
 * *error.
 */
bool parser_parse(const struct lexer *lexer, struct arena *arena, struct node ***statements,
                  size_t *count, struct syntax_error *error);

#endif
