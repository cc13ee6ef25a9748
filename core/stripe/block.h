// SPDX-License-Identifier: Apache-2.0
// The Stripe IR: nested blocks over integer points, each with views (refinements) of its parent's
// tensors. Plain values: copying a Program copies all of it. docs/semantics.md has the rules, with
// numbers. In short:
//
// * A block runs its statements once per integer point of its index box that meets all constraints.
//   Points of an index run in parallel if the block is tagged #parallel or the index occurs in the
//   block's location; over the other indices the block is a loop in lexicographic order.
// * Statements of a point run in order, except in a block tagged #deps, where `deps` alone order
//   them.
// * A refinement is a view: its base is the parent view's base + sum(parent stride * access).
//   A refinement with direction `none` allocates; its content lives for one point of its block.
// * Stores into a refinement with an aggregation combine. The outermost refinement of a chain with
//   an aggregation decides the start: `out` starts each written element from the identity, `inout`
//   continues from what is there. Elements that are not written keep their content.
// * Affine forms name only the block's own indices; an index with `affine` has range 1 (or runs
//   from it) over the parent's indices and so brings an outer value in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stria/poly/affine.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::stripe {

// A heap value that copies deeply: lets a Block hold Blocks.
template <typename T>
class Box {
 public:
  Box() : value_(std::make_unique<T>()) {}
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: meant to convert
  Box(const Box& other) : value_(std::make_unique<T>(*other.value_)) {}
  Box(Box&& other) noexcept : value_(std::move(other.value_)) {}
  Box& operator=(Box other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  bool operator==(const Box& other) const { return *value_ == *other.value_; }

 private:
  std::unique_ptr<T> value_;  // null only after a move
};

// A mark for passes: `#name`, `#name=3`, `#name=1.5`, `#name=true`, `#name="text"`.
using TagValue = std::variant<std::monostate, bool, int64_t, double, std::string>;
struct Tag {
  std::string name;
  TagValue value;
  bool operator==(const Tag&) const = default;
};

// Tags in stored order (which is the printed order), each name once.
class Tags {
 public:
  Tags() = default;
  Tags(std::initializer_list<const char*> names);
  bool has(std::string_view name) const;
  bool has_all(const std::vector<std::string>& names) const;
  const TagValue* find(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  // Appends, or replaces the value of a tag that is there.
  void set(std::string_view name, TagValue value = {});
  void set_all(const std::vector<std::string>& names);
  void remove(std::string_view name);
  void reserve(size_t count) { tags_.reserve(count); }
  const std::vector<Tag>& all() const { return tags_; }
  bool empty() const { return tags_.empty(); }
  bool operator==(const Tags&) const = default;

 private:
  std::vector<Tag> tags_;
};

// A bit field of one dimension's coordinate: factor * ((coordinate >> low_bit) & (2^bits - 1)).
struct BitField {
  int dim = 0;
  int low_bit = 0;
  int bits = 0;
  int64_t factor = 1;
  bool operator==(const BitField&) const = default;
};
struct BitFieldForm {
  int64_t constant = 0;
  std::vector<BitField> fields;
  bool operator==(const BitFieldForm&) const = default;
};

// One step of a location path: a unit of the hardware model and which instance(s) of it. An index
// of the block that occurs in `units` runs in parallel over those instances.
struct LocationUnit {
  std::string name;
  std::vector<Affine> units;
  // Only for distributed refinements: owner lane, slot, … as named functions of the dims' bits.
  std::vector<std::pair<std::string, BitFieldForm>> owners;
  bool operator==(const LocationUnit&) const = default;
};
struct Location {
  std::vector<LocationUnit> path;  // outermost first; empty = unset
  bool empty() const { return path.empty(); }
  bool operator==(const Location&) const = default;
};

enum class AggOp { add, mul, max, min };
std::string_view name_of(AggOp op);
std::optional<AggOp> parse_agg_op(std::string_view name);

// How stores to one element combine, and the type the running value is kept in.
struct Aggregation {
  AggOp op = AggOp::add;
  DataType type = DataType::fp32;
  bool operator==(const Aggregation&) const = default;
};

// Element offset e is stored at e ^ (((e >> shift) & (2^bits - 1)) << base).
struct Swizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;
  bool operator==(const Swizzle&) const = default;
};

enum class RefDir { none, in, out, inout };
std::string_view name_of(RefDir dir);

struct Refinement {
  RefDir dir = RefDir::none;
  std::string from;  // the parent's name; empty exactly if dir is none (a new allocation)
  std::string into;  // the name in this block, unique among its refinements
  // One form per dimension, in elements of that dimension, over this block's indices. For an
  // allocation all zero.
  std::vector<Affine> access;
  // The view at one point: sizes in elements; strides in elements of the allocation.
  TensorShape shape;
  std::optional<Aggregation> agg;
  Location location;
  int64_t offset_bytes = 0;        // only for allocations: place in its location's arena
  std::optional<Swizzle> swizzle;  // only for allocations
  bool is_const = false;           // holds the same bytes in every run of a binding
  Tags tags;
  bool operator==(const Refinement&) const = default;

