// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "stria/base/refusal.h"
#include "stria/passes/tile/window_transform.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/whole_copy.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

constexpr int64_t kTaps = 3;

// A dimension along which the taps move. The values have the coordinate first + y + tap there.
struct Axis {
  std::string at, tap;  // indices of the results and of the taps
  int64_t range = 1;    // results
  size_t values_dim = 0, taps_dim = 0, results_dim = 0;
  int64_t first = 0, taps_first = 0, results_first = 0;
  bool backward = false;  // the taps' coordinate falls as that of the values rises
  int64_t tap_sign = 1;   // sign of the tap's index in the values' coordinate

  int64_t tiles(int64_t tile) const { return ceil_div(range, tile); }
};

struct Convolution {
  const Refinement* values = nullptr;
  const Refinement* taps = nullptr;
  const Refinement* results = nullptr;
  std::array<Axis, 2> axes;
};

// Does the kernel only multiply its two inputs?
bool multiplies(const Block& kernel, DataType type) {
  if (kernel.stmts.size() != 4) return false;
  const auto* a = std::get_if<stripe::Load>(&kernel.stmts[0].op);
  const auto* b = std::get_if<stripe::Load>(&kernel.stmts[1].op);
  const auto* product = std::get_if<stripe::Intrinsic>(&kernel.stmts[2].op);
  const auto* store = std::get_if<stripe::Store>(&kernel.stmts[3].op);
  if (!a || !b || !product || !store || a->from == b->from) return false;
  if (!a->at.empty() || !b->at.empty() || !store->at.empty()) return false;
  const std::set<std::string> loaded = {a->into, b->into};
  return product->name == "mul" && product->type == type &&
         std::set<std::string>(product->inputs.begin(), product->inputs.end()) == loaded &&
         product->outputs == std::vector<std::string>{store->from};
}

// The one dimension whose form uses the index; nullopt if there are several or none.
std::optional<size_t> only_dim(const Refinement& ref, const std::string& index) {
  std::optional<size_t> dim;
  for (size_t d = 0; d < ref.access.size(); ++d) {
    if (!ref.access[d].uses(index)) continue;
    if (dim) return std::nullopt;
    dim = d;
  }
  return dim;
}

// The axis along dimension `dim` of the values, if the taps move along it.
std::optional<Axis> axis_along(const Block& kernel, const Convolution& of, size_t dim) {
  const Affine& form = of.values->access[dim];
  if (form.terms().size() != 2) return std::nullopt;
  for (const auto& [tap, sign] : form.terms()) {
    Axis out;
    out.tap = tap;
    out.tap_sign = sign;
    out.values_dim = dim;
    for (const auto& [name, coefficient] : form.terms())
      if (name != tap && coefficient == 1) out.at = name;
    if (out.at.empty() || (sign != 1 && sign != -1) || kernel.find_index(tap)->range != kTaps)
      continue;
    const std::optional<size_t> taps_dim = only_dim(*of.taps, tap),
                                results_dim = only_dim(*of.results, out.at);
    if (!taps_dim || !results_dim || only_dim(*of.results, tap) || only_dim(*of.taps, out.at))
      continue;
    if (only_dim(*of.values, tap) != dim || only_dim(*of.values, out.at) != dim) continue;
    const Affine& of_taps = of.taps->access[*taps_dim];
    const Affine& of_results = of.results->access[*results_dim];
    const int64_t step = of_taps.coefficient(tap);
    if (of_taps.terms().size() != 1 || (step != 1 && step != -1)) continue;
    if (of_results.terms().size() != 1 || of_results.coefficient(out.at) != 1) continue;
    out.range = kernel.find_index(out.at)->range;
    out.taps_dim = *taps_dim;
    out.results_dim = *results_dim;
    out.first = form.constant() - (sign == 1 ? 0 : kTaps - 1);
    out.taps_first = of_taps.constant() - (step == 1 ? 0 : kTaps - 1);
    out.results_first = of_results.constant();
    out.backward = step * sign == -1;
    return out;
  }
  return std::nullopt;
}

class Rewriter {
 public:
  Rewriter(Block& section, const WinogradOptions& options, PassContext& context)
      : section_(section), options_(options), context_(context), tile_(options.tile) {}

