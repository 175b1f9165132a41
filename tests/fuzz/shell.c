/*
 * shell.c -- any bytes as an input of the shell: what is parsed of it is as long as the input, and
 * places lie inside of it; a string is shown in letters that have no quote and no byte of its own.
 */
#include "tests/fuzz/target.h"
#include "tools/shell/ruby/source.h"
#include "tools/shell/session/value.h"

static void
check_shown(petal_slice bytes)
{
    struct value value = value_string(bytes);
    struct text text = {0};

    value_inspect(&text, &value);
    fuzz_must(text.size >= bytes.size + 2);
    fuzz_must(text.bytes[0] == '"' && text.bytes[text.size - 1] == '"');
    for (size_t i = 1; i + 1 < text.size; i++) {
        fuzz_must((unsigned char)text.bytes[i] >= 0x20 && text.bytes[i] != 0x7f);
        fuzz_must(text.bytes[i] != '"');
        i += text.bytes[i] == '\\';
    }
    text_free(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    petal_slice input = {size > 0 ? (const char *)bytes : "", size};
    struct source source;

    source_read(&source, input);
    fuzz_must(source.text.size == size && source.comma <= size);
    fuzz_must(source.joined.size <= size);
    if (source.joined.size > 0)
        fuzz_must((const char *)source.joined.data >= (const char *)input.data &&
                  (const char *)source.joined.data + source.joined.size <=
                      (const char *)input.data + size);
    fuzz_touch((petal_slice){source.text.bytes, source.text.size});
    source_free(&source);
    check_shown(input);
    return 0;
}
