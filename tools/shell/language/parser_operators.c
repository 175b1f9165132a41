/* parser_operators.c -- operators by their precedence; see tools/shell/language/parser.h. */
#include "tools/shell/language/parser_state.h"

enum { LOWEST = 1, OF_POWER = 11 };

static const struct {
    const char *operator;
    unsigned precedence;
} operators[] = {{"..", 1},  {"...", 1}, {"||", 2}, {"&&", 3}, {"==", 4},       {"!=", 4},
                 {"===", 4}, {"<=>", 4}, {"<", 5},  {"<=", 5}, {">", 5},        {">=", 5},
                 {"|", 6},   {"^", 6},   {"&", 7},  {"<<", 8}, {">>", 8},       {"+", 9},
                 {"-", 9},   {"*", 10},  {"/", 10}, {"%", 10}, {"**", OF_POWER}};

/* 0: the token at hand is no operator between two values. */
static unsigned
precedence_here(const struct parser *parser)
{
    if (parser->token->kind == TOKEN_INTEGER || parser->token->kind == TOKEN_FLOAT)
        return parser->token->has_sign ? 9 : 0; /* n -1 */
    for (size_t i = 0; parser->token->kind == TOKEN_OPERATOR && i < COUNT_OF(operators); i++)
        if (slice_is(parser->token->text, operators[i].operator))
            return operators[i].precedence;
    return 0;
}

static struct node *
new_operator(struct parser *parser, const struct token *token, struct node *left,
             struct node *right)
{
    struct node *node = new_node(parser, NODE_OPERATOR);

    node->position = token->begin;
    node->name = token->text;
    return with_items(parser, node, left, right, NULL);
}

static struct node *parse_binary(struct parser *parser, unsigned lowest);

static struct node *
parse_unary(struct parser *parser)
{
    const struct token *token = parser->token;
    struct node *operand;

    if (!at(parser, "!") && !at(parser, "-"))
        return parse_postfix(parser);
    if (parser->depth >= GREATEST_DEPTH)
        return too_deep(parser);
    parser->token++;
    parser->depth++;
    operand = slice_is(token->text, "-") ? parse_binary(parser, OF_POWER) : parse_unary(parser);
    parser->depth--;
    return operand != NULL ? new_operator(parser, token, operand, NULL) : NULL;
}

static struct node *
parse_binary(struct parser *parser, unsigned lowest)
{
    struct node *left = parse_unary(parser);
    unsigned chain = 0, precedence;

    while (left != NULL && (precedence = precedence_here(parser)) >= lowest && precedence > 0) {
        static const struct token plus = {.kind = TOKEN_OPERATOR, .text = {"+", 1}};
        const struct token *token = parser->token;
        struct token sum = plus;
        struct node *right;

        if (++chain > GREATEST_CHAIN || parser->depth >= GREATEST_DEPTH)
            return too_deep(parser);
        if (token->kind == TOKEN_OPERATOR) {
            parser->token++;
        } else {
            sum.begin = token->begin;
            token = &sum; /* the sign stays with the number: n + (-1) */
        }
        parser->depth++;
        right = parse_binary(parser, precedence == OF_POWER ? precedence : precedence + 1);
        parser->depth--;
        left = right != NULL ? new_operator(parser, token, left, right) : NULL;
    }
    return left;
}

/* `condition ? one : other` is an if. */
static struct node *
parse_choice(struct parser *parser, struct node *condition)
{
    struct node *node = new_node(parser, NODE_IF), *one, *other;

    parser->token++;
    if ((one = parse_expression(parser)) == NULL)
        return NULL;
    if (!take(parser, ":"))
        return unexpected(parser, ", expected ':'");
    if ((other = parse_expression(parser)) == NULL)
        return NULL;
    return with_items(parser, node, condition, block_of(parser, one), block_of(parser, other));
}

struct node *
parse_expression(struct parser *parser)
{
    struct node *node;

    if (parser->depth >= GREATEST_DEPTH)
        return too_deep(parser);
    parser->depth++;
    node = parse_binary(parser, LOWEST);
    if (node != NULL && at(parser, "?"))
        node = parse_choice(parser, node);
    parser->depth--;
    return node;
}
