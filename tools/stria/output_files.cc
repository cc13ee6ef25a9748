// SPDX-License-Identifier: Apache-2.0
#include "output_files.h"

#include <filesystem>

#include "stria/base/output_target.h"
#include "stria/base/shown_text.h"

namespace stria::command {
namespace {

std::string shown(const NamedFile& file) {
  return fmt::format("{} '{}'", shown_name(file.option), shown_name(file.path));
}

// Where the file lies, without links.
std::string place_of(const OutputTarget& target) {
  const bool given = target.kind == OutputTarget::Kind::descriptor;
  const int descriptor = given ? target.descriptor : target.folder->descriptor();
  std::error_code error;
  const std::filesystem::path place =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), error);
  if (!given) return shown_name((place / target.name).string());
  return error ? fmt::format("descriptor {}", descriptor) : shown_name(place.string());
}

}  // namespace

Outcome check_files_differ(const std::vector<NamedFile>& outputs,
                           const std::vector<NamedFile>& inputs) {
  OutputSet read, written;
  std::vector<const NamedFile*> readers, writers;  // in the order of the sets
  for (const NamedFile& file : inputs) {
    const auto target = resolve_input(file.path);
    if (!target) continue;
    (void)read.add(*target);
    readers.push_back(&file);
  }
  for (const NamedFile& file : outputs) {
    const Result<OutputTarget> target = resolve_output(file.path);
    if (!target.ok()) continue;
    if (const auto same = written.add(*target))
      return Outcome(ExitCode::usage,
                     invalid_argument("{} and {} are the same file, '{}'", shown(*writers[*same]),
                                      shown(file), place_of(*target)));
    writers.push_back(&file);
    if (const auto same = read.find(*target))
      return Outcome(ExitCode::usage,
                     invalid_argument("{} is the same file as {}, which is read: '{}'", shown(file),
                                      shown(*readers[*same]), place_of(*target)));
  }
  return Outcome();
}

}  // namespace stria::command
