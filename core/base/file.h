// SPDX-License-Identifier: Apache-2.0
// Whole files: read with a limit, written complete or not at all. Messages name the path and the
// cause. input_file.h has the reader of parts, output_target.h what a path names.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "stria/base/input_file.h"
#include "stria/base/status.h"

namespace stria {

// The most that a file of each kind may hold. They are far beyond what people write and programs
// make; a reader takes many times as much memory as the text has.
inline constexpr size_t kMaxTileBytes = size_t{16} << 20;
inline constexpr size_t kMaxJsonBytes = size_t{16} << 20;  // models, pipelines, tables
inline constexpr size_t kMaxStripeBytes = size_t{256} << 20;

// The whole file as bytes, as InputFile reads them. invalid_argument if it is larger than
// `max_bytes`, data_loss if it was changed meanwhile.
Result<std::string> read_file(const std::filesystem::path& path, size_t max_bytes = kMaxStripeBytes,
                              StreamPatience patience = {});

// Whether what `path` names has no name that could say what it holds: a pipe, a terminal,
// /dev/stdin, the shell's <(command).
bool is_stream(const std::filesystem::path& path);

// Writes beside the target and renames: a reader sees the old file or the new one, never a part,
// and a failed write leaves nothing behind. A link is followed, also to a file that is not there
// yet. Mode, access list, owner and group of an old file stay as far as the process may give them;
// other hard links to it keep the old bytes. A pipe, a character device (/dev/null) and what is
// open under a number (/dev/stdout) are written directly. A process that is killed meanwhile leaves
// a file that the next write into that folder removes (temporary_file.h).
Status write_file(const std::filesystem::path& path, std::string_view bytes);

// The same, but never over another file: already_exists is not an error, and the file that is there
// stays. Says whether it was written.
Result<bool> write_new_file(const std::filesystem::path& path, std::string_view bytes);

struct FileText {
  std::filesystem::path path;
  std::string text;
};
// Writes all of them or none, each as write_file does: what is written directly comes first, then
// what lies beside its targets is renamed; a rename that fails is followed by the old files'
// return. Two paths that are one file are refused. `folder`, if not empty, is made first, and goes
// again if nothing is written.
Status write_files(std::span<const FileText> files, const std::filesystem::path& folder = {});

// What write_file would say before it writes anything, as far as that can be told. Touches nothing.
Status check_writable(const std::filesystem::path& path);
// The same of a folder that write_files makes if it is not there.
Status check_folder_writable(const std::filesystem::path& folder);

}  // namespace stria
