/* regex.c -- running the program of a regular expression; see regex.h. */
#include "base/slice.h"
#include "engine/filter/regex_program.h"
#include "engine/filter/utf8.h"

#define NO_CHARACTER UINT32_MAX

enum petal_status
regex_new(struct regex **regex, const petal_allocator *allocator, petal_slice expression,
          bool ignore_case, struct regex_mistake *mistake)
{
    struct regex *made = mem_zalloc(allocator, sizeof *made);
    enum petal_status status;

    *regex = NULL;
    *mistake = (struct regex_mistake){0, ""};
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->allocator = allocator;
    status = regex_parse(made, expression, ignore_case, mistake);
    if (status != PETAL_OK)
        regex_free(made);
    else
        *regex = made;
    return status;
}

void
regex_free(struct regex *regex)
{
    const petal_allocator *allocator;

    if (regex == NULL)
        return;
    allocator = regex->allocator;
    mem_free(allocator, regex->steps, regex->step_capacity * sizeof *regex->steps);
    mem_free(allocator, regex->ranges, regex->range_capacity * sizeof *regex->ranges);
    mem_free(allocator, regex->classes, regex->class_capacity * sizeof *regex->classes);
    mem_free(allocator, regex, sizeof *regex);
}

/* ---- one character ---- */

static bool
is_word(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The other case of an ASCII letter, else the character itself. */
static uint32_t
other_case(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c ^ 0x20 : c;
}

static bool
in_class(const struct regex *regex, const struct regex_class *class, uint32_t c)
{
    const struct regex_range *ranges = &regex->ranges[class->first_range];
    size_t low = 0, high = class->range_count;

    /* The ranges before `low` end before it, those from `high` on do not. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges[middle].high < c)
            low = middle + 1;
        else
            high = middle;
    }
    return class->negated != (low < class->range_count && ranges[low].low <= c);
}

/* Does a step that takes a character take this one? */
static bool
takes(const struct regex *regex, const struct regex_step *step, uint32_t c)
{
    switch (step->kind) {
    case REGEX_ANY:
        return true;
    case REGEX_CHARACTER:
        return c == step->value || (step->ignore_case && other_case(c) == step->value);
    case REGEX_CLASS:
        return in_class(regex, &regex->classes[step->value], c);
    default:
        return false;
    }
}

/* ---- all states at once ---- */

/* Where the text is being looked at. */
struct place {
    uint32_t before, after; /* NO_CHARACTER at the ends */
    bool last;              /* nothing but one line end follows, or nothing */
};

struct states {
    uint16_t steps[REGEX_MOST_STEPS];
    size_t count;
};

struct matcher {
    const struct regex *regex;
    struct states here;              /* steps that take a character, at this place */
    struct states begun;             /* where to go on at this place, before jumps are followed */
    uint32_t seen[REGEX_MOST_STEPS]; /* the number of the place at which a step was last met */
    uint32_t place_number;
};

static bool
is_line_end(uint32_t c)
{
    return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/* What lies around `at`; *next steps behind the character there. */
static struct place
look(const uint8_t *at, const uint8_t *limit, uint32_t before, const uint8_t **next)
{
    struct place place = {before, NO_CHARACTER, true};

    *next = at;
    if (at == limit)
        return place;
    place.after = utf8_next(next, limit);
    place.last =
        (*next == limit && is_line_end(place.after) && !(before == '\r' && place.after == '\n')) ||
        (place.after == '\r' && limit - *next == 1 && **next == '\n');
    return place;
}

static bool
holds(enum regex_step_kind kind, const struct place *place)
{
    bool edge;

    switch (kind) {
    case REGEX_BEGIN:
        return place->before == NO_CHARACTER;
    case REGEX_END:
        return place->last;
    case REGEX_VERY_END:
        return place->after == NO_CHARACTER;
    default:
        edge = (place->before != NO_CHARACTER && is_word(place->before)) !=
               (place->after != NO_CHARACTER && is_word(place->after));
        return edge == (kind == REGEX_WORD_EDGE);
    }
}

static void
begin(struct matcher *matcher, size_t step)
{
    if (matcher->seen[step] == matcher->place_number)
        return;
    matcher->seen[step] = matcher->place_number;
    matcher->begun.steps[matcher->begun.count++] = (uint16_t)step;
}

static size_t
target(size_t step, int32_t distance)
{
    return (size_t)((ptrdiff_t)step + distance);
}

/* Follow jumps and conditions from where states have begun, to steps that take a character. True: the expression matches. */
static bool
follow(struct matcher *matcher, const struct place *place)
{
    matcher->here.count = 0;
    while (matcher->begun.count > 0) {
        size_t at = matcher->begun.steps[--matcher->begun.count];
        const struct regex_step *step = &matcher->regex->steps[at];

        switch (step->kind) {
        case REGEX_MATCH:
            return true;
        case REGEX_CHARACTER:
        case REGEX_ANY:
        case REGEX_CLASS:
            matcher->here.steps[matcher->here.count++] = (uint16_t)at;
            break;
        case REGEX_SPLIT:
            begin(matcher, target(at, step->first));
            begin(matcher, target(at, step->second));
            break;
        case REGEX_JUMP:
            begin(matcher, target(at, step->first));
            break;
        default:
            if (holds(step->kind, place))
                begin(matcher, at + 1);
        }
    }
    return false;
}

bool
regex_find(const struct regex *regex, petal_slice text)
{
    const uint8_t *at = text.size > 0 ? text.data : (const uint8_t *)"";
    const uint8_t *limit = at + text.size;
    uint32_t before = NO_CHARACTER;
    struct matcher matcher;

    matcher.regex = regex;
    matcher.begun.count = 0;
    matcher.place_number = 1;
    memset(matcher.seen, 0, regex->step_count * sizeof matcher.seen[0]);
    for (;;) {
        const uint8_t *next;
        struct place place = look(at, limit, before, &next);

        begin(&matcher, 0); /* a match may begin anywhere */
        if (follow(&matcher, &place))
            return true;
        if (at == limit)
            return false;
        matcher.place_number++;
        for (size_t i = 0; i < matcher.here.count; i++) {
            size_t step = matcher.here.steps[i];

            if (takes(regex, &regex->steps[step], place.after))
                begin(&matcher, step + 1);
        }
        before = place.after;
        at = next;
    }
}
