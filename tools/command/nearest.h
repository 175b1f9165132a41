/* nearest.h -- which command was meant by a word that is none. */
#ifndef PETAL_TOOLS_COMMAND_NEAREST_H
#define PETAL_TOOLS_COMMAND_NEAREST_H

/* Keep the name in *nearest, NULL at first, when it begins with the word, or is nearer to it than
 * what is kept (tools/shell/text/near.h); *least is how near that is. */
void nearest_consider(const char *word, const char *name, const char **nearest, unsigned *least);

/* Say that the program has no such command, and which one may be meant: NULL, none. */
void nearest_tell(const char *program, const char *word, const char *nearest);

#endif
