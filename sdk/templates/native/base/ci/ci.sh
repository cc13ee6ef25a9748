#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a CI service runs: builds the plugin against an installed stria, tests it, runs programs on it, and
# asks for a verdict, which is left as files for people (HTML) and for the service (JUnit) beside the build.
#   ci/ci.sh PREFIX   where stria is installed
set -eu
prefix=${1:?"usage: ci/ci.sh PREFIX"}
prefix=$(cd "$prefix" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# cmake takes make unless it is told otherwise.
command -v make >/dev/null || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
cmake --build build
ctest --test-dir build --output-on-failure
./check.sh build/lib/stria/plugins "$prefix/bin/stria"
"$prefix/bin/stria" conform build/lib/stria/plugins/acme --level 2 --junit build/conform.xml --html build/conform.html
