// SPDX-License-Identifier: Apache-2.0
// The indices fall into groups that no constraint and no output dimension ties together. The
// written set is then the product of the groups' written sets. The unwritten elements are, for each
// group k: those written in the groups before k, unwritten in k, and anything in the groups after
// k. So the solver sees a few dimensions at a time (x and kx of a convolution, then y and ky),
// never all of them.
#include "stria/lower/unwritten.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "stria/lower/piece_product.h"

namespace stria::lower_detail {
namespace {

// Indices and output dimensions that belong together.
struct Group {
  std::vector<size_t> indices;
  std::vector<size_t> dims;
  std::vector<Affine> constraints;
};

std::vector<Group> independent_groups(const Iteration& iteration, size_t rank) {
  // Union-find over the indices, then the dims.
  size_t count = iteration.indices.size();
  std::vector<size_t> parent(count + rank);
  std::iota(parent.begin(), parent.end(), size_t{0});
  auto root = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::map<std::string, size_t> position;
  for (size_t i = 0; i < count; ++i) position[iteration.indices[i].name] = i;
  auto join = [&](const Affine& form, size_t first) {
    for (const auto& [name, coefficient] : form.terms())
      parent[root(position.at(name))] = root(first);
  };
  for (const Affine& form : iteration.constraints)
    if (!form.is_constant()) join(form, position.at(form.terms()[0].first));
  for (size_t d = 0; d < rank; ++d) join(iteration.out_access[d], count + d);

  std::map<size_t, size_t> number;  // root -> group, groups in the order of their first dim
  std::vector<Group> groups;
  for (size_t d = 0; d < rank; ++d) {
    auto [at, added] = number.emplace(root(count + d), groups.size());
    if (added) groups.emplace_back();
    groups[at->second].dims.push_back(d);
  }
  // Groups without a dim are summed over and decide nothing: the whole set has a point.
  for (size_t i = 0; i < count; ++i)
    if (auto at = number.find(root(i)); at != number.end()) groups[at->second].indices.push_back(i);
  for (const Affine& form : iteration.constraints) {
    if (form.is_constant()) continue;
    if (auto at = number.find(root(position.at(form.terms()[0].first))); at != number.end())
      groups[at->second].constraints.push_back(form);
  }
  return groups;
}

// Decides without the solver that the group writes everything: its dims are different single
// indices over their full ranges; and with some fixed values of the other indices (the middle tap
// of a convolution) the constraints hold for all of these. False decides nothing.
bool plainly_covers(const Group& group, const Iteration& iteration,
                    const std::vector<int64_t>& sizes) {
  std::set<std::string> over_dims;
  for (size_t d : group.dims) {
    const Affine& form = iteration.out_access[d];
    if (form.is_constant()) {
      if (sizes[d] != 1) return false;
      continue;
    }
    if (form.terms().size() != 1 || std::abs(form.terms()[0].second) != 1 ||
        !over_dims.insert(form.terms()[0].first).second)
      return false;
    auto index = std::find_if(group.indices.begin(), group.indices.end(), [&](size_t i) {
      return iteration.indices[i].name == form.terms()[0].first;
    });
    if (iteration.indices[*index].range != sizes[d]) return false;
  }
  std::map<std::string, int64_t> last;
  for (size_t i : group.indices) last[iteration.indices[i].name] = iteration.indices[i].range - 1;
  auto holds_with = [&](int way) {
    return std::all_of(group.constraints.begin(), group.constraints.end(), [&](const Affine& form) {
      __int128 least = form.constant();
      for (const auto& [name, coefficient] : form.terms()) {
        const __int128 at_end = static_cast<__int128>(coefficient) * last.at(name);
        const __int128 at_middle = static_cast<__int128>(coefficient) * (last.at(name) / 2);
        const __int128 added = over_dims.count(name) > 0 ? std::min<__int128>(0, at_end)
                               : way == 0                ? 0
                               : way == 1                ? at_middle
                                                         : at_end;
        if (__builtin_add_overflow(least, added, &least)) return false;
      }
      return least >= 0;
    });
  };
  return holds_with(0) || holds_with(1) || holds_with(2);
}

}  // namespace

Result<std::vector<SetPiece>> unwritten(const Iteration& iteration,
                                        const std::vector<int64_t>& sizes,
                                        const std::vector<std::string>& names) {
  auto whole_box = [&](const std::vector<size_t>& dims) {
    std::vector<std::pair<std::string, Interval>> box;
    for (size_t d : dims) box.emplace_back(names[d], Interval{0, sizes[d] - 1});
    return IntegerSet::box(box);
  };
  std::vector<size_t> all(sizes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (iteration.empty) return whole_box(all).pieces();

  struct Part {
    std::vector<size_t> dims;
    std::vector<SetPiece> whole, written, left;
  };
  std::vector<Part> parts;
  for (const Group& group : independent_groups(iteration, sizes.size())) {
    Part part;
    part.dims = group.dims;
    IntegerSet box = whole_box(group.dims);
    STRIA_ASSIGN(part.whole, box.pieces());
    part.written = part.whole;
    if (!plainly_covers(group, iteration, sizes)) {
      std::vector<std::pair<std::string, Interval>> range;
      for (size_t i : group.indices)
        range.emplace_back(iteration.indices[i].name, Interval{0, iteration.indices[i].range - 1});
      IntegerSet points = IntegerSet::box(range);
      for (const Affine& form : group.constraints) points.add_ge(form);
      std::vector<Affine> access;
      for (size_t d : group.dims) access.push_back(iteration.out_access[d]);
      STRIA_ASSIGN(IntegerSet written, points.image(box.dims(), access));
      STRIA_ASSIGN(IntegerSet left, box.subtract(written));
      STRIA_ASSIGN(bool covered, left.is_empty());
      if (!covered) {
        STRIA_ASSIGN(part.left, left.pieces());
        STRIA_ASSIGN(part.written, written.pieces());
      }
    }
    parts.push_back(std::move(part));
  }

  // Dims in the order of the groups, then each point back in the order of the output.
  std::vector<SetPiece> out;
  auto group_pieces = [&](size_t j, size_t k) -> const std::vector<SetPiece>& {
    return j < k ? parts[j].written : j == k ? parts[j].left : parts[j].whole;
  };
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].left.empty()) continue;
    std::vector<size_t> counts;
    for (size_t j = 0; j < parts.size(); ++j) counts.push_back(group_pieces(j, k).size());
    STRIA_RETURN_IF_ERROR(check_piece_count(counts));
    std::vector<SetPiece> pieces{SetPiece{}};
    std::vector<size_t> order;
    for (size_t j = 0; j < parts.size(); ++j) {
      pieces = product(pieces, group_pieces(j, k));
      order.insert(order.end(), parts[j].dims.begin(), parts[j].dims.end());
    }
    for (SetPiece& piece : pieces) {
      std::vector<Affine> point(sizes.size());
      for (size_t i = 0; i < order.size(); ++i) point[order[i]] = std::move(piece.point[i]);
      piece.point = std::move(point);
      out.push_back(std::move(piece));
    }
  }
  return out;
}

std::vector<SetPiece> unwritten(const Box& written, const std::vector<int64_t>& sizes,
                                const std::vector<std::string>& names) {
  Box whole;
  for (const int64_t size : sizes) whole.push_back({0, size - 1});
  // Two boxes for each dimension at most.
  const auto left = without(whole, std::span(&written, 1), 2 * sizes.size() + 1);
  std::vector<SetPiece> out;
  for (const Box& box : left.value()) out.push_back(piece_of(box, names));
  return out;
}

SetPiece piece_of(const Box& box, const std::vector<std::string>& names) {
  SetPiece piece;
  for (size_t d = 0; d < box.size(); ++d) {
    Affine form(box[d].lower);
    const int64_t range = box[d].upper - box[d].lower + 1;
    if (range > 1) {
      piece.indices.push_back({names[d], range});
      form += Affine::of(names[d]);
    }
    piece.point.push_back(std::move(form));
  }
  return piece;
}

}  // namespace stria::lower_detail
