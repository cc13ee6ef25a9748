// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/tiled_block.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "stria/base/text.h"
#include "stria/cost/block/numbers.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

double operations_of(const Block& block) {
  double out = 0;
  for (const stripe::Statement& statement : block.stmts) {
    if (const Block* inner = statement.block()) {
      double points = 1;
      for (const stripe::Index& index : inner->idxs) points *= static_cast<double>(index.range);
      out += points * operations_of(*inner);
    } else if (std::holds_alternative<stripe::Intrinsic>(statement.op)) {
      out += 1;
    } else if (auto* store = std::get_if<stripe::Store>(&statement.op)) {
      const Refinement* ref = block.find_ref(store->into);
      out += ref && ref->agg ? 1 : 0;
    }
  }
  return out;
}

TiledView view_of(const Refinement& ref, const std::map<std::string, size_t>& positions) {
  TiledView out;
  out.name = ref.into;
  out.dir = ref.dir;
  out.element_bytes = byte_size(ref.shape.type);
  out.sum_bytes =
      ref.agg ? std::max(out.element_bytes, byte_size(ref.agg->type)) : out.element_bytes;
  for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
    TiledDim dim;
    dim.size = std::max<int64_t>(ref.shape.dims[d].size, 1);
    dim.stride = magnitude(ref.shape.dims[d].stride);
    for (const auto& [name, coefficient] : ref.access[d].terms())
      if (auto at = positions.find(name); at != positions.end())
        dim.terms.push_back({at->second, magnitude(coefficient)});
    out.dims.push_back(std::move(dim));
  }
  std::stable_sort(out.dims.begin(), out.dims.end(),
                   [](const TiledDim& a, const TiledDim& b) { return a.stride < b.stride; });
  std::set<size_t> seen;
  for (TiledDim& dim : out.dims)
    for (TiledDim::Term& term : dim.terms) term.first = seen.insert(term.index).second;
  for (size_t i = 0; i < positions.size(); ++i)
    if (!seen.count(i)) out.still.push_back(i);
  return out;
}

double count_of(const TiledBlock& block, const Tile& tile, size_t i) {
  return static_cast<double>(ceil_div(block.indices[i].range, tile[i]));
}

// Which tiles along some indices lie inside. Indices that one constraint names go together.
class BorderCount {
 public:
  BorderCount(const TiledBlock& block, const Tile& tile) : block_(block), tile_(tile) {
    for (const TiledConstraint& constraint : block.constraints) add(constraint);
    for (size_t i = 0; i < tile.size(); ++i) {
      if (block.indices[i].range % tile[i] == 0) continue;
      TiledConstraint end;
      end.constant = block.indices[i].range - 1;
      end.terms = {{i, -1}};
      add(end);
    }
  }

  // Negative: too many to count.
  double interior() const {
    if (never_) return 0;
    std::vector<size_t> group(tile_.size());
    std::iota(group.begin(), group.end(), size_t{0});
    const auto root = [&](size_t i) {
      while (group[i] != i) i = group[i];
      return i;
    };
    for (const Form& form : forms_)
      for (const auto& [i, step] : form.steps) group[root(i)] = root(form.steps[0].first);
    double out = 1;
    for (size_t g = 0; g < tile_.size(); ++g) {
      std::vector<size_t> members;
      for (size_t i = 0; i < tile_.size(); ++i)
        if (root(i) == g) members.push_back(i);
      if (!members.empty()) out *= inside(members);
    }
    return out;
  }

 private:
  // If lowest + sum(step * number of the tile) >= 0, all points of the tile meet the constraint.
  struct Form {
    int64_t lowest = 0;
    std::vector<std::pair<size_t, int64_t>> steps;  // of the indices that have several tiles
  };

  void add(const TiledConstraint& constraint) {
    Form form;
    form.lowest = constraint.constant;
    for (const auto& [i, coefficient] : constraint.terms) {
      if (coefficient < 0) form.lowest += coefficient * (tile_[i] - 1);
      if (tile_[i] < block_.indices[i].range) form.steps.emplace_back(i, coefficient * tile_[i]);
    }
    if (constraint.open || (form.steps.empty() && form.lowest < 0)) never_ = true;
    if (!form.steps.empty()) forms_.push_back(std::move(form));
  }

  double inside(const std::vector<size_t>& members) const {
    constexpr double kMostSteps = 1 << 16;
    double all = 1;
    for (size_t i : members) all *= count_of(block_, tile_, i);
    std::vector<const Form*> forms;
    for (const Form& form : forms_)
      if (std::find(members.begin(), members.end(), form.steps[0].first) != members.end())
        forms.push_back(&form);
    if (forms.empty()) return all;
    if (all > kMostSteps) return 0;
    std::vector<int64_t> at(tile_.size(), 0);
    double out = 0;
    for (;;) {
      out += std::all_of(forms.begin(), forms.end(), [&](const Form* form) {
        int64_t lowest = form->lowest;
        for (const auto& [i, step] : form->steps) lowest += step * at[i];
        return lowest >= 0;
      });
      size_t m = 0;
      while (m < members.size() &&
             ++at[members[m]] == ceil_div(block_.indices[members[m]].range, tile_[members[m]]))
        at[members[m++]] = 0;
      if (m == members.size()) return out;
    }
  }

  const TiledBlock& block_;
  const Tile& tile_;
  std::vector<Form> forms_;
  bool never_ = false;
};

