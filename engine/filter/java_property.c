/* java_property.c -- see java_property.h. */
#include "engine/filter/java_property.h"

#include "base/slice.h"

#include <stdio.h>

#define CASED        "\\p{Lu}\\p{Ll}\\p{Lt}"
#define CASED_WIDELY "\\p{Lowercase}\\p{Uppercase}\\p{Lt}"
#define HIDDEN       "\\0-\\x08\\x0e-\\x1b\\x7f-\\x9f\\p{Cf}"

struct property {
    const char *name, *members;
    const char *cased; /* with ignore_case; NULL: the same */
    bool outside;
};

/* \p{name} and \p{gc=name}; names as they are. */
static const struct property general[] = {
    {"Lu", "\\p{Lu}", CASED, false},
    {"Ll", "\\p{Ll}", CASED, false},
    {"Lt", "\\p{Lt}", CASED, false},
    {"LC", CASED, NULL, false},
    {"LD", "\\p{L}\\p{Nd}", NULL, false},
    {"L1", "\\x00-\\xff", NULL, false},
    {"all", "\\x{0}-\\x{10ffff}", NULL, false},
    {"ASCII", "\\x00-\\x7f", NULL, false},
    {"Alnum", "0-9A-Za-z", NULL, false},
    {"Alpha", "A-Za-z", NULL, false},
    {"Blank", "\\t\\x20", NULL, false},
    {"Cntrl", "\\x00-\\x1f\\x7f", NULL, false},
    {"Digit", "0-9", NULL, false},
    {"Graph", "\\x21-\\x7e", NULL, false},
    {"Lower", "a-z", "A-Za-z", false},
    {"Print", "\\x20-\\x7e", NULL, false},
    {"Punct", "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e", NULL, false},
    {"Space", "\\x09-\\x0d\\x20", NULL, false},
    {"Upper", "A-Z", "A-Za-z", false},
    {"XDigit", "0-9A-Fa-f", NULL, false},
    {"javaLowerCase", "\\p{Lowercase}", CASED_WIDELY, false},
    {"javaUpperCase", "\\p{Uppercase}", CASED_WIDELY, false},
    {"javaTitleCase", "\\p{Lt}", CASED_WIDELY, false},
    {"javaAlphabetic", "\\p{Alphabetic}", NULL, false},
    {"javaIdeographic", "\\p{Ideographic}", NULL, false},
    {"javaDigit", "\\p{Nd}", NULL, false},
    {"javaDefined", "\\p{Cn}", NULL, true},
    {"javaLetter", "\\p{L}", NULL, false},
    {"javaLetterOrDigit", "\\p{L}\\p{Nd}", NULL, false},
    {"javaJavaIdentifierStart", "\\p{L}\\p{Nl}\\p{Sc}\\p{Pc}", NULL, false},
    {"javaJavaIdentifierPart", "\\p{L}\\p{Nl}\\p{Sc}\\p{Pc}\\p{Nd}\\p{Mc}\\p{Mn}" HIDDEN, NULL,
     false},
    {"javaIdentifierIgnorable", HIDDEN, NULL, false},
    {"javaSpaceChar", "\\p{Z}", NULL, false},
    {"javaWhitespace",
     "\\x09-\\x0d\\x1c-\\x20\\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{2028}\\x{2029}"
     "\\x{205f}\\x{3000}",
     NULL, false},
    {"javaUnicodeIdentifierStart", "\\p{ID_Start}", NULL, false},
    {"javaUnicodeIdentifierPart", "\\p{ID_Continue}" HIDDEN, NULL, false},
    {"javaISOControl", "\\x00-\\x1f\\x7f-\\x9f", NULL, false},
    {"javaMirrored", "\\p{Bidi_Mirrored}", NULL, false},
};

/* Those that PCRE2 calls alike. */
static const char categories[] =
    " C Cc Cf Cn Co Cs L Lm Lo M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp "
    "Zs ";

