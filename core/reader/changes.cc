// SPDX-License-Identifier: Apache-2.0
#include "stria/reader/changes.h"

#include <algorithm>

#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria::reader {
namespace {

bool find(const stria_block& root, const stria_block* wanted, std::vector<size_t>& path) {
  if (&root == wanted) return true;
  for (size_t i = 0; i < root.statement_count; ++i) {
    const stria_block* inner = root.statements[i]->block;
    if (inner == nullptr) continue;
    path.push_back(i);
    if (find(*inner, wanted, path)) return true;
    path.pop_back();
  }
  return false;
}

// The block of the program at the path.
template <typename Block>
Block& block_at(Block& entry, const std::vector<size_t>& path) {
  Block* at = &entry;
  for (const size_t position : path) at = at->stmts[position].block();
  return *at;
}

}  // namespace

Result<Changes::Path> Changes::path_to(const stria_program_view& view, const stria_block* block) {
  Path path;
  if (block == nullptr) return invalid_argument("there is no block");
  if (find(*view.entry, block, path)) return path;
  for (uint64_t i = 0; i < view.kernel_count; ++i)
    if (view.kernels[i]->block == block)
      return unsupported(
          "kernel '{}' is a special, whose block was made to look at: it cannot be "
          "changed or printed",
          std::string_view(view.kernels[i]->name.data, view.kernels[i]->name.size));
  return invalid_argument("the block is none of this program's: take it from stria_reader_view");
}

Status Changes::check_there(const Path& path) const {
  for (const Path& gone : replaced_)
    if (path.size() > gone.size() && std::equal(gone.begin(), gone.end(), path.begin()))
      return make_error(StatusCode::failed_precondition,
                        "the block lies in one that was replaced, so it is gone");
  return {};
}

Status Changes::change(const stripe::Program& original, const stria_program_view& view,
                       const stria_block* block, const std::function<Status(stripe::Block&)>& how) {
  STRIA_ASSIGN(const Path path, path_to(view, block));
  STRIA_RETURN_IF_ERROR(check_there(path));
  if (!changed_) changed_ = original;
  return how(block_at(changed_->entry, path));
}

Status Changes::replace(const stripe::Program& original, const stria_program_view& view,
                        const stria_block* block, const SourceText& text) {
  STRIA_ASSIGN(const Path path, path_to(view, block));
  STRIA_ASSIGN(stripe::Program other, stripe::parse(text));
  STRIA_RETURN_IF_ERROR(change(original, view, block, [&](stripe::Block& at) {
    at = std::move(other.entry);
    return Status();
  }));
  replaced_.push_back(path);
  return {};
}

Result<std::string> Changes::text_of(const stripe::Program& original,
                                     const stria_program_view& view,
                                     const stria_block* block) const {
  STRIA_ASSIGN(const Path path, path_to(view, block));
  STRIA_RETURN_IF_ERROR(check_there(path));
  const stripe::Program& program = changed_ ? *changed_ : original;
  return stripe::print(block_at(program.entry, path));
}

std::string Changes::text(const stripe::Program& original) const {
  return stripe::print(changed_ ? *changed_ : original);
}

}  // namespace stria::reader