  void run() {
    std::vector<stripe::Statement> stmts;
    std::swap(stmts, section_.stmts);
    for (stripe::Statement& stmt : stmts) {
      Block* kernel = stmt.block();
      if (kernel && kernel->tags.has_all(options_.reqs)) {
        context_.matched();
        Convolution convolution;
        const Refusal refusal = match(*kernel, convolution);
        if (!refusal) {
          rewrite(*kernel, convolution);
          context_.count("convolutions_transformed");
          context_.changed();
          continue;
        }
        context_.skipped(kernel->name, refusal.reason());
      }
      section_.stmts.push_back(std::move(stmt));
    }
  }

 private:
  // Recognises a convolution, or refuses the kernel.
  Refusal match(const Block& kernel, Convolution& out) const {
    if (section_.tags.has(stripe::tag::kDeps)) return "its block is ordered by dependencies";
    if (!is_leaf(kernel)) return "it holds blocks or a special";
    if (has_index_locations(kernel) || kernel.tags.has(stripe::tag::kParallel) ||
        kernel.tags.has(stripe::tag::kVector))
      return "its points have their places already";
    std::vector<const Refinement*> inputs;
    for (const Refinement& ref : kernel.refs) {
      if (!section_.find_ref(ref.from) || ref.tags.has(stripe::tag::kClamp) ||
          ref.tags.has(stripe::tag::kZeroFill))
        return "it has buffers of its own or reads beyond a tensor";
      if (ref.dir == RefDir::in) inputs.push_back(&ref);
      if (ref.dir == RefDir::in) continue;
      if (ref.dir != RefDir::out || out.results) return "it does not write one tensor anew";
      out.results = &ref;
    }
    if (inputs.size() != 2 || !out.results) return "it is no product of two tensors";
    const DataType type = out.results->shape.type;
    if (type != DataType::fp32 && type != DataType::fp64) return "it is not of fp32 or fp64";
    if (!out.results->agg || out.results->agg->op != stripe::AggOp::add ||
        out.results->agg->type != type || inputs[0]->shape.type != type ||
        inputs[1]->shape.type != type || !multiplies(kernel, type))
      return "it is no sum of products of one type";
    for (const Index& index : kernel.idxs)
      if (index.affine) return "an index starts at an outer value";
    for (size_t values = 0; values < 2; ++values) {
      out.values = inputs[values];
      out.taps = inputs[1 - values];
      std::vector<Axis> axes;
      for (size_t d = 0; d < out.values->access.size(); ++d)
        if (std::optional<Axis> axis = axis_along(kernel, out, d)) axes.push_back(*axis);
      if (axes.size() != 2) continue;
      out.axes = {axes[0], axes[1]};
      return why_unfit(kernel, out);
    }
    return "no two dimensions have windows of 3 at steps of 1";
  }

  Refusal why_unfit(const Block& kernel, const Convolution& of) const {
    std::set<std::string> moved;
    size_t edges = 0;
    for (const Axis& axis : of.axes) {
      moved.insert({axis.at, axis.tap});
      const int64_t last = section_.find_ref(of.values->from)->shape.dims[axis.values_dim].size - 1;
      Affine coordinate = of.values->access[axis.values_dim];
      for (const Affine& constraint : kernel.constraints)
        edges += constraint == coordinate || constraint == Affine(last) - coordinate;
      if (axis.first < 1 - kTaps || axis.first + axis.range - 1 > last)
        return "a result has no products";
    }
    if (edges != kernel.constraints.size()) return "a constraint is no edge of what it reads";
    // Everything that is read of the transformed tensors must be written.
    std::set<std::string> written;
    for (size_t d = 0; d < of.results->access.size(); ++d) {
      if (d == of.axes[0].results_dim || d == of.axes[1].results_dim) continue;
      const Affine& form = of.results->access[d];
      const int64_t size = section_.find_ref(of.results->from)->shape.dims[d].size;
      std::string name;
      if (form == Affine() && size == 1) continue;
      if (!form.is_single_index(&name) || kernel.find_index(name)->range != size ||
          !written.insert(name).second)
        return "it does not write all of a dimension";
    }
    int64_t summed = 1, sharing = 1, images = 1;
    for (const Index& index : kernel.idxs) {
      if (moved.count(index.name)) continue;
      const bool in_values = only_dim(*of.values, index.name).has_value();
      const bool in_taps = only_dim(*of.taps, index.name).has_value();
      const bool in_results = only_dim(*of.results, index.name).has_value();
      if (!in_results) summed *= index.range;
      if (in_results && in_taps && !in_values) sharing *= index.range;
      if (in_results && !in_taps) images *= index.range;
    }
    if (summed < options_.min_channels || sharing < options_.min_channels)
      return fmt::format("it has too few channels: {} and {}, min_channels {}", summed, sharing,
                         options_.min_channels);
    const int64_t tiles = images * of.axes[0].tiles(tile_) * of.axes[1].tiles(tile_);
    if (tiles < options_.min_tiles)
      return fmt::format("too few tiles share the transformed taps: {}, min_tiles {}", tiles,
                         options_.min_tiles);
    return Refusal::none();
  }

