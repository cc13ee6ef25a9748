// SPDX-License-Identifier: Apache-2.0
// Where what can be made again is kept between processes.
#pragma once

#include <filesystem>

namespace stria {

// $XDG_CACHE_HOME/stria, else ~/.cache/stria; "" if there is neither or the process is elevated.
std::filesystem::path user_cache_folder();

}  // namespace stria
