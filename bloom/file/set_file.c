/*
 * set_file.c -- see set_file.h.
 *
 * FILES BEING WRITTEN have random names, so only their writers rename them, and are locked. A later
 * save that gets the lock of such a file removes it: its writer has died. Or the writer has just
 * created it and not locked it yet: so a writer checks after locking that the name is still there,
 * and begins again with another if not. Without locks in the file system nothing is removed.
 */
#include "bloom/file/set_file.h"

#include "base/argument.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "base/mem.h"
#include "base/options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAGIC              "PETALSET"
#define FORMAT_VERSION     1
#define VERSION_AT         8
#define TYPE_AT            10
#define KIND_AT            11
#define LAYOUT_AT          12
#define UNUSED_AT          14
#define BODY_BYTES_AT      16
#define SALT_AT            24
#define PARAMETERS_AT      32
#define BODY_CHECKSUM_AT   96
#define HEADER_CHECKSUM_AT 104
#define HEADER_END         112

#define LAST_TYPE  PETAL_BLOOM_FILE_DISTINCT
#define FIRST_KIND PETAL_BLOOM_KIND_BLOCKED
#define LAST_KIND  PETAL_BLOOM_KIND_RIBBON

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* From here on the default allocator gives pages. */
#define OWN_PAGES_BYTES ((size_t)128 << 10)

/* Bytes are written, read and checked in pieces of so many, which stay in a processor's cache. */
#define PIECE_BYTES ((size_t)64 << 10)

_Static_assert(PIECE_BYTES % SET_FILE_PAGE_BYTES == 0, "a header fits into a piece");

static bool
is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static size_t
border_for(size_t bytes)
{
    return bytes < OWN_PAGES_BYTES ? CACHE_LINE_BYTES : MEM_PAGE_BYTES;
}

void *
set_memory(const struct env *env, size_t bytes)
{
    return mem_zalloc_aligned(env->allocator, border_for(bytes), bytes);
}

/* ---- paths ---- */

/* Why a file could not be opened, in words for what people do. */
static enum petal_status
open_failed(petal_error *error, const char *path, int failed, const char *action)
{
    const char *found = failed == EISDIR  ? "is a directory"
                        : failed == ELOOP ? "is a symbolic link, which is not followed"
                                          : "is neither a file nor a directory";

    if (failed == ENAMETOOLONG) /* the text may end within the path */
        return error_file(error, PETAL_INVALID, path,
                          "the name of the file is longer than the file system takes: cannot %s %s",
                          action, path);
    if (failed == EISDIR || failed == ELOOP || failed == EINVAL)
        return error_file(error, PETAL_INVALID, path, "cannot %s %s: it %s", action, path, found);
    return error_io(error, path, failed, action);
}

enum petal_status
set_file_directory_failed(petal_error *error, const char *file, const char *directory, int failed)
{
    if (failed == ENOENT)
        return error_file(error, PETAL_NOT_FOUND, file, "there is no directory %s", directory);
    if (failed == ENAMETOOLONG)
        return error_file(error, PETAL_INVALID, file,
                          "the path of the directory, or a name in it, is longer than the file "
                          "system takes: %s",
                          directory);
    return error_io(error, directory, failed, "open the directory");
}

/* The last part of a path; NULL and the error: it has none. */
static const char *
name_of(const char *path, petal_error *error)
{
    const char *slash, *name;

    if (path == NULL || path[0] == '\0') {
        error_set(error, PETAL_INVALID, "the path of a file is empty");
        return NULL;
    }
    slash = strrchr(path, '/');
    name = slash == NULL ? path : slash + 1;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        error_file(error, PETAL_INVALID, path, "%s is the path of a directory, not of a file",
                   path);
        return NULL;
    }
    return name;
}

