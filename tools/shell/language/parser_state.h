/*
 * parser_state.h -- a parser at work, for the files that share it: parser.c has the statements,
 * parser_values.c what has a value, parser_operators.c operators.
 *
 * A recursive descent.  Every function that parses returns NULL (or false) after a mistake, which
 * is then described in parser->error; the first one counts.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_PARSER_STATE_H
#define PETAL_TOOLS_SHELL_LANGUAGE_PARSER_STATE_H

#include "tools/shell/language/parser.h"

enum { GREATEST_DEPTH = 100, GREATEST_CHAIN = 1000 }; /* of nesting; of .methods and operators */

struct name_stack {
    petal_slice *items;
    size_t count, capacity;
};

struct parser {
    const struct token *token; /* the one at hand */
    struct arena *arena;
    struct syntax_error *error;
    const struct variables *variables;
    struct name_stack names; /* of variables that the input sets, up to the place at hand */
    unsigned depth;
    unsigned loops; /* around the place at hand */
    bool keeps_do;  /* in the head of a loop, whose `do` is not a call's */
};

/* A list of nodes that grows in the arena. */
struct node_list {
    struct node **items;
    size_t count, capacity;
};

/* ---- tools/shell/language/parser.c ---- */

void list_add(struct parser *parser, struct node_list *list, struct node *node);
struct node *new_node(struct parser *parser, enum node_kind kind);

/* Give the node its items; NULL behind the first: it has no more.  Returns the node. */
struct node *with_items(struct parser *parser, struct node *node, struct node *first,
                        struct node *second, struct node *third);

/* A block of one statement. */
struct node *block_of(struct parser *parser, struct node *statement);

bool at(const struct parser *parser, const char *operator);
bool take(struct parser *parser, const char *operator);
bool at_name(const struct parser *parser, const char *name);
struct node *unexpected(struct parser *parser, const char *wanted);
struct node *too_deep(struct parser *parser);

void note_name(struct parser *parser, petal_slice name);
bool is_variable(const struct parser *parser, petal_slice name);

struct node *parse_statement(struct parser *parser);

/* Behind a brace: the block's statements, with the brace that closes it. */
struct node *parse_braced(struct parser *parser, struct node *block);

/* At the brace or the `do` of a block. */
bool starts_block(const struct parser *parser);
struct node *parse_block(struct parser *parser);

/* At if, unless, while, until or for. */
struct node *parse_control(struct parser *parser);

/* ---- tools/shell/language/parser_operators.c ---- */

struct node *parse_expression(struct parser *parser);

/* ---- tools/shell/language/parser_values.c ---- */

struct node *parse_postfix(struct parser *parser);

#endif
