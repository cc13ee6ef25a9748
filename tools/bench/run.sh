#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the peers, builds the release preset with the benchmarks and runs them. Results go to
# tools/bench/results/NAME.json and .txt, what the plugin boundary costs to NAME-boundary.txt,
# what a derivative costs to NAME-gradient.txt, tiles by model and the best ones to
# NAME-regret.txt, the product of one core to NAME-product.txt, llvm_cpu beside hand-written
# libraries to NAME-cpu.txt and .json (default NAME: latest).
source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
install_packages "${build_packages[@]}" libdnnl-dev libopenblas0-pthread libblis4-pthread
build_preset release -DSTRIA_BUILD_BENCH=ON
name=${1:-latest}
mkdir -p tools/bench/results
say "bench: results in tools/bench/results/$name.*"
build/release/bin/stria_bench --json "tools/bench/results/$name.json" | tee "tools/bench/results/$name.txt"
build/release/bin/stria_boundary_bench | tee "tools/bench/results/$name-boundary.txt"
build/release/bin/stria_gradient_bench | tee "tools/bench/results/$name-gradient.txt"
build/release/bin/stria_regret_bench | tee "tools/bench/results/$name-regret.txt"
OMP_NUM_THREADS=1 build/release/bin/stria_product_bench | tee "tools/bench/results/$name-product.txt"
build/release/bin/stria_cpu_bench --json "tools/bench/results/$name-cpu.json" \
  | tee "tools/bench/results/$name-cpu.txt"
