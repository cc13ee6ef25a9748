// SPDX-License-Identifier: Apache-2.0
#include "verbs/fmt.h"

#include <cstdio>
#include <filesystem>

#include "stria/base/file.h"
#include "stria/base/output_target.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria::command {
namespace {

struct Formatted {
  std::string before, after;
};

Result<Formatted> format(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".tile" && !is_stream(path))
    return invalid_argument("'{}': only .tile files can be formatted", shown_name(path));
  STRIA_ASSIGN(std::string text, read_file(path, kMaxTileBytes));
  STRIA_ASSIGN(tile::Program program, tile::parse({path, text}));
  return Formatted{std::move(text), tile::print(program)};
}

}  // namespace

Outcome fmt_files(const FmtOptions& options) {
  if (options.in_place && options.check)
    return Outcome(ExitCode::usage, invalid_argument("--check and -i exclude each other"));
  if (options.files.size() > 1 && !options.in_place && !options.check)
    return Outcome(ExitCode::usage, invalid_argument("several files need -i or --check"));
  for (const std::string& path : options.files)
    if (options.in_place && is_stream(path))
      return Outcome(
          ExitCode::usage,
          invalid_argument("-i: '{}' is no file that could be rewritten", shown_name(path)));
  // All are read before any is written.
  std::vector<Formatted> all;
  for (const std::string& path : options.files) {
    STRIA_OR_FAIL(Formatted formatted, ExitCode::program, format(path));
    all.push_back(std::move(formatted));
  }
  if (!options.in_place && !options.check) {
    std::fputs(all[0].after.c_str(), stdout);
    return Outcome();
  }
  std::vector<std::string> different;
  std::vector<FileText> changed;
  OutputSet written;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& path = options.files[i];
    if (all[i].before == all[i].after) continue;
    different.push_back(shown_name(path));
    if (!options.in_place) continue;
    // Of one file by two names one is enough: the text is the same.
    STRIA_OR_FAIL(const OutputTarget target, ExitCode::program, resolve_output(path));
    if (!written.add(target)) changed.push_back({path, all[i].after});
  }
  STRIA_FAIL_IF_ERROR(ExitCode::program, write_files(changed));
  if (different.empty() || options.in_place) return Outcome();
  return Outcome(ExitCode::program, make_error(StatusCode::failed_precondition, "not formatted: {}",
                                               join(different, ", ")));
}

}  // namespace stria::command