/* Open what leads to the name in the path. */
static enum petal_status
open_directory(const struct env *env, const char *path, const char *name,
               petal_directory **directory, petal_error *error)
{
    size_t length = (size_t)(name - path);
    char *parent = mem_alloc(env->allocator, length + 2);
    enum petal_status status = PETAL_OK;
    int failed;

    if (parent == NULL)
        return error_no_memory(error);
    memcpy(parent, path, length);
    memcpy(parent + length, length == 0 ? "." : "", length == 0 ? 2 : 1);
    failed = env->vfs->open_directory(env->vfs->context, parent, false, directory);
    if (failed != 0)
        status = set_file_directory_failed(error, path, parent, failed);
    mem_free(env->allocator, parent, length + 2);
    return status;
}

/* ---- writing ---- */

#define MARK ".saving-"
/* Of the file's name so much is kept, so that its own has no more than the 255 bytes that a name
 * may have. */
#define MOST_KEPT_BYTES        200
#define RANDOM_DIGITS          16
#define TEMPORARY_BYTES        (1 + MOST_KEPT_BYTES + sizeof MARK - 1 + RANDOM_DIGITS + 1)
#define MOST_TRIES             16
#define MOST_LEFTOVERS_AT_ONCE 16

struct set_file_writer {
    struct checksum_stream checksum; /* of the body before the piece */
    struct env env;
    const char *path, *name; /* a copy, which the writer owns, and its last part */
    size_t path_bytes;
    petal_directory *directory;
    petal_file *file;                /* NULL: not open */
    char temporary[TEMPORARY_BYTES]; /* the file's name; "": it has none */
    uint64_t body_bytes;             /* before the piece */
    bool ends_in_hole;               /* what was appended last was not written */
    size_t used;                     /* of the piece */
    uint8_t piece[PIECE_BYTES];
};

/* What all names of files for saving `name` begin with; the length. UTF-8 is not cut within a
 * character. */
static size_t
temporary_prefix(const char *name, char prefix[TEMPORARY_BYTES])
{
    size_t kept = strlen(name);

    if (kept > MOST_KEPT_BYTES) {
        kept = MOST_KEPT_BYTES;
        while (kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80)
            kept--;
    }
    return (size_t)snprintf(prefix, TEMPORARY_BYTES, ".%.*s" MARK, (int)kept, name);
}

struct leftovers {
    char prefix[TEMPORARY_BYTES];
    size_t prefix_bytes;
    char names[MOST_LEFTOVERS_AT_ONCE][TEMPORARY_BYTES];
    size_t count;
};

static void
note_leftover(void *argument, const char *name)
{
    struct leftovers *found = argument;

    if (found->count == MOST_LEFTOVERS_AT_ONCE ||
        strlen(name) != found->prefix_bytes + RANDOM_DIGITS ||
        strncmp(name, found->prefix, found->prefix_bytes) != 0 ||
        strspn(name + found->prefix_bytes, "0123456789abcdef") != RANDOM_DIGITS)
        return;
    memcpy(found->names[found->count++], name, found->prefix_bytes + RANDOM_DIGITS + 1);
}

/* Take away what writers of this file left that have died. What cannot be is left. */
static void
remove_leftovers(const struct set_file_writer *writer)
{
    const petal_vfs *vfs = writer->env.vfs;
    struct leftovers found;

    found.prefix_bytes = temporary_prefix(writer->name, found.prefix);
    found.count = 0;
    if (vfs->list_directory(vfs->context, writer->directory, note_leftover, &found) != 0)
        return;
    for (size_t i = 0; i < found.count; i++) {
        petal_file *file;

        if (vfs->open(vfs->context, writer->directory, found.names[i],
                      PETAL_FILE_READ | PETAL_FILE_WRITE, &file) != 0)
            continue;
        if (vfs->lock(vfs->context, file, 0, 0, PETAL_LOCK_EXCLUSIVE) == 0)
            (void)vfs->remove(vfs->context, writer->directory, found.names[i]);
        (void)vfs->close(vfs->context, file);
    }
}

/* Whatever is at the path must be a file, which the new one replaces: a device is not to be lost by
 * it, nor a place that a link leads to. */
