#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a CI service runs: builds the plugin against an installed stria, tests it, runs programs on it, and
# asks for a verdict, which is left as files for people (HTML) and for the service (JUnit) beside the build.
#   ci/ci.sh PREFIX   where stria is installed
set -eu
prefix=${1:?"usage: ci/ci.sh PREFIX"}
prefix=$(cd "$prefix" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
./make_plugin.sh "$prefix"
STRIA_PREFIX=$prefix cargo test --release --offline
./check.sh target/plugins "$prefix/bin/stria"
"$prefix/bin/stria" conform target/plugins/acme --level 2 --junit target/conform.xml --html target/conform.html