// The least value of extent / product(sizes of the indices that come first here) over the box. With
// all other sizes fixed it rises or falls with each size, so it is least at a corner.
double least_share(const TiledDim& dim, const Tile& low, const Tile& high) {
  const size_t n = dim.terms.size();
  if (n == 1 && dim.terms[0].first) {
    const TiledDim::Term& term = dim.terms[0];
    const auto least = static_cast<double>(low[term.index]),
               most = static_cast<double>(high[term.index]);
    const auto step = static_cast<double>(term.coefficient),
               rest = static_cast<double>(dim.size) - step;
    return step + std::min(rest / least, rest / most);
  }
  double least = std::numeric_limits<double>::infinity();
  for (size_t corner = 0; corner < size_t{1} << n; ++corner) {
    auto value = static_cast<double>(dim.size);
    double points = 1;
    bool counts = true;
    for (size_t t = 0; t < n && counts; ++t) {
      const TiledDim::Term& term = dim.terms[t];
      const bool at_high = corner >> t & 1;
      counts = !at_high || term.first;
      const auto size = static_cast<double>(at_high ? high[term.index] : low[term.index]);
      value += static_cast<double>(term.coefficient) * (size - 1);
      if (term.first) points *= size;
    }
    if (counts) least = std::min(least, value / points);
  }
  return least;
}

}  // namespace

std::vector<int64_t> TiledBlock::ranges() const {
  std::vector<int64_t> out;
  for (const Index& index : indices) out.push_back(index.range);
  return out;
}

TiledBlock tiled_block(const Block& block) {
  TiledBlock out;
  out.name = block.name;
  std::map<std::string, size_t> positions;
  for (const stripe::Index& index : block.idxs) {
    if (index.range <= 1) continue;
    positions[index.name] = out.indices.size();
    out.indices.push_back({index.name, index.range, true});
  }
  bool typed = false;
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) continue;
    TiledView view = view_of(ref, positions);
    if (view.writes()) {
      for (const TiledDim& dim : view.dims)
        for (const TiledDim::Term& term : dim.terms) out.indices[term.index].reduction = false;
      if (!typed) out.type = ref.agg ? ref.agg->type : ref.shape.type;
      typed = true;
    }
    out.views.push_back(std::move(view));
  }
  for (const Affine& form : block.constraints) {
    TiledConstraint constraint;
    constraint.constant = form.constant();
    for (const auto& [name, coefficient] : form.terms()) {
      auto at = positions.find(name);
      if (at != positions.end()) constraint.terms.emplace_back(at->second, coefficient);
      const stripe::Index* index = block.find_index(name);
      constraint.open = constraint.open || (index && index->affine);
    }
    out.constraints.push_back(std::move(constraint));
  }
  out.operations = operations_of(block);
  return out;
}

double extent(const TiledDim& dim, const Tile& tile) {
  auto out = static_cast<double>(dim.size);
  for (const TiledDim::Term& term : dim.terms)
    out += static_cast<double>(term.coefficient) * static_cast<double>(tile[term.index] - 1);
  return out;
}

double elements_of(const TiledView& view, const Tile& tile,
                   double (*extent_of)(const TiledDim&, const Tile&)) {
  double out = 1;
  for (const TiledDim& dim : view.dims) out *= extent_of(dim, tile);
  return out;
}

double least_elements_of_point(const TiledView& view, const Tile& low, const Tile& high) {
  double out = 1;
  for (const TiledDim& dim : view.dims) out *= least_share(dim, low, high);
  for (size_t i : view.still) out /= static_cast<double>(high[i]);
  return out;
}

double staged_bytes(const TiledBlock& block, const TiledView& view, const Tile& tile) {
  int64_t bytes = view.element_bytes;
  if (view.writes())
    for (size_t i = 0; i < tile.size(); ++i)
      if (block.indices[i].reduction && tile[i] < block.indices[i].range) bytes = view.sum_bytes;
  return elements_of(view, tile) * static_cast<double>(bytes);
}

double points_of(const Tile& tile) {
  double out = 1;
  for (int64_t size : tile) out *= static_cast<double>(size);
  return out;
}

double outputs_of(const TiledBlock& block, const Tile& tile) {
  double out = 1;
  for (size_t i = 0; i < tile.size(); ++i)
    if (!block.indices[i].reduction) out *= static_cast<double>(tile[i]);
  return out;
}

double tiles_of(const TiledBlock& block, const Tile& tile) {
  double out = 1;
  for (size_t i = 0; i < tile.size(); ++i) out *= count_of(block, tile, i);
  return out;
}

double output_tiles_of(const TiledBlock& block, const Tile& tile) {
  double out = 1;
  for (size_t i = 0; i < tile.size(); ++i)
    if (!block.indices[i].reduction) out *= count_of(block, tile, i);
  return out;
}

double padding_of(const TiledBlock& block, const Tile& tile) {
  double out = 1;
  for (size_t i = 0; i < tile.size(); ++i)
    out *= count_of(block, tile, i) * static_cast<double>(tile[i]) /
           static_cast<double>(block.indices[i].range);
  return out;
}

double border_tiles_of(const TiledBlock& block, const Tile& tile) {
  return tiles_of(block, tile) - BorderCount(block, tile).interior();
}

std::string to_string(const TiledBlock& block, const Tile& tile) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < tile.size(); ++i)
    parts.push_back(fmt::format("{}:{}", block.indices[i].name, tile[i]));
  return "[" + join(parts, ", ") + "]";
}

}  // namespace stria::cost