static enum petal_status
check_place(const struct set_file_writer *writer, petal_error *error)
{
    const petal_vfs *vfs = writer->env.vfs;
    petal_file *file;
    int failed = vfs->open(vfs->context, writer->directory, writer->name, PETAL_FILE_READ, &file);

    if (failed == 0)
        (void)vfs->close(vfs->context, file);
    if (failed == 0 || failed == ENOENT || failed == EACCES) /* it need not be readable */
        return PETAL_OK;
    return open_failed(error, writer->path, failed, "replace");
}

/* Forget the file, and take its name away. */
static void
drop_file(struct set_file_writer *writer)
{
    const petal_vfs *vfs = writer->env.vfs;

    if (writer->temporary[0] != '\0')
        (void)vfs->remove(vfs->context, writer->directory, writer->temporary);
    if (writer->file != NULL)
        (void)vfs->close(vfs->context, writer->file);
    writer->temporary[0] = '\0';
    writer->file = NULL;
}

/* Make a file of a new name and lock it. EAGAIN: another name should be tried. */
static int
try_temporary(struct set_file_writer *writer)
{
    const petal_vfs *vfs = writer->env.vfs;
    char name[TEMPORARY_BYTES];
    size_t length = temporary_prefix(writer->name, name);
    petal_file *again;
    int failed;

    snprintf(name + length, sizeof name - length, "%016" PRIx64, env_random(&writer->env));
    failed =
        vfs->open(vfs->context, writer->directory, name,
                  PETAL_FILE_READ | PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE,
                  &writer->file);
    if (failed != 0) {
        writer->file = NULL;
        return failed == EEXIST ? EAGAIN : failed;
    }
    memcpy(writer->temporary, name, sizeof name);
    failed = vfs->lock(vfs->context, writer->file, 0, 0, PETAL_LOCK_EXCLUSIVE);
    if (failed != 0)
        return failed == EAGAIN ? EAGAIN : 0; /* without locks: nobody else gets one */
    failed = vfs->open(vfs->context, writer->directory, name, PETAL_FILE_READ, &again);
    if (failed == 0)
        (void)vfs->close(vfs->context, again);
    return failed == ENOENT ? EAGAIN : failed;
}

static enum petal_status
open_temporary(struct set_file_writer *writer, petal_error *error)
{
    int failed = EAGAIN;

    for (int try = 0; try < MOST_TRIES && failed == EAGAIN; try++) {
        failed = try_temporary(writer);
        if (failed != 0)
            drop_file(writer);
    }
    if (failed == 0)
        return PETAL_OK;
    return error_io(error, writer->path, failed, "create a file beside");
}

enum petal_status
set_file_create(const struct env *env, const char *path, struct set_file_writer **writer,
                petal_error *error)
{
    const char *name = name_of(path, error);
    struct set_file_writer *made;
    enum petal_status status;
    size_t path_bytes;
    char *copy;

    *writer = NULL;
    if (name == NULL)
        return PETAL_INVALID;
    path_bytes = strlen(path) + 1;
    made = mem_alloc_aligned(env->allocator, alignof(struct set_file_writer),
                             sizeof *made + path_bytes);
    if (made == NULL)
        return error_no_memory(error);
    copy = (char *)(made + 1);
    memcpy(copy, path, path_bytes);
    made->env = *env;
    made->path = copy;
    made->name = copy + (name - path);
    made->path_bytes = path_bytes;
    made->directory = NULL;
    made->file = NULL;
    made->temporary[0] = '\0';
    made->body_bytes = 0;
    made->ends_in_hole = false;
    made->used = 0;
    checksum_begin(&made->checksum);
    status = open_directory(env, made->path, made->name, &made->directory, error);
    if (status == PETAL_OK)
        status = check_place(made, error);
    if (status == PETAL_OK) {
        remove_leftovers(made);
        status = open_temporary(made, error);
    }
    if (status != PETAL_OK) {
        set_file_abandon(made);
        return status;
    }
    *writer = made;
    return PETAL_OK;
}