  // sum(stride * access): elements from the parent view's base.
  Affine flat_access() const;
};

inline bool is_written(const Refinement& ref) {
  return ref.dir == RefDir::out || ref.dir == RefDir::inout;
}

// An index variable: 0 .. range-1, or affine .. affine+range-1 with `affine` over the parent's
// indices.
struct Index {
  std::string name;
  int64_t range = 1;
  std::optional<Affine> affine;
  Tags tags;
  bool operator==(const Index&) const = default;
};

struct Block;

// Coordinates within a view that scalars choose: one name per dimension, "" where the view has one
// element. Empty if no dimension is chosen.
using ChosenCoordinates = std::vector<std::string>;

// $into = load(from), $into = load(from[$at, 0]): a chosen coordinate is clamped to the view.
struct Load {
  std::string from;
  std::string into;
  ChosenCoordinates at = {};
  bool operator==(const Load&) const = default;
};
// into = store($from); the element is that of the refinement at this point; combined by its agg.
// into[$at, 0] = store($from): nothing happens if a chosen coordinate is outside the view.
struct Store {
  std::string from;
  std::string into;
  ChosenCoordinates at = {};
  bool operator==(const Store&) const = default;
};
// $into = load_index(affine): i32 (i64 where the range needs it, as `type` says).
struct LoadIndex {
  Affine from;
  std::string into;
  DataType type = DataType::i32;
  bool operator==(const LoadIndex&) const = default;
};
// $into = (type)value
struct Constant {
  std::string into;
  Scalar value;
  bool operator==(const Constant& other) const;  // bitwise: NaN equals NaN, -0.0 is not 0.0
};
// $outputs = name.type($inputs): operands are converted to what the builtin's record asks for
// `type`.
struct Intrinsic {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<std::string> outputs;
  std::vector<std::string> inputs;
  bool operator==(const Intrinsic&) const = default;
};
// An operation on whole refinements: special name(inputs; outputs){params}
struct Special {
  std::string name;
  std::vector<std::string> inputs;   // refinements
  std::vector<std::string> outputs;  // refinements
  std::map<std::string, TagValue> params;
  bool operator==(const Special&) const = default;
};

// Specials and blocks are larger and rarer than other operations, so they lie apart: statements are
// most of the memory of a program.
using Operation =
    std::variant<Load, Store, LoadIndex, Constant, Intrinsic, Box<Special>, Box<Block>>;

struct Statement {
  Operation op;
  std::vector<int64_t> deps;  // positions of earlier statements of the same block
  // Tags of a block statement live in the block itself.
  Tags tags;
  bool operator==(const Statement&) const = default;

  Statement() = default;
  Statement(Operation operation) : op(std::move(operation)) {}  // NOLINT: meant to convert
  Statement(Block block);                                       // NOLINT: meant to convert
  // The block, or the special, that the statement is; else null.
  Block* block();
  const Block* block() const;
  Special* special();
  const Special* special() const;
};

// Is it `special barrier()`?
bool is_barrier(const Statement& stmt);

struct Block {
  std::string name;                   // "kernel_0"; may be empty
  std::vector<std::string> comments;  // lines without the leading "// "
  Location location;
  Tags tags;
  std::vector<Index> idxs;
  std::vector<Affine> constraints;  // each >= 0
  std::vector<Refinement> refs;     // in printed order
  std::vector<Statement> stmts;
  bool operator==(const Block&) const = default;

  Index* find_index(std::string_view index_name);
  const Index* find_index(std::string_view index_name) const;
  Refinement* find_ref(std::string_view into);
  const Refinement* find_ref(std::string_view into) const;
  // Inclusive ranges of the block's indices as seen from `outer`, the ranges of the parent's
  // indices (needed only where an index has an affine). Upper limits saturate.
  std::map<std::string, Interval> index_box(
      const std::map<std::string, Interval>& outer = {}) const;
  // A fresh name, "base", "base_0", "base_1", …: no refinement, index or scalar of the block has
  // it.
  std::string fresh_name(std::string_view base) const;
};

inline constexpr int kTextMajor = 1;
inline constexpr int kTextMinor = 0;

// The entry block is tagged #program; its allocations are the program's tensors. Its statement
// tagged #main holds the kernels; an optional one tagged #prologue, before it, reads constants
// only. The inputs of the program are main's `in` refinements (and prologue's), its outputs main's
// `out` and `inout` ones, both in printed order.
struct Program {
  Block entry;
  bool operator==(const Program&) const = default;

  Block* main();
  const Block* main() const;
  Block* prologue();
  const Block* prologue() const;
};

}  // namespace stria::stripe
