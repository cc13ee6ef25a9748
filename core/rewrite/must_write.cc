// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/must_write.h"

#include <algorithm>
#include <map>

#include "stria/poly/index_forms.h"
#include "stria/stripe/block_points.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::BlockPoints;
using stripe::Refinement;

using Starts = std::map<std::string, std::vector<Affine>>;  // view -> where it begins

std::vector<std::string> coordinate_names(size_t rank) {
  std::vector<std::string> names;
  for (size_t d = 0; d < rank; ++d) names.push_back(fmt::format("d{}", d));
  return names;
}

class Collector {
 public:
  explicit Collector(size_t rank)
      : names_(coordinate_names(rank)), written_(IntegerSet::empty(names_)) {}

  // `outer`: the views of the tensor in the block around.
  Status visit(const Block& block, const BlockPoints* around, const Starts& outer) {
    const BlockPoints points = stripe::points_of(block, around, ++blocks_);
    if (!points.exact || !points.runs) return {};
    Starts own;
    for (const Refinement& ref : block.refs) {
      auto from = outer.find(ref.from);
      if (ref.dir == stripe::RefDir::none || ref.dir == stripe::RefDir::in || from == outer.end())
        continue;
      std::vector<Affine> start = from->second;
      bool small = start.size() == ref.access.size();
      for (size_t d = 0; small && d < start.size(); ++d) {
        auto moved = substitute_checked(ref.access[d], points.forms);
        small = moved.ok() && stripe::is_small(*moved);
        if (small) start[d] += *moved;
      }
      if (small) own[ref.into] = std::move(start);
    }
    if (own.empty()) return {};
    for (const stripe::Statement& stmt : block.stmts) {
      if (const Block* inner = stmt.block()) STRIA_RETURN_IF_ERROR(visit(*inner, &points, own));
      const auto* store = std::get_if<stripe::Store>(&stmt.op);
      if (!store || !store->at.empty()) continue;
      auto view = own.find(store->into);
      if (view == own.end()) continue;
      STRIA_ASSIGN(IntegerSet elements, points.set().image(names_, view->second));
      STRIA_ASSIGN(written_, written_.unite(elements));
    }
    return {};
  }

  IntegerSet take() { return std::move(written_); }

 private:
  const std::vector<std::string> names_;
  IntegerSet written_;
  int64_t blocks_ = 0;
};

}  // namespace

Result<IntegerSet> must_write(const Block& host, const stripe::Statement& stmt,
                              const std::string& name) {
  const size_t rank = host.find_ref(name)->shape.dims.size();
  Collector collector(rank);
  const BlockPoints around = stripe::points_of(host, nullptr, 0);
  if (const Block* block = stmt.block())
    STRIA_RETURN_IF_ERROR(collector.visit(*block, &around, {{name, std::vector<Affine>(rank)}}));
  return collector.take();
}

IntegerSet all_elements(const TensorShape& shape) {
  std::vector<std::pair<std::string, Interval>> dims;
  const std::vector<std::string> names = coordinate_names(shape.dims.size());
  for (size_t d = 0; d < names.size(); ++d)
    dims.emplace_back(names[d], Interval{0, shape.dims[d].size - 1});
  return IntegerSet::box(dims);
}

}  // namespace stria::passes