void
set_file_abandon(struct set_file_writer *writer)
{
    const petal_allocator *allocator;

    if (writer == NULL)
        return;
    allocator = writer->env.allocator;
    if (writer->directory != NULL) {
        drop_file(writer);
        writer->env.vfs->close_directory(writer->env.vfs->context, writer->directory);
    }
    mem_free(allocator, writer, sizeof *writer + writer->path_bytes);
}

static enum petal_status
write_at(struct set_file_writer *writer, uint64_t offset, const void *bytes, size_t size,
         petal_error *error)
{
    const petal_vfs *vfs = writer->env.vfs;
    int failed = vfs->write_at(vfs->context, writer->file, offset, bytes, size);

    return failed == 0 ? PETAL_OK : error_io(error, writer->path, failed, "write");
}

/* A whole piece of zeros becomes a hole. */
static enum petal_status
write_piece(struct set_file_writer *writer, petal_error *error)
{
    uint64_t offset = SET_FILE_PAGE_BYTES + writer->body_bytes;
    size_t size = writer->used;

    checksum_update(&writer->checksum, writer->piece, size);
    writer->body_bytes += size;
    writer->used = 0;
    writer->ends_in_hole = size == PIECE_BYTES && is_zero(writer->piece, size);
    return writer->ends_in_hole ? PETAL_OK : write_at(writer, offset, writer->piece, size, error);
}

enum petal_status
set_file_append(struct set_file_writer *writer, const void *from, uint64_t size, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    const uint8_t *bytes = from;

    while (size > 0 && status == PETAL_OK) {
        size_t room = PIECE_BYTES - writer->used;
        size_t taken = size < room ? (size_t)size : room;

        if (bytes == NULL)
            memset(writer->piece + writer->used, 0, taken);
        else
            memcpy(writer->piece + writer->used, bytes, taken);
        writer->used += taken;
        bytes = bytes == NULL ? NULL : bytes + taken;
        size -= taken;
        if (writer->used == PIECE_BYTES)
            status = write_piece(writer, error);
    }
    return status;
}

/* What is left of the body; a hole at its end is none of the file until something is after it. */
static enum petal_status
end_body(struct set_file_writer *writer, petal_error *error)
{
    static const uint8_t zero = 0;

    if (writer->used > 0)
        return write_piece(writer, error);
    if (writer->ends_in_hole)
        return write_at(writer, SET_FILE_PAGE_BYTES + writer->body_bytes - 1, &zero, 1, error);
    return PETAL_OK;
}

static enum petal_status
write_header(struct set_file_writer *writer, const struct set_file_head *head, petal_error *error)
{
    uint8_t *header = writer->piece;

    assert(writer->used == 0);
    memset(header, 0, SET_FILE_PAGE_BYTES);
    memcpy(header, MAGIC, sizeof MAGIC - 1);
    put_le16(header + VERSION_AT, FORMAT_VERSION);
    header[TYPE_AT] = (uint8_t)head->type;
    header[KIND_AT] = head->kind;
    put_le16(header + LAYOUT_AT, head->layout);
    put_le64(header + BODY_BYTES_AT, writer->body_bytes);
    put_le64(header + SALT_AT, head->salt);
    for (size_t i = 0; i < SET_FILE_PARAMETERS; i++)
        put_le64(header + PARAMETERS_AT + 8 * i, head->parameters[i]);
    put_le64(header + BODY_CHECKSUM_AT, checksum_end(&writer->checksum));
    put_le64(header + HEADER_CHECKSUM_AT, checksum_at(0, 0, header, HEADER_CHECKSUM_AT));
    return write_at(writer, 0, header, SET_FILE_PAGE_BYTES, error);
}