/* \p{Isname}, in any case. */
static const struct property binary[] = {
    {"ALPHABETIC", "\\p{Alphabetic}", NULL, false},
    {"ALPHA", "\\p{Alphabetic}", NULL, false},
    {"ASSIGNED", "\\p{Cn}", NULL, true},
    {"CONTROL", "\\p{Cc}", NULL, false},
    {"CNTRL", "\\p{Cc}", NULL, false},
    {"HEXDIGIT", "\\p{Nd}A-Fa-f\\x{ff21}-\\x{ff26}\\x{ff41}-\\x{ff46}", NULL, false},
    {"HEX_DIGIT", "\\p{Nd}A-Fa-f\\x{ff21}-\\x{ff26}\\x{ff41}-\\x{ff46}", NULL, false},
    {"XDIGIT", "\\p{Nd}A-Fa-f\\x{ff21}-\\x{ff26}\\x{ff41}-\\x{ff46}", NULL, false},
    {"IDEOGRAPHIC", "\\p{Ideographic}", NULL, false},
    {"JOINCONTROL", "\\x{200c}\\x{200d}", NULL, false},
    {"JOIN_CONTROL", "\\x{200c}\\x{200d}", NULL, false},
    {"LETTER", "\\p{L}", NULL, false},
    {"LOWERCASE", "\\p{Lowercase}", CASED_WIDELY, false},
    {"LOWER", "\\p{Lowercase}", CASED_WIDELY, false},
    {"NONCHARACTERCODEPOINT", "\\p{Noncharacter_Code_Point}", NULL, false},
    {"NONCHARACTER_CODE_POINT", "\\p{Noncharacter_Code_Point}", NULL, false},
    {"TITLECASE", "\\p{Lt}", CASED_WIDELY, false},
    {"PUNCTUATION", "\\p{P}", NULL, false},
    {"PUNCT", "\\p{P}", NULL, false},
    {"UPPERCASE", "\\p{Uppercase}", CASED_WIDELY, false},
    {"UPPER", "\\p{Uppercase}", CASED_WIDELY, false},
    {"WHITESPACE", "\\p{Z}\\x09-\\x0d\\x{85}", NULL, false},
    {"WHITE_SPACE", "\\p{Z}\\x09-\\x0d\\x{85}", NULL, false},
    {"SPACE", "\\p{Z}\\x09-\\x0d\\x{85}", NULL, false},
    {"WORD", "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}", NULL, false},
    {"ALNUM", "\\p{Alphabetic}\\p{Nd}", NULL, false},
    {"DIGIT", "\\p{Nd}", NULL, false},
    {"BLANK", "\\p{Zs}\\t", NULL, false},
    {"GRAPH", "\\p{Z}\\p{Cc}\\p{Cs}\\p{Cn}", NULL, true},
    {"PRINT", "\\p{Zl}\\p{Zp}\\p{Cc}\\p{Cs}\\p{Cn}", NULL, true},
};

static uint8_t
upper(uint8_t c)
{
    return c >= 'a' && c <= 'z' ? (uint8_t)(c - ('a' - 'A')) : c;
}

/* `wanted` is in capitals if any case is one. */
static bool
is_called(petal_slice name, const char *wanted, bool any_case)
{
    const uint8_t *at = slice_bytes(name);

    if (strlen(wanted) != name.size)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        if ((any_case ? upper(at[i]) : at[i]) != (uint8_t)wanted[i])
            return false;
    }
    return true;
}

static bool
find_in(const struct property *list, size_t count, petal_slice name, bool any_case,
        bool ignore_case, struct java_property *found)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_called(name, list[i].name, any_case))
            continue;
        snprintf(found->members, sizeof found->members, "%s",
                 ignore_case && list[i].cased != NULL ? list[i].cased : list[i].members);
        found->outside = list[i].outside;
        return true;
    }
    return false;
}

static bool
find_general(petal_slice name, bool ignore_case, struct java_property *found)
{
    char sought[8] = "";

    if (find_in(general, sizeof general / sizeof *general, name, false, ignore_case, found))
        return true;
    if (name.size == 0 || name.size > 2)
        return false;
    snprintf(sought, sizeof sought, " %.*s ", (int)name.size, (const char *)name.data);
    if (strstr(categories, sought) == NULL)
        return false;
    snprintf(found->members, sizeof found->members, "\\p{%.*s}", (int)name.size,
             (const char *)name.data);
    return true;
}

/* Which there are, PCRE2 knows: by their names or codes, in any case, as in Java. */
static bool
find_script(petal_slice name, struct java_property *found)
{
    const uint8_t *at = slice_bytes(name);

    for (size_t i = 0; i < name.size; i++) {
        if (at[i] != '_' && (upper(at[i]) < 'A' || upper(at[i]) > 'Z'))
            return false;
    }
    if (name.size == 0 || name.size > 40)
        return false;
    snprintf(found->members, sizeof found->members, "\\p{sc:%.*s}", (int)name.size,
             (const char *)name.data);
    return true;
}

static petal_slice
without(petal_slice name, size_t front)
{
    return slice_make((const char *)name.data + front, name.size - front);
}

const char *
java_property_find(petal_slice name, bool ignore_case, struct java_property *found)
{
    const char *start = name.data;
    const char *equals = name.size > 0 ? memchr(start, '=', name.size) : NULL;

    *found = (struct java_property){.outside = false};
    if (equals != NULL) {
        petal_slice key = slice_make(start, (size_t)(equals - start));
        petal_slice value = without(name, key.size + 1);

        if (is_called(key, "BLK", true) || is_called(key, "BLOCK", true))
            return "blocks of characters are not supported";
        if ((is_called(key, "SC", true) || is_called(key, "SCRIPT", true)) &&
            find_script(value, found))
            return NULL;
        if ((is_called(key, "GC", true) || is_called(key, "GENERAL_CATEGORY", true)) &&
            find_general(value, ignore_case, found))
            return NULL;
    } else if (name.size > 2 && memcmp(start, "In", 2) == 0) {
        return "blocks of characters are not supported";
    } else if (name.size > 2 && memcmp(start, "Is", 2) == 0) {
        petal_slice rest = without(name, 2);

        if (find_in(binary, sizeof binary / sizeof *binary, rest, true, ignore_case, found) ||
            find_general(rest, ignore_case, found) || find_script(rest, found))
            return NULL;
    } else if (find_general(name, ignore_case, found)) {
        return NULL;
    }
    return "this property of characters is not known or not supported";
}
