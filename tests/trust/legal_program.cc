// SPDX-License-Identifier: Apache-2.0
// The program around the blocks: tensors, layouts, sections, kernels.
#include "legal_program.h"

#include <algorithm>

#include "legal_kernels.h"
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

stripe::Program legal_program(uint64_t seed, const LegalOptions& options) {
  stripe::Program out = Maker(seed, options).program();
  ask_for_panels(out, seed);
  add_turned(out, seed);
  add_private(out, seed);
  add_lane_sums(out, seed);
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
