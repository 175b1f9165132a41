/*
 * seen.cpp -- an installed Petal from C++: a filter that knows the words it was given.
 */
#include <cstdio>
#include <petal_bloom.h>
#include <string>

static petal_slice
slice(const std::string &text)
{
    return {text.data(), text.size()};
}

int
main()
{
    petal_bloom_options options = PETAL_DEFAULTS;
    petal_bloom *bloom;
    petal_error error;

    options.keys = 100;
    if (petal_bloom_create(&options, &bloom, &error) != PETAL_OK ||
        petal_bloom_add(bloom, slice("Ada"), nullptr, &error) != PETAL_OK) {
        std::fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    std::printf("Ada: %s\n", petal_bloom_may_contain(bloom, slice("Ada")) ? "seen" : "new");
    petal_bloom_free(bloom);
    return 0;
}
