// SPDX-License-Identifier: Apache-2.0
// Where what can be made again is kept between processes.
#pragma once

#include <filesystem>
#include <string_view>

#include "stria/base/status.h"

namespace stria {

// $XDG_CACHE_HOME/stria, else ~/.cache/stria; "" if there is neither or the process is elevated.
std::filesystem::path user_cache_folder();

// Makes the folder and what is missing above it, whatever the process's mask for this user alone:
// who may write it could put other files in the place of those that are trusted. Gives errno's
// number, or 0.
int make_cache_folder(const std::filesystem::path& folder);

// As write_file, and whatever is no regular file there (a pipe, a link) goes first: it is none of
// ours, and nobody is waited for who reads it. Such a file is read with kNoPatience.
Status write_cache_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace stria
