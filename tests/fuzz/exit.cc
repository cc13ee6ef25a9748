// SPDX-License-Identifier: Apache-2.0
// With libFuzzer a failed STRIA_CHECK aborts instead of leaving: only then the input is kept.
#include <cstdlib>

extern "C" void _Exit(int) noexcept { std::abort(); }
