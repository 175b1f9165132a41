/*
 * utf8_test.c -- every character is read as it was written, what is none is taken apart as Java
 * does, and capital letters have the small ones that they have in the alphabets.
 */
#include "engine/filter/utf8.h"
#include "tests/support/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTERS 0x110000u

static size_t
write_character(uint32_t c, uint8_t *to)
{
    static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = size; i-- > 1; c >>= 6)
        to[i] = (uint8_t)(0x80 | (c & 0x3F));
    to[0] = (uint8_t)(marks[size] | c);
    return size;
}

static void
expect(const uint8_t *bytes, size_t size, uint32_t character, size_t taken)
{
    const uint8_t *at = bytes;

    assert_int_equal(utf8_next(&at, bytes + size), character);
    assert_int_equal(at - bytes, taken);
}

/* Its beginning, at the end and before a letter, is one character that is none. */
static void
expect_no_part(const uint8_t *bytes, size_t size)
{
    for (size_t part = 1; part < size; part++) {
        uint8_t cut[4];

        memcpy(cut, bytes, size);
        expect(cut, part, UTF8_REPLACEMENT, part);
        cut[part] = 'x';
        expect(cut, size, UTF8_REPLACEMENT, part);
    }
}

TEST(every_character_is_read)
{
    for (uint32_t c = 0; c < CHARACTERS; c++) {
        uint8_t bytes[4];
        size_t size = write_character(c, bytes);
        bool surrogate = c >= 0xD800 && c < 0xE000;

        expect(bytes, size, surrogate ? UTF8_REPLACEMENT : c, size);
        expect_no_part(bytes, size);
    }
}

/* Each of these bytes by itself: the first begins nothing, or nothing that the second goes on. */
TEST(what_is_no_character_is_taken_apart)
{
    static const char *const none[] = {"\x80",     "\xBF",     "\xC0\x80", "\xC1\xBF",
                                       "\xE0\x80", "\xE0\x9F", "\xF0\x80", "\xF0\x8F",
                                       "\xF4\x90", "\xF4\xBF", "\xF5\x80", "\xFF\xBF"};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        for (size_t at = 0, size = strlen(none[i]); at < size; at++)
            expect((const uint8_t *)none[i] + at, size - at, UTF8_REPLACEMENT, 1);
}

/* ---- letters ---- */

static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍ"
                               "ÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮ"
                               "İĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽΑ"
                               "ΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫЀЁЂЃЄЅІЇЈЉЊЋЌЍЎ"
                               "ЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ";
static const char smalls[] = "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìí"
                             "îïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭį"
                             "iĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžα"
                             "βγδεζηθικλμνξοπρστυφχψωϊϋѐёђѓєѕіїјљњћќѝў"
                             "џабвгдежзийклмнопрстуфхцчшщъыьэюя";

TEST(capitals_have_their_small_letters)
{
    static uint32_t lower[CHARACTERS];
    const uint8_t *capital = (const uint8_t *)capitals, *small = (const uint8_t *)smalls;
    const uint8_t *limit = capital + strlen(capitals);

    for (uint32_t c = 0; c < CHARACTERS; c++)
        lower[c] = c;
    while (capital < limit) {
        uint32_t c = utf8_next(&capital, limit);

        lower[c] = utf8_next(&small, (const uint8_t *)smalls + strlen(smalls));
    }
    for (uint32_t c = 0; c < CHARACTERS; c++)
        assert_int_equal(utf8_lower(c), lower[c]);
}