/* Make the file durable and give it its name. It stays open, and so locked, until it has that. */
static enum petal_status
name_file(struct set_file_writer *writer, petal_error *error)
{
    const petal_vfs *vfs = writer->env.vfs;
    int failed = vfs->sync(vfs->context, writer->file);

    if (failed != 0)
        return error_io(error, writer->path, failed, "sync");
    failed = vfs->rename(vfs->context, writer->directory, writer->temporary, writer->name);
    if (failed != 0)
        return error_io(error, writer->path, failed, "replace");
    writer->temporary[0] = '\0';
    failed = vfs->sync_directory(vfs->context, writer->directory);
    if (failed != 0)
        return error_unknown(error, writer->path, failed, "sync the directory of");
    return PETAL_OK;
}

enum petal_status
set_file_finish(struct set_file_writer *writer, const struct set_file_head *head,
                petal_error *error)
{
    enum petal_status status = end_body(writer, error);

    assert(head->type >= PETAL_BLOOM_FILE_FILTER && head->type <= LAST_TYPE);
    assert((head->kind != 0) == (head->type == PETAL_BLOOM_FILE_FILTER));
    if (status == PETAL_OK)
        status = write_header(writer, head, error);
    if (status == PETAL_OK)
        status = name_file(writer, error);
    set_file_abandon(writer); /* of what is synced its closing tells nothing */
    return status;
}

/* ---- reading ---- */

static const char *
type_text(enum petal_bloom_file_type type)
{
    switch (type) {
    case PETAL_BLOOM_FILE_FILTER:
        return "a filter";
    case PETAL_BLOOM_FILE_BITMAP:
        return "a bitmap";
    case PETAL_BLOOM_FILE_BITMAP2:
        return "a bitmap with two bits a number";
    case PETAL_BLOOM_FILE_DISTINCT:
        return "a count of distinct keys";
    }
    return "something else";
}

/* A file that is being read. */
struct set_reader {
    struct env env;
    const char *path;
    petal_file *file;
    uint64_t bytes; /* of the file */
    struct set_file_head head;
    uint64_t body_bytes;
    uint64_t body_checksum; /* that it should have */
};

static enum petal_status
open_file(struct set_reader *reader, petal_error *error)
{
    const petal_vfs *vfs = reader->env.vfs;
    const char *name = name_of(reader->path, error);
    petal_directory *directory;
    enum petal_status status;
    int failed;

    if (name == NULL)
        return PETAL_INVALID;
    status = open_directory(&reader->env, reader->path, name, &directory, error);
    if (status != PETAL_OK)
        return status;
    failed = vfs->open(vfs->context, directory, name, PETAL_FILE_READ, &reader->file);
    vfs->close_directory(vfs->context, directory);
    if (failed == ENOENT)
        return error_file(error, PETAL_NOT_FOUND, reader->path, "there is no file %s",
                          reader->path);
    if (failed != 0)
        return open_failed(error, reader->path, failed, "read");
    failed = vfs->size(vfs->context, reader->file, &reader->bytes);
    if (failed == 0)
        return PETAL_OK;
    (void)vfs->close(vfs->context, reader->file);
    return error_io(error, reader->path, failed, "ask the size of");
}

static void
close_file(struct set_reader *reader)
{
    (void)reader->env.vfs->close(reader->env.vfs->context, reader->file); /* it was only read */
}

/* All bytes or an error. */
static enum petal_status
read_at(const struct set_reader *reader, uint64_t offset, void *bytes, size_t size,
        petal_error *error)
{
    const petal_vfs *vfs = reader->env.vfs;
    size_t got = 0;
    int failed = vfs->read_at(vfs->context, reader->file, offset, bytes, size, &got);

    if (failed != 0)
        return error_io(error, reader->path, failed, "read");
    if (got < size)
        return error_corrupt(error, reader->path, offset + got,
                             "the file was cut while it was read: it ends at byte %" PRIu64,
                             offset + got);
    return PETAL_OK;
}

