/*
 * places_test.c -- bytes in wrong places: files cut at every length, sectors zeroed, exchanged,
 * from other files and from earlier versions of the same one; files exchanged, missing, replaced by
 * those of another database, and files that do not belong there.
 */

#include "tests/damage/manifest_promise.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

struct places {
    struct sweep sweep;
    struct manifest_references references;
    struct gallery foreign; /* another database, whose files have the same names */
    uint8_t *bytes;         /* room for a mutant */
    uint64_t seen;          /* mutants, tried or not */
};

/* Of so many mutants one is tried, of so many of these one lives on. */
static unsigned
stride(void)
{
    return test_short() ? 41 : 1;
}

static unsigned
lives_among(void)
{
    return test_long() ? 31 : 257;
}

/* With these bytes in the file's place. */
static void
try_bytes(struct places *places, const struct sweep_file *file, const char *what, uint64_t at,
          const uint8_t *bytes, size_t size)
{
    struct sweep *sweep = &places->sweep;

    if (size == file->size && memcmp(bytes, file->bytes, size) == 0)
        return;
    if ((places->seen++ + sweep->gallery.seed) % stride() != 0)
        return;
    sweep_begin(sweep, file, what, at, bytes, size);
    if (file->kind == MANIFEST_FILE) {
        manifest_promise_check(&places->references, sweep, file, bytes, size, sweep_usual_share());
    } else {
        sweep->all_is_told = true;
        sweep_ask_anew(sweep, file, sweep_usual_share());
        if (sweep->turn % lives_among() == 0)
            sweep_live(sweep, file, (struct sweep_share){8, 97});
    }
    sweep_end(sweep, file);
}

static void
cut(struct places *places, const struct sweep_file *file)
{
    for (size_t size = 0; size < file->size; size++)
        try_bytes(places, file, "cut", size, file->bytes, size);
}

static void
lengthen(struct places *places, const struct sweep_file *file)
{
    static const size_t more[] = {1, 7, 8, 24, 512, 4096};

    memcpy(places->bytes, file->bytes, file->size);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        memset(places->bytes + file->size, 0, more[i]);
        try_bytes(places, file, "zeros behind", more[i], places->bytes, file->size + more[i]);
        memset(places->bytes + file->size, 0xA7, more[i]);
        try_bytes(places, file, "noise behind", more[i], places->bytes, file->size + more[i]);
    }
}

/* A sector of the file becomes that of other bytes, as far as they have it; zeros otherwise. */
static void
try_sector(struct places *places, const struct sweep_file *file, const char *what, size_t at,
           size_t size, const uint8_t *from, size_t left)
{
    memcpy(places->bytes, file->bytes, file->size);
    memset(places->bytes + at, 0, size);
    if (left > 0)
        memcpy(places->bytes + at, from, left < size ? left : size);
    try_bytes(places, file, what, at, places->bytes, file->size);
}

/* Each sector from another file at the same place, and all of them from some place on. */
static void
mix(struct places *places, const struct sweep_file *file, const char *what, size_t sector,
    const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < file->size; at += sector) {
        size_t length = file->size - at < sector ? file->size - at : sector;

        try_sector(places, file, what, at, length, bytes + (at < size ? at : 0),
                   at < size ? size - at : 0);
        if (at >= size)
            continue;
        memcpy(places->bytes, file->bytes, at);
        memcpy(places->bytes + at, bytes + at, size - at);
        try_bytes(places, file, what, at, places->bytes, size);
    }
}

/* Zeroed, and exchanged with each other one of the file. */
static void
move_sectors(struct places *places, const struct sweep_file *file, size_t sector)
{
    for (size_t at = 0; at < file->size; at += sector) {
        size_t size = file->size - at < sector ? file->size - at : sector;

        try_sector(places, file, "sector zeroed", at, size, NULL, 0);
        for (size_t from = 0; from + size <= file->size; from += sector) {
            try_sector(places, file, "sector of another place", at, size, file->bytes + from, size);
            memcpy(places->bytes, file->bytes, file->size);
            memcpy(places->bytes + at, file->bytes + from, size);
            memcpy(places->bytes + from, file->bytes + at, size);
            try_bytes(places, file, "sectors exchanged", at, places->bytes, file->size);
        }
    }
}