  // The dimensions of `from` except the axes, as indices of both tensors. In the other tensor they
  // begin with dimension `to_first`.
  static std::vector<SharedIndex> others(const Refinement& from, const std::array<size_t, 2>& axes,
                                         size_t to_first) {
    std::vector<SharedIndex> out;
    for (size_t d = 0, other = 0; d < from.shape.dims.size(); ++d) {
      if (d == axes[0] || d == axes[1]) continue;
      if (from.shape.dims[d].size > 1)
        out.push_back({fmt::format("d{}", d), from.shape.dims[d].size, d, to_first + other});
      ++other;
    }
    return out;
  }

  // A buffer of the section: the dimensions `leading`, then those of `like` except the axes. A tile
  // accesses one element for each place of the transform. With `apart` these elements lie an odd
  // number of lines apart; at a multiple of the size of a cache way they would evict each other.
  Refinement make_buffer(const std::string& name, std::vector<int64_t> leading,
                         const Refinement& like, const std::array<size_t, 2>& axes,
                         bool apart = true) {
    for (size_t d = 0; d < like.shape.dims.size(); ++d)
      if (d != axes[0] && d != axes[1]) leading.push_back(like.shape.dims[d].size);
    TensorShape shape = dense_shape(like.shape.type, leading);
    if (!apart) return add_buffer(name, std::move(shape), like);
    const int64_t line = std::max<int64_t>(1, options_.line_bytes / byte_size(shape.type));
    shape.dims[1].stride = (ceil_div(shape.dims[1].stride, line) | 1) * line;
    shape.dims[0].stride = shape.dims[1].size * shape.dims[1].stride;
    return add_buffer(name, std::move(shape), like);
  }
  Refinement add_buffer(const std::string& name, TensorShape shape, const Refinement& like) {
    Refinement out;
    out.into = section_.fresh_name(name);
    out.shape = std::move(shape);
    out.access.resize(out.shape.dims.size());
    out.location = like.location;
    section_.refs.push_back(out);
    return out;
  }

  // The section's whole tensor behind the view.
  Refinement whole(const Refinement& view) const {
    Refinement out = *section_.find_ref(view.from);
    out.access.assign(out.access.size(), Affine());
    return out;
  }