/* The part of the header that all versions have. */
static enum petal_status
check_version(const struct set_reader *reader, const uint8_t *header, petal_error *error)
{
    uint16_t version = get_le16(header + VERSION_AT);

    if (version == FORMAT_VERSION)
        return PETAL_OK;
    if (version == (uint16_t)(FORMAT_VERSION << 8))
        return error_file(error, PETAL_UNSUPPORTED, reader->path,
                          "the file has the byte order of another machine: its numbers are big "
                          "endian");
    return error_file(error, PETAL_UNSUPPORTED, reader->path,
                      "the file has version %u of the format, this library reads version %u",
                      version, FORMAT_VERSION);
}

/* What its bytes mean, once they are known to be those that were written. */
static enum petal_status
check_head(const struct set_reader *reader, petal_error *error)
{
    const struct set_file_head *head = &reader->head;

    if (head->type < PETAL_BLOOM_FILE_FILTER || head->type > LAST_TYPE)
        return error_file(error, PETAL_UNSUPPORTED, reader->path,
                          "the file holds a set of type %u, which this library does not know",
                          (unsigned)head->type);
    if (head->type != PETAL_BLOOM_FILE_FILTER && head->kind != 0)
        return error_corrupt(error, reader->path, KIND_AT,
                             "the header of %.40s names kind %u of a filter", type_text(head->type),
                             head->kind);
    if (head->type == PETAL_BLOOM_FILE_FILTER &&
        (head->kind < FIRST_KIND || head->kind > LAST_KIND))
        return error_file(error, PETAL_UNSUPPORTED, reader->path,
                          "the file holds a filter of kind %u, which this library does not know",
                          head->kind);
    return PETAL_OK;
}

static enum petal_status
check_length(const struct set_reader *reader, petal_error *error)
{
    uint64_t behind = reader->bytes - SET_FILE_PAGE_BYTES;

    if (behind < reader->body_bytes)
        return error_corrupt(error, reader->path, reader->bytes,
                             "the file is cut: %" PRIu64 " bytes are there of a body of %" PRIu64,
                             behind, reader->body_bytes);
    if (behind > reader->body_bytes)
        return error_corrupt(error, reader->path, SET_FILE_PAGE_BYTES + reader->body_bytes,
                             "the file goes on behind its body for %" PRIu64 " bytes",
                             behind - reader->body_bytes);
    return PETAL_OK;
}

static void
take_head(struct set_reader *reader, const uint8_t *header)
{
    reader->head.type = (enum petal_bloom_file_type)header[TYPE_AT];
    reader->head.kind = header[KIND_AT];
    reader->head.layout = get_le16(header + LAYOUT_AT);
    reader->head.salt = get_le64(header + SALT_AT);
    for (size_t i = 0; i < SET_FILE_PARAMETERS; i++)
        reader->head.parameters[i] = get_le64(header + PARAMETERS_AT + 8 * i);
    reader->body_bytes = get_le64(header + BODY_BYTES_AT);
    reader->body_checksum = get_le64(header + BODY_CHECKSUM_AT);
}

static enum petal_status
check_header(struct set_reader *reader, const uint8_t *header, petal_error *error)
{
    uint64_t checksum = checksum_at(0, 0, header, HEADER_CHECKSUM_AT);
    uint64_t expected = get_le64(header + HEADER_CHECKSUM_AT);
    enum petal_status status;

    if (checksum != expected)
        return error_corrupt(error, reader->path, 0,
                             "the checksum of the header, bytes 0 to %d, is %016" PRIx64
                             ", it should be %016" PRIx64,
                             HEADER_CHECKSUM_AT - 1, checksum, expected);
    if (get_le16(header + UNUSED_AT) != 0)
        return error_corrupt(error, reader->path, UNUSED_AT,
                             "bytes of the header that should be 0 are not");
    if (!is_zero(header + HEADER_END, SET_FILE_PAGE_BYTES - HEADER_END))
        return error_corrupt(error, reader->path, HEADER_END,
                             "bytes of the header that should be 0 are not");
    take_head(reader, header);
    status = check_head(reader, error);
    return status == PETAL_OK ? check_length(reader, error) : status;
}

