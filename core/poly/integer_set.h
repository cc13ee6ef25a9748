// SPDX-License-Identifier: Apache-2.0
// Sets of integer points: what a loop nest runs over, what a statement reads or writes, and the
// exact answers that passes and the verifier need about them (empty? inside? how far? injective?).
//
// An IntegerSet is a subset of Z^n over named dims: a union of parts, each the integer points that
// meet affine equalities and inequalities, possibly with existential variables (strides,
// projections). It is a plain value without shared state: like a std::vector, different values may
// be used from different threads at once. Every query that needs the solver makes its own solver
// context.
//
// Queries answer from intervals where that decides and ask the solver otherwise, within a fixed
// number of solver operations. Failures of every query:
//   unknown       the budget ran out: a pass must be conservative, a reader reports it;
//   out_of_range  a number does not fit in int64.
// Forms given to a set may name only its dims; another name is a broken assumption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/poly/affine.h"

namespace stria {

// Smallest and largest value of a form; nullopt = no limit on that side.
struct Bounds {
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;
  bool operator==(const Bounds&) const = default;
};

// A part of a set that a loop nest can enumerate: the indices run over 0 .. range-1 each, the
// points that meet all constraints count, and `point` gives the member of the set for each of them.
// Different index points give different members.
struct SetPiece {
  struct Index {
    std::string name;
    int64_t range = 1;  // > 1; a dim that has one value is a constant in `point`
    bool operator==(const Index&) const = default;
  };
  std::vector<Index> indices;       // in the order of the dims they carry
  std::vector<Affine> constraints;  // each >= 0, over the indices; none follows from the others
  std::vector<Affine> point;        // one per dim of the set, over the indices
  bool operator==(const SetPiece&) const = default;
};

class IntegerSet {
 public:
  // All of Z^n. Names must differ. Rank 0: the set of the one empty point.
  explicit IntegerSet(std::vector<std::string> dims = {});
  // lower <= dim <= upper for each dim; an empty interval makes the set empty; the lowest and
  // highest int64 mean "no limit" on that side.
  static IntegerSet box(const std::vector<std::pair<std::string, Interval>>& dims);
  static IntegerSet empty(std::vector<std::string> dims);

  const std::vector<std::string>& dims() const { return dims_; }
  size_t rank() const { return dims_.size(); }

  // Keeps the points where form >= 0 (form == 0).
  void add_ge(const Affine& form);
  void add_eq(const Affine& form);

  // No point at all?
  Result<bool> is_empty() const;
  // Exact minimum and maximum of the form; failed_precondition if the set is empty.
  Result<Bounds> bounds(const Affine& form) const;
  // form >= 0 at every point? True for the empty set.
  Result<bool> implies(const Affine& form) const;
  // `point` has one number per dim.
  Result<bool> contains(const std::vector<int64_t>& point) const;
  // The number of points; out_of_range if there are more than `limit` or infinitely many.
  Result<int64_t> count_points(int64_t limit) const;
  // Do different points have different values of `map`?
  Result<bool> is_injective(const std::vector<Affine>& map) const;

  // The other set must have the same dims in the same order.
  Result<bool> is_subset_of(const IntegerSet& other) const;
  Result<bool> equals(const IntegerSet& other) const;
  Result<IntegerSet> intersect(const IntegerSet& other) const;
  Result<IntegerSet> unite(const IntegerSet& other) const;
  Result<IntegerSet> subtract(const IntegerSet& other) const;

  // { (map_0(p), map_1(p), …) : p in this }, over `dims` (as many as forms).
  Result<IntegerSet> image(std::vector<std::string> dims, const std::vector<Affine>& map) const;
  // { q : (map_0(q), map_1(q), …) in this }, over `dims`; one form over `dims` per dim of this set.
  Result<IntegerSet> preimage(std::vector<std::string> dims, const std::vector<Affine>& map) const;
  // The set of what `names` (some of the dims, in the wanted order) can be.
  Result<IntegerSet> project_onto(const std::vector<std::string>& names) const;

  // Those of `constraints` (each >= 0) that are needed: together with this set the result keeps
  // exactly the points that all of them keep, and none of it follows from this set and the rest.
  // The order is kept; what could not be decided stays.
  std::vector<Affine> needed(const std::vector<Affine>& constraints) const;

  // The set cut into disjoint pieces, each point in exactly one and once. A box gives one piece
  // without constraints; an empty set none. out_of_range if the set is infinite.
  Result<std::vector<SetPiece>> pieces() const;

  // "{ [x, y] : x >= 0; 9 - x >= 0 } or …", for messages and tests.
  std::string to_string() const;

 private:
  friend class SetSolver;
  // Coefficients of the dims, then of the part's existentials, then the constant.
  using Row = std::vector<int64_t>;
  struct Part {
    size_t existentials = 0;
    std::vector<Row> equalities;    // each == 0
    std::vector<Row> inequalities;  // each >= 0
  };
  Row row_of(const Affine& form, size_t existentials) const;
  // Existentials of the part must have one value for each point. Nothing if the part is empty.
  Result<std::optional<SetPiece>> piece_of(const Part& part) const;

  std::vector<std::string> dims_;
  std::vector<Part> parts_;  // the union; none = the empty set
};

}  // namespace stria
