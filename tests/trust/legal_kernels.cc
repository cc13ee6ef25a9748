// SPDX-License-Identifier: Apache-2.0
#include "legal_kernels.h"

#include "dice.h"

namespace stria::trust {

using stripe::RefDir;

void add_turned(stripe::Program& program, uint64_t seed) {
  Dice dice(seed ^ 0x7475726e);
  if (!dice.once_in(4)) return;
  const int64_t rows = dice.between(1, 9), columns = dice.between(1, 9);
  const DataType type = dice.one_of<DataType>({DataType::fp32, DataType::fp64, DataType::i8});
  stripe::Block kernel;
  kernel.name = "transposed";
  kernel.tags = {"kernel"};
  kernel.idxs = {{"i", rows, {}, {}}, {"j", columns, {}, {}}};
  if (dice.once_in(2)) std::swap(kernel.idxs[0], kernel.idxs[1]);
  if (dice.once_in(3))
    kernel.constraints.push_back(Affine(rows + columns - 3) - Affine::of("i") - Affine::of("j"));
  const auto add = [&](const std::string& name, RefDir dir, std::vector<Affine> access,
                       const std::vector<int64_t>& sizes) {
    stripe::Refinement ref;
    ref.into = name;
    ref.access.resize(sizes.size());
    ref.shape = dense_shape(type, sizes);
    program.entry.refs.push_back(ref);
    ref.from = name;
    ref.dir = dir == RefDir::out ? RefDir::inout : dir;  // constraints leave elements as they were
    program.main()->refs.push_back(ref);
    ref.dir = dir;
    ref.access = std::move(access);
    for (Dim& dim : ref.shape.dims) dim.size = 1;
    kernel.refs.push_back(ref);
  };
  const Affine i = Affine::of("i"), j = Affine::of("j");
  add("TI", RefDir::in, {i, j}, {rows, columns});
  if (dice.once_in(2)) add("TJ", RefDir::in, {j, i}, {columns, rows});
  if (dice.once_in(3)) add("TK", RefDir::in, {i, j}, {rows, columns});
  std::string sum;
  for (const stripe::Refinement& ref : kernel.refs) {
    const std::string value = "$" + ref.into;
    kernel.stmts.emplace_back(stripe::Load{ref.into, value.substr(1)});
    const std::string next = "sum_" + ref.into;
    if (!sum.empty())
      kernel.stmts.emplace_back(stripe::Intrinsic{"add", type, {next}, {sum, value.substr(1)}});
    sum = sum.empty() ? value.substr(1) : next;
  }
  add("TO", RefDir::out, {j, i}, {columns, rows});
  kernel.stmts.emplace_back(stripe::Store{sum, "TO"});
  program.main()->stmts.emplace_back(std::move(kernel));
}

namespace {

// A tensor of the program, or with `dir` none of #main; the view of one element at `access` that a
// kernel has of it.
stripe::Refinement add_element(stripe::Program& program, const std::string& name, RefDir of_main,
                               const TensorShape& shape) {
  stripe::Refinement ref;
  ref.into = name;
  ref.access.resize(shape.rank());
  ref.shape = shape;
  if (of_main != RefDir::none) program.entry.refs.push_back(ref);
  if (of_main != RefDir::none) ref.from = name;
  ref.dir = of_main;
  program.main()->refs.push_back(ref);
  ref.from = name;
  for (Dim& dim : ref.shape.dims) dim.size = 1;
  return ref;
}

}  // namespace

void add_private(stripe::Program& program, uint64_t seed) {
  Dice dice(seed ^ 0x70726976);
  if (!dice.once_in(3) || program.main()->tags.has("deps")) return;
  const int64_t rows = dice.between(1, 7), columns = dice.between(2, 24);
  const DataType type = dice.one_of<DataType>({DataType::fp32, DataType::i32, DataType::fp64});
  const Affine i = Affine::of("i"), j = Affine::of("j");
  const auto view = [](stripe::Refinement ref, RefDir dir, std::vector<Affine> access) {
    ref.dir = dir;
    ref.access = std::move(access);
    return ref;
  };
  const auto kernel = [&](const std::string& name, std::vector<stripe::Refinement> refs) {
    stripe::Block block;
    block.name = name;
    block.tags = {"kernel"};
    block.idxs = {{"i", rows, {}, {}}, {"j", columns, {}, {}}};
    if (dice.once_in(2)) std::swap(block.idxs[0], block.idxs[1]);
    block.refs = std::move(refs);
    return block;
  };
  const TensorShape whole = dense_shape(type, {rows, columns});
  const stripe::Refinement a = add_element(program, "PA", RefDir::in, whole);
  const stripe::Refinement m = add_element(program, "PM", RefDir::in, dense_shape(type, {rows, 1}));
  const stripe::Refinement t = add_element(program, "PT", RefDir::none, whole);
  stripe::Block make = kernel("make", {view(a, RefDir::in, {i, j}), view(m, RefDir::in, {i, 0}),
                                       view(t, RefDir::out, {i, j})});
  make.stmts.emplace_back(stripe::Load{"PA", "a"});
  make.stmts.emplace_back(stripe::Load{"PM", "m"});
  make.stmts.emplace_back(
      stripe::Intrinsic{dice.once_in(4) ? "div" : "sub", type, {"d"}, {"a", "m"}});
  make.stmts.emplace_back(stripe::Store{"d", "PT"});
  if (dice.once_in(2)) {  // a second tensor, made of what the first one holds
    const stripe::Refinement q = add_element(program, "PQ", RefDir::none, whole);
    make.refs.push_back(view(q, RefDir::out, {i, j}));
    make.stmts.emplace_back(stripe::Load{"PT", "e"});
    make.stmts.emplace_back(stripe::Intrinsic{"mul", type, {"q"}, {"e", "e"}});
    make.stmts.emplace_back(stripe::Store{"q", "PQ"});
    const stripe::Refinement v =
        add_element(program, "PV", RefDir::inout, dense_shape(type, {rows}));
    stripe::Block sum = kernel("sum", {view(q, RefDir::in, {i, j}), view(v, RefDir::inout, {i})});
    sum.refs.back().agg = stripe::Aggregation{stripe::AggOp::max, type};
    sum.stmts.emplace_back(stripe::Load{"PQ", "q"});
    sum.stmts.emplace_back(stripe::Store{"q", "PV"});
    program.main()->stmts.emplace_back(std::move(make));
    program.main()->stmts.emplace_back(std::move(sum));
  } else {
    program.main()->stmts.emplace_back(std::move(make));
  }
  const stripe::Refinement o = add_element(program, "PO", RefDir::inout, whole);
  const Affine row = dice.once_in(2) ? i : Affine(rows - 1) - i;
  stripe::Block use = kernel("use", {view(t, RefDir::in, {row, j}), view(o, RefDir::out, {i, j})});
  if (dice.once_in(3)) use.constraints.push_back(Affine(columns - 2) - j);
  use.stmts.emplace_back(stripe::Load{"PT", "d"});
  use.stmts.emplace_back(stripe::Intrinsic{"neg", type, {"n"}, {"d"}});
  use.stmts.emplace_back(stripe::Store{"n", "PO"});
  program.main()->stmts.emplace_back(std::move(use));
}

void add_lane_sums(stripe::Program& program, uint64_t seed) {
  Dice dice(seed ^ 0x6c616e65);
  if (!dice.once_in(3)) return;
  const int64_t lanes = dice.between(2, 4), tiles = dice.between(1, 3), steps = dice.between(1, 4);
  const int64_t beyond = dice.once_in(6) ? 0 : dice.between(1, lanes - 1);
  const int64_t padded = tiles * lanes, count = padded - beyond;
  const DataType type = dice.one_of<DataType>({DataType::fp32, DataType::i32, DataType::fp64});
  const stripe::Aggregation agg{
      dice.once_in(2) ? stripe::AggOp::add : static_cast<stripe::AggOp>(dice.below(4)), type};
  const Affine j = Affine::of("j"), k = Affine::of("k"), l = Affine::of("l");

  // A block with the lanes' index and the number of their tile.
  const auto of_lanes = [&](bool tested, int64_t last) {
    stripe::Block block;
    block.idxs = {{"l", lanes, {}, {}}, {"j_0", 1, j, {}}};
    if (tested) block.constraints = {Affine(last) - Affine::of("j_0", lanes) - l};
    if (!dice.once_in(4)) block.tags.set("vector");
    if (dice.once_in(2)) block.tags.set("a");
    return block;
  };
  const auto view = [](const stripe::Refinement& of, RefDir dir, std::vector<Affine> access,
                       std::vector<int64_t> sizes) {
    stripe::Refinement ref = of;
    ref.dir = dir;
    ref.from = of.into;
    ref.access = std::move(access);
    for (size_t d = 0; d < sizes.size(); ++d) ref.shape.dims[d].size = sizes[d];
    return ref;
  };

  stripe::Block kernel;
  kernel.name = "lane_sums";
  kernel.tags = {"kernel"};
  kernel.idxs = {{"j", tiles, {}, {}}};
  // In panels of all lanes, or in rows that end where the result does, or behind it.
  const bool panels = dice.once_in(2);
  const int64_t row = dice.once_in(3) ? count : padded;
  const stripe::Refinement a =
      panels ? add_element(program, "SA", RefDir::in, dense_shape(type, {tiles, steps, lanes}))
             : add_element(program, "SA", RefDir::in, dense_shape(type, {steps, row}));
  const stripe::Refinement b = add_element(program, "SB", RefDir::in, dense_shape(type, {steps}));
  // What is read without a test has room for all.
  const bool all_read = dice.once_in(5);
  const stripe::Refinement c =
      add_element(program, "SC", RefDir::inout, dense_shape(type, {all_read ? padded : count}));
  stripe::Refinement sums;
  sums.into = "SS";
  sums.access.resize(1);
  sums.shape = dense_shape(type, {lanes});
  if (dice.once_in(2)) sums.location.path = {{"REG", {}, {}}};
  kernel.refs = {panels ? view(a, RefDir::in, {j, 0, 0}, {1, steps, lanes})
                        : view(a, RefDir::in, {0, j * lanes}, {steps, lanes}),
                 view(b, RefDir::in, {0}, {steps}), view(c, RefDir::out, {j * lanes}, {lanes}),
                 sums};

  stripe::Block clear = of_lanes(!all_read && dice.once_in(4), count - 1);
  clear.refs = {view(sums, RefDir::out, {l}, {1})};
  clear.stmts.emplace_back(stripe::Constant{
      "zero", is_float(type) ? Scalar::of_float(type, 0) : Scalar::of_int(type, 0)});
  clear.stmts.emplace_back(stripe::Store{"zero", "SS"});

  // Now and then one lane less is summed, or written.
  const auto last = [&] { return count - 1 - (dice.once_in(8) ? 1 : 0); };
  stripe::Block add = of_lanes(row < padded || !dice.once_in(8), last());
  const std::vector<Affine> at = panels ? std::vector<Affine>{0, 0, l} : std::vector<Affine>{0, l};
  add.refs = {view(a, RefDir::in, at, std::vector<int64_t>(at.size(), 1)),
              view(b, RefDir::in, {0}, {1}), view(sums, RefDir::inout, {l}, {1})};
  add.refs.back().agg = agg;
  static const std::vector<std::string> names = {"mul", "mul", "add", "sub", "max", "min", "div"};
  add.stmts.emplace_back(stripe::Load{"SA", "a"});
  add.stmts.emplace_back(stripe::Load{"SB", "b"});
  add.stmts.emplace_back(stripe::Intrinsic{dice.one_of(names), type, {"c"}, {"a", "b"}});
  add.stmts.emplace_back(stripe::Store{"c", "SS"});
  stripe::Block loop;
  loop.idxs = {{"k", steps, {}, {}}, {"j", 1, j, {}}};
  loop.refs = {panels ? view(a, RefDir::in, {0, k, 0}, {1, 1, lanes})
                      : view(a, RefDir::in, {k, 0}, {1, lanes}),
               view(b, RefDir::in, {k}, {1}), view(sums, RefDir::inout, {0}, {lanes})};
  loop.refs.back().agg = agg;
  loop.stmts.emplace_back(std::move(add));

  stripe::Block write = of_lanes(!all_read, last());
  write.refs = {view(sums, RefDir::in, {l}, {1}), view(c, RefDir::out, {l}, {1})};
  write.stmts.emplace_back(stripe::Load{"SS", "value"});
  write.stmts.emplace_back(stripe::Store{"value", "SC"});
  kernel.stmts.emplace_back(std::move(clear));
  kernel.stmts.emplace_back(std::move(loop));
  kernel.stmts.emplace_back(std::move(write));
  program.main()->stmts.emplace_back(std::move(kernel));
}

}  // namespace stria::trust