  // The values with zeros where tiles reach beyond them. `first` is set to where the first tile
  // begins.
  Refinement padded(const Block& kernel, const Convolution& of, std::array<int64_t, 2>& first) {
    Refinement values = whole(*of.values);
    std::vector<int64_t> sizes = values.shape.sizes();
    bool inside = true;
    for (const Axis& axis : of.axes) {
      const int64_t reached = tile_ * axis.tiles(tile_) + kTaps - 1;
      inside = inside && axis.first >= 0 && axis.first + reached <= sizes[axis.values_dim];
      sizes[axis.values_dim] = reached;
    }
    first = {inside ? of.axes[0].first : 0, inside ? of.axes[1].first : 0};
    if (inside) return values;
    const Refinement buffer =
        add_buffer(values.into + "_padded", dense_shape(values.shape.type, sizes), values);
    Refinement from = element_view(values, RefDir::in), to = element_view(buffer, RefDir::out);
    from.tags.set(stripe::tag::kZeroFill);
    std::vector<Index> indices;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 1) continue;
      indices.push_back({fmt::format("d{}", d), sizes[d], {}, {}});
      from.access[d] = to.access[d] = Affine::of(indices.back().name);
      for (const Axis& axis : of.axes)
        if (axis.values_dim == d) from.access[d] += axis.first;
    }
    from.into = "source";
    to.into = "target";
    Block copy = copy_kernel(kernel.name + "_padded", std::move(from), std::move(to));
    copy.idxs = std::move(indices);
    section_.stmts.emplace_back(std::move(copy));
    return buffer;
  }

  // The tile [ty][tx] of a transformed tensor, whose dimension 2 counts tiles.
  Refinement at_tile(Refinement tensor, const Affine& ty, const Affine& tx, int64_t columns) const {
    tensor.access[2] = ty * columns + tx;
    tensor.shape.dims[2].size = 1;
    return tensor;
  }

  void rewrite(const Block& kernel, const Convolution& of) {
    const ShortFilter& filter = short_filter(tile_);
    const int64_t side = tile_ + kTaps - 1, rows = of.axes[0].tiles(tile_),
                  columns = of.axes[1].tiles(tile_);
    const auto dims = [&](size_t Axis::* dim) {
      return std::array{of.axes[0].*dim, of.axes[1].*dim};
    };
    const Affine ty = Affine::of("ty"), tx = Affine::of("tx");

    std::array<int64_t, 2> first;
    WindowView values = {padded(kernel, of, first), dims(&Axis::values_dim), {}};
    const std::vector<SharedIndex> of_values = others(values.tensor, values.dims, 3);
    const Refinement transformed = make_buffer(
        of.values->from + "_values", {side, side, rows * columns}, values.tensor, values.dims);
    values.tensor.access[values.dims[0]] = ty * tile_ + first[0];
    values.tensor.access[values.dims[1]] = tx * tile_ + first[1];
    section_.stmts.emplace_back(window_transform(
        kernel.name + "_values", values, {at_tile(transformed, ty, tx, columns), {0, 1}, {}},
        {filter.values_of, filter.values_of}, {{"ty", rows, {}, {}}, {"tx", columns, {}, {}}},
        of_values));

    WindowView taps = {
        whole(*of.taps), dims(&Axis::taps_dim), {of.axes[0].backward, of.axes[1].backward}};
    for (size_t w = 0; w < 2; ++w) taps.tensor.access[taps.dims[w]] = of.axes[w].taps_first;
    const Refinement transformed_taps = make_buffer(of.taps->from + "_taps", {side, side},
                                                    taps.tensor, taps.dims, !taps.tensor.is_const);
    section_.stmts.emplace_back(
        window_transform(kernel.name + "_taps", taps, {transformed_taps, {0, 1}, {}},
                         {filter.taps_of, filter.taps_of}, {}, others(taps.tensor, taps.dims, 2)));

    const Refinement results = whole(*of.results);
    const std::array<size_t, 2> results_dims = dims(&Axis::results_dim);
    const Refinement products = make_buffer(of.results->from + "_products",
                                            {side, side, rows * columns}, results, results_dims);
    section_.stmts.emplace_back(multiplied(kernel, of, transformed, transformed_taps, products));

    // The last tiles may have fewer rows or columns of results.
    const std::vector<SharedIndex> of_results = from_products(others(results, results_dims, 3));
    for (const bool last_row : {false, true})
      for (const bool last_column : {false, true})
        gather(kernel, of, results, products, {last_row, last_column}, of_results);
  }

  static std::vector<SharedIndex> from_products(std::vector<SharedIndex> shared) {
    for (SharedIndex& index : shared) std::swap(index.from_dim, index.to_dim);
    return shared;
  }

  // The kernel, with places of the transform instead of taps and tiles instead of results.
  Block multiplied(const Block& kernel, const Convolution& of, const Refinement& values,
                   const Refinement& taps, const Refinement& products) const {
    Block out = kernel;
    out.constraints.clear();
    std::vector<Index> indices;
    for (const char* base : {"a", "b", "p"})
      indices.push_back({kernel.fresh_name(base), values.shape.dims[indices.size()].size, {}, {}});
    const std::array<Affine, 3> place = {Affine::of(indices[0].name), Affine::of(indices[1].name),
                                         Affine::of(indices[2].name)};
    for (const Index& index : kernel.idxs)
      if (std::none_of(of.axes.begin(), of.axes.end(), [&](const Axis& axis) {
            return axis.at == index.name || axis.tap == index.name;
          }))
        indices.push_back(index);
    out.idxs = std::move(indices);
    const auto turn = [&](const Refinement* ref, const Refinement& tensor, size_t Axis::* dim,
                          size_t leading) {
      Refinement& view = *out.find_ref(ref->into);
      std::vector<Affine> access(place.begin(),
                                 place.begin() + static_cast<std::ptrdiff_t>(leading));
      for (size_t d = 0; d < ref->access.size(); ++d)
        if (d != of.axes[0].*dim && d != of.axes[1].*dim) access.push_back(ref->access[d]);
      view.from = tensor.into;
      view.access = std::move(access);
      view.shape = tensor.shape;
      for (Dim& d : view.shape.dims) d.size = 1;
      view.location = tensor.location;
      view.is_const = false;
    };
    turn(of.values, values, &Axis::values_dim, 3);
    turn(of.taps, taps, &Axis::taps_dim, 2);
    turn(of.results, products, &Axis::results_dim, 3);
    return out;
  }

  // Adds the kernel for the results of the whole tiles, or of the last ones, along each axis.
  void gather(const Block& kernel, const Convolution& of, const Refinement& results,
              const Refinement& products, const std::array<bool, 2>& last,
              const std::vector<SharedIndex>& shared) {
    const Matrix& matrix = short_filter(tile_).results_of;
    WindowView to = {results, {of.axes[0].results_dim, of.axes[1].results_dim}, {}};
    std::array<Matrix, 2> by = {matrix, matrix};
    std::array<Affine, 2> tile;
    std::vector<Index> outer;
    const std::array<const char*, 2> names = {"ty", "tx"};
    for (size_t w = 0; w < 2; ++w) {
      const Axis& axis = of.axes[w];
      const int64_t whole_tiles = axis.range / tile_, rest = axis.range % tile_;
      if ((last[w] ? rest : whole_tiles) == 0) return;
      if (last[w]) by[w].resize(static_cast<size_t>(rest));
      if (!last[w]) outer.push_back({names[w], whole_tiles, {}, {}});
      tile[w] = last[w] ? Affine(whole_tiles) : Affine::of(names[w]);
      to.tensor.access[to.dims[w]] = tile[w] * tile_ + axis.results_first;
    }
    const WindowView from = {
        at_tile(products, tile[0], tile[1], of.axes[1].tiles(tile_)), {0, 1}, {}};
    Block block =
        window_transform(kernel.name + "_results", from, to, by, std::move(outer), shared);
    block.comments = kernel.comments;
    section_.stmts.emplace_back(std::move(block));
  }

  Block& section_;
  const WinogradOptions& options_;
  PassContext& context_;
  const int64_t tile_;
};

}  // namespace

void describe(WinogradOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("tile", options.tile, "results of a tile along each of the two dimensions: 2 or 4",
             {2, 4});
  fields.add("min_channels", options.min_channels,
             "input channels, and also output channels, at least", {1});
  fields.add("min_tiles", options.min_tiles, "tiles that use the same taps, at least", {1});
  fields.add("line_bytes", options.line_bytes,
             "bytes of a cache line; 0 = the calibration of the model says", {0, 1 << 20});
}

Status winograd(stripe::Program& program, const WinogradOptions& options, PassContext& context) {
  if (options.tile != 2 && options.tile != 4)
    return invalid_argument("/tile: {} is neither 2 nor 4", options.tile);
  WinogradOptions of = options;
  if (of.line_bytes == 0)
    of.line_bytes = static_cast<int64_t>(context.model().core_facts().cache_line_bytes);
  for (Block* section : {program.prologue(), program.main()})
    if (section) Rewriter(*section, of, context).run();
  return Status();
}

}  // namespace stria::passes