static enum petal_status
read_header(struct set_reader *reader, petal_error *error)
{
    uint8_t header[SET_FILE_PAGE_BYTES] = {0};
    size_t there = reader->bytes < sizeof header ? (size_t)reader->bytes : sizeof header;
    enum petal_status status = read_at(reader, 0, header, there, error);

    if (status != PETAL_OK)
        return status;
    if (memcmp(header, MAGIC, sizeof MAGIC - 1) != 0)
        return error_corrupt(
            error, reader->path, 0,
            "this is not a file of a filter, a bitmap or a count: it does not begin "
            "with " MAGIC);
    if (there >= TYPE_AT) {
        status = check_version(reader, header, error);
        if (status != PETAL_OK)
            return status;
    }
    if (there < sizeof header)
        return error_corrupt(error, reader->path, there,
                             "the file is cut in its header: it has %zu bytes", there);
    return check_header(reader, header, error);
}

/* A body of `type` and no other. */
static enum petal_status
check_type(const struct set_reader *reader, enum petal_bloom_file_type type, petal_error *error)
{
    if (reader->head.type == type)
        return PETAL_OK;
    return error_file(error, PETAL_INVALID, reader->path, "the file holds %.40s, not %.40s",
                      type_text(reader->head.type), type_text(type));
}

/* Read the body through `piece`, to `body` unless that is NULL, and compare its checksum. Pieces of
 * zeros are not stored: `body` has them. */
static enum petal_status
read_body(const struct set_reader *reader, uint8_t *piece, uint8_t *body, petal_error *error)
{
    struct checksum_stream checksum;
    uint64_t found;

    checksum_begin(&checksum);
    for (uint64_t done = 0; done < reader->body_bytes;) {
        uint64_t left = reader->body_bytes - done;
        size_t size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        enum petal_status status = read_at(reader, SET_FILE_PAGE_BYTES + done, piece, size, error);

        if (status != PETAL_OK)
            return status;
        checksum_update(&checksum, piece, size);
        if (body != NULL && !is_zero(piece, size))
            memcpy(body + done, piece, size);
        done += size;
    }
    found = checksum_end(&checksum);
    if (found == reader->body_checksum)
        return PETAL_OK;
    return error_corrupt(error, reader->path, SET_FILE_PAGE_BYTES,
                         "the checksum of the body, from byte %zu on, is %016" PRIx64
                         ", it should be %016" PRIx64,
                         (size_t)SET_FILE_PAGE_BYTES, found, reader->body_checksum);
}

static enum petal_status
check_body(const struct set_reader *reader, uint8_t *body, petal_error *error)
{
    uint8_t *piece = mem_alloc(reader->env.allocator, PIECE_BYTES);
    enum petal_status status;

    if (piece == NULL)
        return error_no_memory(error);
    status = read_body(reader, piece, body, error);
    mem_free(reader->env.allocator, piece, PIECE_BYTES);
    return status;
}

static enum petal_status
load_body(const struct set_reader *reader, struct set_file *file, petal_error *error)
{
    size_t bytes = (size_t)reader->body_bytes;
    enum petal_status status;
    bool is_huge;

    if (reader->body_bytes == 0)
        return check_body(reader, NULL, error);
    /* A filter's questions go anywhere; a bitmap may be mostly holes, which huge pages would
     * fill. */
    is_huge = reader->head.type == PETAL_BLOOM_FILE_FILTER && bytes >= HUGE_PAGE_BYTES;
    file->body = mem_zalloc_aligned(reader->env.allocator,
                                    is_huge ? HUGE_PAGE_BYTES : border_for(bytes), bytes);
    if (file->body == NULL)
        return error_no_memory(error);
    if (is_huge)
        mem_advise_huge_pages(reader->env.allocator, file->body, bytes, true);
    status = check_body(reader, file->body, error);
    if (status != PETAL_OK)
        mem_free(reader->env.allocator, file->body, (size_t)reader->body_bytes);
    return status;
}