static void
mix_with_others(struct places *places, const struct sweep_file *file, size_t sector)
{
    const struct sweep *sweep = &places->sweep;
    uint8_t *bytes;
    size_t size;

    for (size_t i = 0; i < sweep->file_count; i++) {
        if (sweep->files[i].kind == file->kind)
            mix(places, file, "sector of another file", sector, sweep->files[i].bytes,
                sweep->files[i].size);
    }
    for (size_t i = 0; i < sweep->gallery.stage_count; i++) {
        if (memory_vfs_read_file(sweep->gallery.stages[i], file->path, &bytes, &size) == 0)
            mix(places, file, "older sector", sector, bytes, size);
        free(bytes);
    }
    if (file->kind == STORE_FILE) {
        assert_int_equal(memory_vfs_read_file(places->foreign.vfs, file->path, &bytes, &size), 0);
        mix(places, file, "sector of another database", sector, bytes, size);
        free(bytes);
    }
}

/* A database whose manifest is missing is none to write to, and none to make anew: not one of its
 * files goes. */
static void
refuse_to_begin_anew(struct places *places, const struct sweep_file *file)
{
    struct sweep *sweep = &places->sweep;

    for (int create = 0; create < 2; create++) {
        struct visit visit;
        petal_error error;

        visit_init(&visit, &sweep->gallery, memory_vfs_clone(sweep->vfs));
        visit.fixture.options.create = create == 1;
        assert_int_equal(visit_open(&visit, FIXTURE_DIRECTORY, &error), PETAL_CORRUPT);
        assert_string_equal(error.file, file->path);
        for (size_t i = 0; i < sweep->file_count; i++) {
            if (&sweep->files[i] != file)
                assert_true(memory_vfs_exists(visit.fixture.vfs, sweep->files[i].path));
        }
        visit_fini(&visit);
        memory_vfs_free(visit.fixture.vfs);
    }
}

static void
try_missing(struct places *places, const struct sweep_file *file)
{
    struct sweep *sweep = &places->sweep;

    sweep_begin(sweep, file, "missing", 0, file->bytes, file->size);
    assert_int_equal(vfs_remove(memory_vfs_table(sweep->vfs), file->path), 0);
    if (file->kind == STORE_FILE)
        sweep_ask_anew(sweep, file, (struct sweep_share){1, 7});
    else
        sweep_expect_refusal(sweep, file);
    if (file->kind == MANIFEST_FILE)
        refuse_to_begin_anew(places, file);
    if (file->kind == STORE_FILE)
        sweep_live(sweep, file, (struct sweep_share){1, 7});
    sweep_end(sweep, file);
}

/* Two store files have each other's name. */
static void
exchange(struct places *places, const struct sweep_file *file, const struct sweep_file *other)
{
    struct sweep *sweep = &places->sweep;

    sweep_begin(sweep, file, "exchanged with another", 0, other->bytes, other->size);
    sweep->other = other;
    assert_int_equal(memory_vfs_write_file(sweep->vfs, other->path, file->bytes, file->size), 0);
    sweep_ask_anew(sweep, file, (struct sweep_share){1, 31});
    assert_int_equal(memory_vfs_write_file(sweep->vfs, other->path, other->bytes, other->size), 0);
    sweep_end(sweep, file);
}

static void
begin(struct places *places)
{
    struct sweep *sweep = &places->sweep;
    uint64_t seed = test_seed();

    *places = (struct places){.seen = 0};
    sweep_init(sweep, seed, test_long() ? 4 : 1);
    gallery_make(&places->foreign, seed + 1, sweep->gallery.scale);
    places->bytes = test_allocate((size_t)1 << 20);
    for (size_t i = 0; i < sweep->file_count; i++) {
        if (sweep->files[i].kind == MANIFEST_FILE)
            manifest_references_make(&places->references, sweep, &sweep->files[i]);
    }
}

