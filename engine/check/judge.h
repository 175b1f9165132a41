/*
 * judge.h -- whether a manifest that can be read as a whole is the one of the files beside it.
 */
#ifndef PETAL_ENGINE_CHECK_JUDGE_H
#define PETAL_ENGINE_CHECK_JUDGE_H

#include "engine/check/place.h"

/*
 * Where the files disprove the manifest it is told, and counts as whole no more:
 * place->manifest_cut where it was cut short; where it is another database's it is dropped. Fails
 * for want of memory or descriptors alone.
 */
enum petal_status judge_manifest(struct place *place, petal_error *error);

#endif
