// SPDX-License-Identifier: Apache-2.0
// A program with changes that a pass of a plugin makes, beside the one that its structures show.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/reader.h"
#include "stria/stripe/block.h"

namespace stria::reader {

class Changes {
 public:
  // `original` is the program that `view` shows. Blocks are those of the view. All fail for a block
  // of another view (invalid_argument), and for one that lies in a block that was replaced
  // (failed_precondition).
  Status change(const stripe::Program& original, const stria_program_view& view,
                const stria_block* block, const std::function<Status(stripe::Block&)>& how);
  // `text` is one block.
  Status replace(const stripe::Program& original, const stria_program_view& view,
                 const stria_block* block, const SourceText& text);

  Result<std::string> text_of(const stripe::Program& original, const stria_program_view& view,
                              const stria_block* block) const;
  std::string text(const stripe::Program& original) const;

 private:
  // Positions of statements on the way from the entry block to a block.
  using Path = std::vector<size_t>;
  static Result<Path> path_to(const stria_program_view& view, const stria_block* block);
  Status check_there(const Path& path) const;

  std::optional<stripe::Program> changed_;  // after the first change
  std::vector<Path> replaced_;
};

}  // namespace stria::reader