static void
end(struct places *places, const char *what, double began)
{
    sweep_print(&places->sweep, what, test_seconds_used() - began);
    manifest_references_free(&places->references);
    gallery_free(&places->foreign);
    sweep_fini(&places->sweep);
    free(places->bytes);
}

static bool
is_swept(const struct sweep_file *file)
{
    return file->kind == MANIFEST_FILE ||
           (file->kind == STORE_FILE && file->family < GALLERY_FAMILIES);
}

TEST(every_length)
{
    double began = test_seconds_used();
    struct places places;

    begin(&places);
    for (size_t i = 0; i < places.sweep.file_count; i++) {
        if (!is_swept(&places.sweep.files[i]))
            continue;
        cut(&places, &places.sweep.files[i]);
        lengthen(&places, &places.sweep.files[i]);
    }
    end(&places, "lengths", began);
}

TEST(every_sector)
{
    static const size_t sectors[] = {512, 4096};
    double began = test_seconds_used();
    struct places places;

    begin(&places);
    for (size_t i = 0; i < places.sweep.file_count; i++) {
        for (size_t s = 0; is_swept(&places.sweep.files[i]) && s < 2; s++) {
            move_sectors(&places, &places.sweep.files[i], sectors[s]);
            mix_with_others(&places, &places.sweep.files[i], sectors[s]);
        }
    }
    end(&places, "sectors", began);
}

TEST(whole_files)
{
    double began = test_seconds_used();
    struct places places;
    struct sweep *sweep = &places.sweep;

    begin(&places);
    for (size_t i = 0; i < sweep->file_count; i++) {
        if (!is_swept(&sweep->files[i]))
            continue;
        try_missing(&places, &sweep->files[i]);
        for (size_t k = 0; k < i; k++) {
            if (is_swept(&sweep->files[k]) && sweep->files[i].kind == STORE_FILE &&
                sweep->files[k].kind == STORE_FILE)
                exchange(&places, &sweep->files[i], &sweep->files[k]);
        }
    }
    end(&places, "whole files", began);
}

/* Files that nothing names: whatever they hold, they change no answer. */
TEST(files_that_do_not_belong_there)
{
    static const char *const names[] = {
        "MANIFEST.tmp",
        "999999.sst",
        "000003.sst",
        "000001.log",
        "999998.log",
        "LOCK",
        "CURRENT",
        "1.sst",
        "x.log",
        "0000001.sst",
        "18446744073709551615.log",
        ".sst",
        "-1.log",
    };
    double began = test_seconds_used();
    struct places places;
    struct sweep *sweep = &places.sweep;
    uint64_t tried = 0;

    begin(&places);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        for (size_t i = 0; i < sweep->file_count; i++) {
            const struct sweep_file *from = &sweep->files[i];
            struct sweep_file extra = {.path = test_path(FIXTURE_DIRECTORY, names[n]),
                                       .kind = OTHER_FILE,
                                       .family = GALLERY_FAMILIES};
            bool there = memory_vfs_exists(sweep->vfs, extra.path);

            /* A log is not looked at when the manifest is past its number. */
            if (strcmp(names[n], "999998.log") == 0 && from->kind == LOG_FILE) {
                free(extra.path);
                continue;
            }
            sweep_begin(sweep, &extra, "does not belong there", i, from->bytes, from->size);
            sweep_ask_anew(sweep, &extra, (struct sweep_share){1, 29});
            sweep_live(sweep, &extra, (struct sweep_share){1, 29});
            if (there)
                sweep_end(sweep, &extra);
            else
                assert_int_equal(vfs_remove(memory_vfs_table(sweep->vfs), extra.path), 0);
            free(extra.path);
            tried++;
        }
    }
    assert_true(tried > 100);
    end(&places, "strangers", began);
}
