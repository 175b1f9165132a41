#!/usr/bin/env bash
# Some seconds of the soak (main.c): processes that are killed at work and while they open.
# Usage: soak_test.sh SOAK
set -eu
SOAK_SECONDS=${SOAK_SECONDS:-8} exec "${1:?usage: soak_test.sh SOAK}"
