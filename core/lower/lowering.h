// SPDX-License-Identifier: Apache-2.0
// What the parts of lowering share while one program is lowered: its tensors, and the main block
// that grows kernel by kernel.
#pragma once

#include <map>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/scratch.h"
#include "stria/base/status.h"
#include "stria/lower/iteration.h"
#include "stria/lower/joined_pieces.h"
#include "stria/lower/set_work.h"
#include "stria/poly/integer_set.h"
#include "stria/stripe/block.h"
#include "stria/tile/bind/bound.h"

namespace stria::lower_detail {

// Hands out names that differ within one block: "X", "X_0", "X_1", …
class Names {
 public:
  // `memory` is borrowed.
  explicit Names(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : used_(memory), next_(memory) {}
  std::string fresh(const std::string& base);

 private:
  std::pmr::unordered_set<std::string> used_;
  std::pmr::unordered_map<std::string, int> next_;  // per base: the number to try first
};

// For the names and maps of one kernel.
using KernelScratch = Scratch<4096>;

// The index sets of a contraction: what it runs over and what it leaves unwritten.
struct ContractionSets {
  Iterations iterations;
  std::vector<SetPiece> rest;
};

// The copies that a reshape consists of: the dims of the points; those of the output, then the
// input's.
struct ReshapeSets {
  std::vector<SetPiece> pieces;
  std::vector<size_t> order;
};

// Index sets by the text of what they were made from. Statements of a program, above all inlined
// calls, have the same ones again and again, and the solver may take long to find them.
struct KnownSets {
  std::map<std::string, ContractionSets> contractions;
  std::map<std::string, ReshapeSets> reshapes;
};

class Lowering {
 public:
  // `warnings` may be null.
  Lowering(const tile::BoundProgram& program, std::vector<Diagnostic>* warnings);

  const tile::BoundProgram& program() const { return program_; }
  const tile::BoundTensor& tensor(tile::TensorId id) const {
    return program_.tensors[static_cast<size_t>(id)];
  }
  const TensorShape& shape(tile::TensorId id) const { return shapes_[static_cast<size_t>(id)]; }
  bool has_elements(tile::TensorId id) const { return shape(id).element_count() > 0; }

  // Which tensors are written as parts of others.
  const JoinedPieces& joined() const { return joined_; }
  // The tensor that the statement which makes tensor `id` writes into.
  const tile::BoundTensor& written(tile::TensorId id) const { return tensor(joined_.place(id)); }

  // A view of one element of a tensor; `into` is its name in the kernel.
  stripe::Refinement element(stripe::RefDir dir, tile::TensorId id, std::string into,
                             std::vector<Affine> access) const;

  // The whole tensor under its own name; `none` allocates it.
  stripe::Refinement whole(stripe::RefDir dir, tile::TensorId id) const;

  // One name per dimension for the indices that run over it, all different: the names in the
  // statement that wrote the tensor, or i1, i2, … if these are not known.
  std::vector<std::string> index_names(tile::TensorId id) const;
  // The same, but "" for names that are not known.
  const std::vector<std::string>& known_names(tile::TensorId id) const {
    return index_names_[static_cast<size_t>(id)];
  }
  // Remembers what a statement calls the indices over its output; "" where it has no single name.
  void set_index_names(tile::TensorId id, std::vector<std::string> names);

  // The kernels added from here on are those of `statement`.
  void begin_statement(const tile::BoundStatement& statement);
  // Appends a kernel to main and names it: after the statement's attribute pid(name), else by its
  // number.
  void add_kernel(stripe::Block block);
  size_t kernel_count() const { return kernels_.size(); }
  std::vector<stripe::Statement> take_kernels() { return std::move(kernels_); }

  KnownSets& known_sets() { return known_sets_; }
  SetWork& set_work() { return set_work_; }

  // Once for each place in the program's text.
  void warn(SourceSpan span, std::string message);

 private:
  const tile::BoundProgram& program_;
  std::vector<Diagnostic>* warnings_;  // borrowed
  const JoinedPieces joined_;
  std::vector<TensorShape> shapes_;
  std::vector<std::vector<std::string>> index_names_;
  std::vector<stripe::Statement> kernels_;
  KnownSets known_sets_;
  SetWork set_work_;
  Names kernel_names_;
  std::string kernel_name_;  // wanted by the statement; empty: none
};

// Sorted by name, as they are printed.
stripe::Tags sorted_tags(std::vector<std::string> names);

// The kernel that writes 0 into these elements of the tensor.
stripe::Block zero_kernel(const Lowering& lowering, tile::TensorId id, const SetPiece& piece);

Status lower_contraction(Lowering& lowering, const tile::BoundStatement& statement,
                         const tile::BoundContraction& contraction);
Status lower_elementwise(Lowering& lowering, const tile::BoundStatement& statement,
                         const tile::BoundElementwise& elementwise);
Status lower_reshape(Lowering& lowering, const tile::BoundStatement& statement,
                     const tile::BoundReshape& reshape);
Status lower_gather(Lowering& lowering, const tile::BoundStatement& statement,
                    const tile::BoundGather& gather);
Status lower_scatter(Lowering& lowering, const tile::BoundStatement& statement,
                     const tile::BoundScatter& scatter);
Status lower_prng(Lowering& lowering, const tile::BoundStatement& statement,
                  const tile::BoundPrng& prng);

}  // namespace stria::lower_detail
