// SPDX-License-Identifier: Apache-2.0
// The program around the blocks: tensors, layouts, sections, kernels.
#include "legal_program.h"

#include <algorithm>

#include "maker.h"
#include "stria/stripe/walk.h"

namespace stria::trust {

using stripe::RefDir;

DataType Maker::type() {
  static const std::vector<DataType> types = {
      DataType::fp32, DataType::fp32, DataType::fp32, DataType::i32, DataType::i32, DataType::i32,
      DataType::fp16, DataType::bf16, DataType::fp64, DataType::i8,  DataType::u8,  DataType::i16,
      DataType::u16,  DataType::i64,  DataType::u32,  DataType::u64};
  return dice_.one_of(types);
}

std::vector<int64_t> Maker::sizes(size_t max_rank, int64_t max_size) {
  std::vector<int64_t> out(dice_.once_in(12) ? 0 : 1 + dice_.below(max_rank));
  for (int64_t& size : out) size = dice_.between(1, max_size);
  return out;
}

// Row-major or permuted, now and then with elements between that nobody uses.
TensorShape Maker::shape(DataType type, const std::vector<int64_t>& sizes) {
  TensorShape out = dense_shape(type, sizes);
  if (sizes.empty() || !dice_.once_in(3)) return out;
  std::vector<size_t> order(sizes.size());  // innermost first
  for (size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
  if (dice_.once_in(2)) std::swap(order.front(), order.back());
  int64_t stride = dice_.once_in(4) ? 2 : 1;
  for (size_t d : order) {
    out.dims[d].stride = stride;
    stride *= sizes[d];
    if (dice_.once_in(3)) stride += dice_.between(1, 3);
  }
  return out;
}

stripe::Tags Maker::tags() {
  stripe::Tags tags;
  for (const char* name : {"a", "b", "c", "register_tile"})
    if (dice_.once_in(3)) tags.set(name);
  return tags;
}

View& Maker::add_tensor(Frame& entry, const std::string& name, bool is_const) {
  View view;
  view.ref.dir = RefDir::none;
  view.ref.into = name;
  view.ref.shape = shape(type(), sizes(3, 6));
  view.ref.access.assign(view.ref.shape.rank(), Affine(0));
  view.ref.is_const = is_const;
  if (dice_.once_in(3)) view.ref.location.path = {{"DRAM", {}, {}}};
  view.tensor = tensors_++;
  for (const Dim& dim : view.ref.shape.dims) {
    view.lower.push_back({Affine(0)});
    view.upper.push_back({Affine(dim.size - 1)});
  }
  entry.block.refs.push_back(view.ref);
  entry.views.push_back(std::move(view));
  return entry.views.back();
}

// The tensor, or with an input a part of it, as a section sees it.
View& Maker::view_tensor(Frame& section, const View& tensor, RefDir dir) {
  View view = tensor;
  view.ref.dir = dir;
  view.ref.from = tensor.ref.into;
  view.ref.into = section.new_view_name(tensor.ref.into);
  view.ref.tags = {};
  view.readable = dir != RefDir::out;
  view.writable = dir != RefDir::in;
  view.input = dir == RefDir::in;
  view.depth = 0;
  for (size_t d = 0; d < view.ref.shape.rank(); ++d) {
    Dim& dim = view.ref.shape.dims[d];
    if (dir != RefDir::in || dim.size < 2 || !dice_.once_in(8)) continue;
    const int64_t from = dice_.between(0, 1);
    view.ref.access[d] = Affine(from);
    dim.size -= from + dice_.between(0, 1 - from);
    view.upper[d] = {Affine(dim.size - 1)};
  }
  section.block.refs.push_back(view.ref);
  section.views.push_back(std::move(view));
  return section.views.back();
}

// A section that packs constants, which #main reads.
void Maker::prologue(Frame& entry, Frame& main) {
  Frame section;
  section.outer = &entry;
  section.depth = 1;
  section.block.name = "prologue";
  section.block.tags = {"prologue"};
  const View given = add_tensor(entry, "W", true);
  const View packed = add_tensor(entry, "P", true);
  view_tensor(section, given, RefDir::in);
  View& out = view_tensor(section, packed, RefDir::out);
  out.ref.is_const = section.block.refs.back().is_const = false;
  kernels(section, {"P"});
  entry.block.stmts.push_back(std::move(section.block));
  View& read = view_tensor(main, packed, RefDir::in);
  if (dice_.once_in(3)) read.ref.is_const = main.block.refs.back().is_const = false;
}

// The kernels of a section: each of `to_cover` is written as a whole by one of them.
void Maker::kernels(Frame& section, std::vector<std::string> to_cover) {
  std::vector<std::string> todo(to_cover.begin(), to_cover.end());
  for (size_t n = dice_.below(static_cast<size_t>(options_.kernels) + 1); n > 0; --n)
    todo.insert(todo.begin() + static_cast<std::ptrdiff_t>(dice_.below(todo.size() + 1)), "");
  for (const std::string& one : todo) {
    if (!one.empty())
      write_all(section, one, options_.depth);
    else if (dice_.once_in(5))
      group(section);
    else if (dice_.once_in(4))
      running(section, options_.depth - 1);
    else if (dice_.once_in(3))
      use_later(section, "", options_.depth - 1);
    else
      section.block.stmts.push_back(block(section, {}, options_.depth));
    if (!one.empty() && dice_.once_in(6)) use_later(section, one, options_.depth - 1);
  }
  int count = 0;
  for (stripe::Statement& stmt : section.block.stmts)
    if (stripe::Block* kernel = stmt.block()) {
      kernel->name = "kernel_" + std::to_string(count++);
      kernel->tags.set("kernel");
      if (dice_.once_in(3)) kernel->tags.set("contraction");
    }
  if (dice_.once_in(4)) write_dependencies(section, dice_.once_in(2));
}

stripe::Program Maker::program() {
  Frame entry;
  entry.block.name = "legal";
  entry.block.tags = {"program"};
  Frame main;
  main.outer = &entry;
  main.depth = 1;
  main.block.name = "main";
  main.block.tags = {"main"};
  std::vector<std::string> to_cover;
  if (dice_.once_in(4)) prologue(entry, main);
  for (size_t n = 0, count = 1 + dice_.below(3); n < count; ++n) {
    const View tensor = add_tensor(entry, "I" + std::to_string(n), dice_.once_in(8));
    view_tensor(main, tensor, RefDir::in);
  }
  for (size_t n = 0, count = 1 + dice_.below(2); n < count; ++n) {
    const View tensor = add_tensor(entry, "O" + std::to_string(n), false);
    View& view = view_tensor(main, tensor, dice_.once_in(3) ? RefDir::inout : RefDir::out);
    if (view.ref.dir == RefDir::out) {
      to_cover.push_back(view.ref.into);
      // One running aggregation over all kernels.
      if (dice_.once_in(12)) {
        view.ref.agg = main.block.refs.back().agg = aggregation(view.ref.shape.type);
      }
    } else if (dice_.once_in(5)) {
      view_tensor(main, tensor, RefDir::in).input = false;  // a second name
    }
  }
  for (size_t n = dice_.below(3); n > 0; --n) to_cover.push_back(allocate(main).ref.into);
  std::rotate(to_cover.begin(),
              to_cover.begin() + static_cast<std::ptrdiff_t>(dice_.below(to_cover.size() + 1)),
              to_cover.end());
  kernels(main, to_cover);
  entry.block.stmts.push_back(std::move(main.block));
  return {std::move(entry.block)};
}

// Tags that say what a pass is to do with a view and mean nothing else.
void ask_for_panels(stripe::Program& program, uint64_t seed) {
  Dice dice(~seed);
  stripe::visit_blocks(program.entry, [&](stripe::Block& block, const stripe::Place&) {
    for (stripe::Refinement& ref : block.refs)
      if (ref.dir == RefDir::in && !ref.access.empty() && dice.once_in(3))
        ref.tags.set("panels", static_cast<int64_t>(dice.below(ref.access.size())));
  });
}

// A kernel that reads what lies across the lanes of what it writes, in some programs.
void add_turned(stripe::Program& program, uint64_t seed) {
  Dice dice(seed ^ 0x7475726e);
  if (!dice.once_in(4)) return;
  const int64_t rows = dice.between(1, 9), columns = dice.between(1, 9);
  const DataType type = dice.one_of<DataType>({DataType::fp32, DataType::fp64, DataType::i8});
  stripe::Block kernel;
  kernel.name = "turned";
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

// A private tensor that one kernel makes point by point, and a kernel or two that read it once, in
// some programs.
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
    stripe::Block sum =
        kernel("sum", {view(q, RefDir::in, {i, j}), view(v, RefDir::inout, {i})});
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
  stripe::Block use =
      kernel("use", {view(t, RefDir::in, {row, j}), view(o, RefDir::out, {i, j})});
  if (dice.once_in(3)) use.constraints.push_back(Affine(columns - 2) - j);
  use.stmts.emplace_back(stripe::Load{"PT", "d"});
  use.stmts.emplace_back(stripe::Intrinsic{"neg", type, {"n"}, {"d"}});
  use.stmts.emplace_back(stripe::Store{"n", "PO"});
  program.main()->stmts.emplace_back(std::move(use));
}

stripe::Program legal_program(uint64_t seed, const LegalOptions& options) {
  stripe::Program out = Maker(seed, options).program();
  ask_for_panels(out, seed);
  add_turned(out, seed);
  add_private(out, seed);
  return out;
}

HardwareModel small_machine() {
  auto model = load_hardware_model({"small machine", R"({
    "mem_units": {"DRAM": {}, "SRAM": {"count": 4, "size_KiB": 64}, "REG": {"count": 2}},
    "exec_units": {"CORE": {"count": 2, "vector_bytes": 16, "vector_registers": 8},
                   "CONV": {"count": 2}, "LANE": {"count": 4}}})"});
  return std::move(model).value();
}

}  // namespace stria::trust
