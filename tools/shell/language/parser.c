/* parser.c -- statements, loops and blocks; see tools/shell/language/parser.h. */
#include "tools/shell/language/parser_state.h"

#include <string.h>

void
list_add(struct parser *parser, struct node_list *list, struct node *node)
{
    list->items =
        arena_room(parser->arena, list->items, list->count, &list->capacity, sizeof(struct node *));
    list->items[list->count++] = node;
}

struct node *
new_node(struct parser *parser, enum node_kind kind)
{
    struct node *node = arena_allocate(parser->arena, sizeof(*node));

    *node = (struct node){.kind = kind, .position = parser->token->begin};
    return node;
}

struct node *
with_items(struct parser *parser, struct node *node, struct node *first, struct node *second,
           struct node *third)
{
    struct node_list list = {0};

    list_add(parser, &list, first);
    if (second != NULL)
        list_add(parser, &list, second);
    if (third != NULL)
        list_add(parser, &list, third);
    node->items = list.items;
    node->count = list.count;
    return node;
}

struct node *
block_of(struct parser *parser, struct node *statement)
{
    return with_items(parser, new_node(parser, NODE_BLOCK), statement, NULL, NULL);
}

bool
at(const struct parser *parser, const char *operator)
{
    return parser->token->kind == TOKEN_OPERATOR && slice_is(parser->token->text, operator);
}

bool
take(struct parser *parser, const char *operator)
{
    bool found = at(parser, operator);

    if (found)
        parser->token++;
    return found;
}

bool
at_name(const struct parser *parser, const char *name)
{
    return parser->token->kind == TOKEN_NAME && slice_is(parser->token->text, name);
}

static bool
take_name(struct parser *parser, const char *name)
{
    bool found = at_name(parser, name);

    if (found)
        parser->token++;
    return found;
}

struct node *
unexpected(struct parser *parser, const char *wanted)
{
    const struct token *token = parser->token;

    if (token->kind == TOKEN_END || token->kind == TOKEN_SEPARATOR)
        syntax_error_set(parser->error, token->begin, "unexpected end of the command%s", wanted);
    else if (token->kind == TOKEN_STRING || token->kind == TOKEN_PIECE)
        syntax_error_set(parser->error, token->begin, "unexpected string%s", wanted);
    else if (token->kind == TOKEN_INTEGER || token->kind == TOKEN_FLOAT)
        syntax_error_set(parser->error, token->begin, "unexpected number%s", wanted);
    else
        syntax_error_set(parser->error, token->begin, "unexpected '%.*s'%s",
                         SLICE_UP_TO(40, token->text), wanted);
    return NULL;
}

