/*
 * parser.h -- the grammar of the shell: tokens to a tree.
 *
 *     input      = { separator } [ statement { separator statement } ] { separator }
 *     statement  = condition { ( "if" | "unless" | "while" | "until" ) condition }
 *     condition  = [ "not" ] assignment { ( "and" | "or" ) [ "not" ] assignment }
 *     assignment = name ( "=" | "+=" | "-=" | .. ) assignment
 *                | name "[" expression "]" ( "=" | "+=" | .. ) assignment | expression
 *     expression = binary [ "?" expression ":" expression ]
 *     binary     = unary { operator unary }      || .. ... && == < << + * ** and so on, as in Ruby
 *     unary      = { "-" | "!" } postfix
 *     postfix    = primary { "." name [ arguments ] [ block ] | "::" constant
 *                | "[" expression [ "," expression ] "]" }
 *     block      = "{" [ names ] input "}" | "do" [ names ] input "end"
 *     names      = "|" name { "," name } "|"
 *     arguments  = argument { "," argument } | "(" [ argument { "," argument } [","] ] ")"
 *     argument   = expression [ "=>" expression ] | label expression | "&" symbol
 *     primary    = string { string } | number | symbol | constant | array | hash
 *                | name [ arguments ] [ block ] | "(" input ")" | package "." .. class
 *                | if | while | for | "break" | "next"
 *     if         = ( "if" | "unless" ) condition [ "then" ] input
 *                  { "elsif" condition [ "then" ] input } [ "else" input ] "end"
 *     while      = ( "while" | "until" ) condition [ "do" ] input "end"
 *     for        = "for" name { "," name } "in" condition [ "do" ] input "end"
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
#include "tools/shell/language/variable.h"

enum node_kind {
    NODE_LITERAL,  /* value */
    NODE_STRING,   /* items: what is put together, with #{..} */
    NODE_CONSTANT, /* name */
    NODE_CLASS,    /* name: a Java class with its package, parted by points */
    NODE_SCOPE,    /* receiver :: name */
    NODE_CALL,     /* name, receiver if there is one, items: the arguments */
    NODE_ASSIGN,   /* name, or as receiver an index; items: the value */
    NODE_INDEX,    /* receiver, items: the index, or the index and a length */
    NODE_OPERATOR, /* name, items: one or two operands */
    NODE_ARRAY,    /* items */
    NODE_HASH,     /* items: key, value, key, value .. */
    NODE_BLOCK,    /* names, items: statements */
    NODE_IF,       /* items: condition, block and perhaps another */
    NODE_WHILE,    /* items: condition, block */
    NODE_FOR,      /* items: list, block with the names */
    NODE_JUMP      /* name: break or next */
};

struct node {
    enum node_kind kind;
    size_t position; /* in the input */
    struct value value;
    petal_slice name;
    petal_slice *names;
    size_t name_count;
    struct node *receiver;
    struct node *block; /* of a call, NULL if it has none */
    size_t joined;      /* of a text of several strings side by side: where the second begins; 0 */
    bool bare;          /* of a call: a name alone, which could be a variable; of ||: of a name
                           that need not be one yet */
    struct node **items;
    size_t count;
};

/*
 * Parse what a lexer, finished and without a mistake, has cut.  *statements and *count receive the
 * expressions of the input, none for an empty one.  Returns false after a mistake, described in
 * *error.  `variables` (NULL: none) are those of the shell: `n -1` is a difference where n is one,
 * and a command's argument where it is none.
 */
bool parser_parse(const struct lexer *lexer, const struct variables *variables, struct arena *arena,
                  struct node ***statements, size_t *count, struct syntax_error *error);

#endif