/* The checksum is that of read bytes: reading goes ahead of what is asked for, and where it fails
 * there is an error instead of a signal. */
static enum petal_status
map_body(const struct set_reader *reader, struct set_file *file, petal_error *error)
{
    const petal_vfs *vfs = reader->env.vfs;
    enum petal_status status = check_body(reader, NULL, error);
    const void *memory;
    int failed;

    if (status != PETAL_OK)
        return status;
    file->is_mapped = true;
    if (reader->body_bytes == 0)
        return PETAL_OK;
    if (vfs->map == NULL)
        return error_file(error, PETAL_INVALID, reader->path,
                          "this file layer (petal_vfs) cannot map files");
    failed = vfs->map(vfs->context, reader->file, reader->bytes, &memory);
    if (failed != 0)
        return error_io(error, reader->path, failed, "map");
    if ((uintptr_t)memory % sizeof(uint64_t) != 0) {
        vfs->unmap(vfs->context, memory, reader->bytes);
        return error_file(
            error, PETAL_INVALID, reader->path,
            "this file layer (petal_vfs) maps files at addresses that are not aligned");
    }
    file->body = (uint8_t *)(uintptr_t)memory + SET_FILE_PAGE_BYTES;
    return PETAL_OK;
}

/* ---- what others call ---- */

/* Open the file and believe its header; on an error there is nothing to close. */
static enum petal_status
reader_open(struct set_reader *reader, const petal_env *env, petal_error *error)
{
    enum petal_status status = env_check(env, error);

    if (status != PETAL_OK)
        return status;
    env_init(&reader->env, env);
    status = open_file(reader, error);
    if (status != PETAL_OK)
        return status;
    status = read_header(reader, error);
    if (status != PETAL_OK)
        close_file(reader);
    return status;
}

enum petal_status
set_file_open(const char *path, const petal_bloom_load_options *given,
              enum petal_bloom_file_type type, struct set_file *file, petal_error *error)
{
    struct set_reader reader = {.path = path};
    petal_bloom_load_options options;
    enum petal_status status =
        options_copy(&options, sizeof options, given, "petal_bloom_load_options", error);

    memset(file, 0, sizeof *file);
    if (status == PETAL_OK)
        status = reader_open(&reader, options.env, error);
    if (status != PETAL_OK)
        return status;
    status = check_type(&reader, type, error);
    if (status == PETAL_OK && reader.bytes > SIZE_MAX)
        status = error_no_memory(error);
    if (status == PETAL_OK)
        status = options.map ? map_body(&reader, file, error) : load_body(&reader, file, error);
    close_file(&reader);
    if (status != PETAL_OK) {
        memset(file, 0, sizeof *file);
        return status;
    }
    file->head = reader.head;
    file->body_bytes = reader.body_bytes;
    file->env = reader.env;
    return PETAL_OK;
}

void
set_file_close(struct set_file *file)
{
    const petal_vfs *vfs = file->env.vfs;

    if (file->body != NULL && file->is_mapped)
        vfs->unmap(vfs->context, file->body - SET_FILE_PAGE_BYTES,
                   file->body_bytes + SET_FILE_PAGE_BYTES);
    else if (file->body != NULL)
        mem_free(file->env.allocator, file->body, (size_t)file->body_bytes);
    memset(file, 0, sizeof *file);
}

enum petal_status
petal_bloom_file_type(const char *path, const petal_env *env, enum petal_bloom_file_type *type,
                      petal_error *error)
{
    RETURN_IF_NULL(type, error);
    *type = 0;
    RETURN_IF_NULL(path, error);

    struct set_reader reader = {.path = path};
    enum petal_status status = reader_open(&reader, env, error);

    if (status != PETAL_OK)
        return status;
    close_file(&reader);
    *type = reader.head.type;
    return PETAL_OK;
}