struct node *
too_deep(struct parser *parser)
{
    syntax_error_set(parser->error, parser->token->begin, "nested too deeply");
    return NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

void
note_name(struct parser *parser, petal_slice name)
{
    struct name_stack *names = &parser->names;

    if (is_variable(parser, name))
        return;
    names->items = arena_room(parser->arena, names->items, names->count, &names->capacity,
                              sizeof(*names->items));
    names->items[names->count++] = name;
}

bool
is_variable(const struct parser *parser, petal_slice name)
{
    for (size_t i = 0; i < parser->names.count; i++)
        if (slices_equal(parser->names.items[i], name))
            return true;
    return parser->variables != NULL && variables_get(parser->variables, name) != NULL;
}

/* Names of a loop or block, parted by commas, up to what `behind` says. */
static bool
parse_names(struct parser *parser, struct node *block, const char *behind)
{
    size_t capacity = 0;

    do {
        if (parser->token->kind != TOKEN_NAME || keyword_follows(parser->token->text)) {
            (void)unexpected(parser, ", expected a name for the block's item");
            return false;
        }
        block->names = arena_room(parser->arena, block->names, block->name_count, &capacity,
                                  sizeof(*block->names));
        block->names[block->name_count++] = parser->token->text;
        note_name(parser, parser->token++->text);
    } while (take(parser, ","));
    if (at(parser, behind) || at_name(parser, behind)) {
        parser->token++;
        return true;
    }
    (void)unexpected(parser, behind[0] == '|' ? ", expected '|'" : ", expected 'in'");
    return false;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static bool
at_end(const struct parser *parser, const char *closing)
{
    if (closing == NULL)
        return parser->token->kind == TOKEN_END;
    if (strcmp(closing, "end") == 0)
        return at_name(parser, "end") || at_name(parser, "else") || at_name(parser, "elsif");
    return at(parser, closing);
}

/* Read statements up to, and without, what closes them; NULL: up to the end of the input. */
static bool
parse_list(struct parser *parser, const char *closing, struct node_list *list)
{
    for (;;) {
        struct node *statement;

        while (parser->token->kind == TOKEN_SEPARATOR)
            parser->token++;
        if (at_end(parser, closing))
            return true;
        statement = parse_statement(parser);
        if (statement == NULL)
            return false;
        list_add(parser, list, statement);
        if (parser->token->kind != TOKEN_SEPARATOR && !at_end(parser, closing)) {
            (void)unexpected(parser, "");
            return false;
        }
    }
}

struct node *
parse_braced(struct parser *parser, struct node *block)
{
    struct node_list list = {0};
    bool keeps_do = parser->keeps_do;

    if (parser->depth >= GREATEST_DEPTH)
        return too_deep(parser);
    parser->keeps_do = false;
    parser->depth++;
    if (!parse_list(parser, "}", &list))
        return NULL;
    parser->token++;
    parser->depth--;
    parser->keeps_do = keeps_do;
    block->items = list.items;
    block->count = list.count;
    return block;
}

/* The statements of a body that `end` closes, up to it; `opening` is the keyword that began it. */
static struct node *
parse_body(struct parser *parser, const struct token *opening, struct node *block)
{
    struct node_list list = {0};
    bool keeps_do = parser->keeps_do;

    parser->keeps_do = false;
    if (block == NULL)
        block = new_node(parser, NODE_BLOCK);
    if (parser->depth >= GREATEST_DEPTH)
        return too_deep(parser);
    parser->depth++;
    if (!parse_list(parser, "end", &list)) {
        if (parser->token->kind == TOKEN_END) {
            /* More helpful than the place of the input's end. */
            parser->error->message[0] = '\0';
            syntax_error_set(parser->error, opening->begin, "this '%.*s' has no 'end'",
                             SLICE_UP_TO(40, opening->text));
        }
        return NULL;
    }
    parser->depth--;
    parser->keeps_do = keeps_do;
    block->items = list.items;
    block->count = list.count;
    return block;
}

static bool
take_end(struct parser *parser)
{
    if (take_name(parser, "end"))
        return true;
    (void)unexpected(parser, ", expected 'end'");
    return false;
}

bool
starts_block(const struct parser *parser)
{
    return (at(parser, "{") && parser->token->begins_block) ||
           (at_name(parser, "do") && !parser->keeps_do);
}

struct node *
parse_block(struct parser *parser)
{
    const struct token *opening = parser->token++;
    struct node *node = new_node(parser, NODE_BLOCK);
    size_t names = parser->names.count;

    node->position = opening->begin;
    if (take(parser, "|") && !parse_names(parser, node, "|"))
        return NULL;
    parser->loops++;
    if (slice_is(opening->text, "do")) {
        if (parse_body(parser, opening, node) == NULL || !take_end(parser))
            return NULL;
    } else if (parse_braced(parser, node) == NULL) {
        return NULL;
    }
    parser->loops--;
    parser->names.count = names;
    return node;
}

static struct node *parse_joined(struct parser *parser);

/* ---- Conditions and loops -------------------------------------------------------------------- */

static struct node *
negated(struct parser *parser, struct node *condition)
{
    struct node *node = new_node(parser, NODE_OPERATOR);

    node->name = slice_of_string("!");
    node->position = condition->position;
    return with_items(parser, node, condition, NULL, NULL);
}

/* The condition or list in the head of a loop or an if. */
static struct node *
parse_head(struct parser *parser, bool of_loop)
{
    bool keeps_do = parser->keeps_do, parted;
    struct node *head;

    parser->keeps_do = of_loop;
    head = parse_joined(parser);
    parser->keeps_do = keeps_do;
    if (head == NULL)
        return NULL;
    parted = parser->token->kind == TOKEN_SEPARATOR;
    if (parted)
        parser->token++;
    if (!take_name(parser, of_loop ? "do" : "then") && !parted)
        return unexpected(parser, of_loop ? ", expected 'do'" : ", expected 'then'");
    return head;
}

static struct node *
parse_if(struct parser *parser)
{
    const struct token *opening = parser->token;
    struct node *node = new_node(parser, NODE_IF), *head, *body, *other = NULL;

    parser->token++;
    if ((head = parse_head(parser, false)) == NULL ||
        (body = parse_body(parser, opening, NULL)) == NULL)
        return NULL;
    if (slice_is(opening->text, "unless"))
        head = negated(parser, head);
    if (at_name(parser, "elsif")) {
        if (parser->depth >= GREATEST_DEPTH)
            return too_deep(parser);
        parser->depth++;
        other = parse_if(parser); /* takes the `end` of all */
        parser->depth--;
        return other != NULL ? with_items(parser, node, head, body, block_of(parser, other)) : NULL;
    }
    if (take_name(parser, "else") && (other = parse_body(parser, opening, NULL)) == NULL)
        return NULL;
    return take_end(parser) ? with_items(parser, node, head, body, other) : NULL;
}

static struct node *
parse_while(struct parser *parser)
{
    const struct token *opening = parser->token;
    struct node *node = new_node(parser, NODE_WHILE), *head, *body;

    parser->token++;
    if ((head = parse_head(parser, true)) == NULL)
        return NULL;
    parser->loops++;
    body = parse_body(parser, opening, NULL);
    parser->loops--;
    if (body == NULL || !take_end(parser))
        return NULL;
    if (slice_is(opening->text, "until"))
        head = negated(parser, head);
    return with_items(parser, node, head, body, NULL);
}

static struct node *
parse_for(struct parser *parser)
{
    const struct token *opening = parser->token;
    struct node *node = new_node(parser, NODE_FOR), *head, *body;

    parser->token++;
    body = new_node(parser, NODE_BLOCK);
    if (!parse_names(parser, body, "in") || (head = parse_head(parser, true)) == NULL)
        return NULL;
    parser->loops++;
    body = parse_body(parser, opening, body);
    parser->loops--;
    return body != NULL && take_end(parser) ? with_items(parser, node, head, body, NULL) : NULL;
}

struct node *
parse_control(struct parser *parser)
{
    if (at_name(parser, "for"))
        return parse_for(parser);
    return at_name(parser, "while") || at_name(parser, "until") ? parse_while(parser)
                                                                : parse_if(parser);
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* The operator of `+= value` and the like, "=" of `= value`; NULL: the token is none. */
static const char *
assignment_of(const struct token *token)
{
    static const char *const assignments[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "**=", "||=", "&&="};

    for (size_t i = 0; token->kind == TOKEN_OPERATOR && i < COUNT_OF(assignments); i++)
        if (slice_is(token->text, assignments[i]))
            return assignments[i];
    return NULL;
}

static struct node *parse_assignment(struct parser *parser);

/* At the operator: assign to a name, or to a place in a list or hash.  `place op= value` is
 * `place = place op value`. */
static struct node *
parse_assigned(struct parser *parser, struct node *assigned, struct node *place)
{
    const struct token *token = parser->token++;
    const char *assignment = assignment_of(token);
    struct node *value;

    parser->depth++;
    value = parse_assignment(parser);
    parser->depth--;
    if (value == NULL)
        return NULL;
    if (assignment[1] != '\0') {
        struct node *whole = new_node(parser, NODE_OPERATOR);

        whole->name = (petal_slice){assignment, strlen(assignment) - 1};
        whole->position = token->begin;
        whole->bare = place->kind == NODE_CALL && strcmp(assignment, "||=") == 0;
        value = with_items(parser, whole, place, value, NULL);
    }
    return with_items(parser, assigned, value, NULL, NULL);
}

/* `a = b = value` assigns from the right. */
static struct node *
parse_assignment(struct parser *parser)
{
    const struct token *token = parser->token;
    struct node *place, *assigned;

    if (parser->depth >= GREATEST_DEPTH)
        return too_deep(parser);
    /* The token behind the last is TOKEN_END, so there is a next one. */
    if ((token->kind == TOKEN_NAME || token->kind == TOKEN_CONSTANT) &&
        assignment_of(token + 1) != NULL) {
        assigned = new_node(parser, NODE_ASSIGN);
        assigned->name = token->text;
        place = new_node(parser, NODE_CALL);
        place->name = token->text;
        place->bare = true;
        parser->token++;
        assigned = parse_assigned(parser, assigned, place);
        note_name(parser, token->text);
        return assigned;
    }
    place = parse_expression(parser);
    if (place == NULL || place->kind != NODE_INDEX || place->count != 1 ||
        assignment_of(parser->token) == NULL)
        return place;
    assigned = new_node(parser, NODE_ASSIGN);
    assigned->receiver = place;
    return parse_assigned(parser, assigned, place);
}

static struct node *
parse_not(struct parser *parser)
{
    struct node *operand;

    if (!take_name(parser, "not"))
        return parse_assignment(parser);
    operand = parse_assignment(parser);
    return operand != NULL ? negated(parser, operand) : NULL;
}

/* One with `and` and `or`. */
static struct node *
parse_joined(struct parser *parser)
{
    struct node *left = parse_not(parser);
    unsigned chain = 0;

    while (left != NULL && (at_name(parser, "and") || at_name(parser, "or"))) {
        struct node *node = new_node(parser, NODE_OPERATOR), *right;

        if (++chain > GREATEST_CHAIN)
            return too_deep(parser);
        node->name = slice_of_string(at_name(parser, "and") ? "&&" : "||");
        parser->token++;
        right = parse_not(parser);
        left = right != NULL ? with_items(parser, node, left, right, NULL) : NULL;
    }
    return left;
}

/* `statement if condition`, and the like. */
static struct node *
parse_modified(struct parser *parser, struct node *statement)
{
    bool loop = at_name(parser, "while") || at_name(parser, "until");
    bool negative = at_name(parser, "unless") || at_name(parser, "until");
    struct node *node = new_node(parser, loop ? NODE_WHILE : NODE_IF), *condition;

    parser->token++;
    condition = parse_joined(parser);
    if (condition == NULL)
        return NULL;
    return with_items(parser, node, negative ? negated(parser, condition) : condition,
                      block_of(parser, statement), NULL);
}

struct node *
parse_statement(struct parser *parser)
{
    struct node *node = parse_joined(parser);
    unsigned chain = 0;

    while (node != NULL && (at_name(parser, "if") || at_name(parser, "unless") ||
                            at_name(parser, "while") || at_name(parser, "until"))) {
        if (++chain > GREATEST_DEPTH)
            return too_deep(parser);
        node = parse_modified(parser, node);
    }
    return node;
}

bool
parser_parse(const struct lexer *lexer, const struct variables *variables, struct arena *arena,
             struct node ***statements, size_t *count, struct syntax_error *error)
{
    struct parser parser = {
        .token = lexer->tokens, .arena = arena, .error = error, .variables = variables};
    struct node_list list = {0};

    error->message[0] = '\0';
    if (!parse_list(&parser, NULL, &list))
        return false;
    *statements = list.items;
    *count = list.count;
    return true;
}
