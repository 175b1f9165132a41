/*
 * codecs.c -- the installed library of HBase's files, and what it makes of a file that is none.
 */
#include <petal_hfile.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
    petal_hfile *file;
    petal_error error;

    if (argc != 2 || petal_hfile_open(argv[1], NULL, &file, &error) != PETAL_CORRUPT)
        return 1;
    printf("%s is refused\n", petal_hfile_codec_text(PETAL_HFILE_CODEC_SNAPPY));
    return 0;
}
