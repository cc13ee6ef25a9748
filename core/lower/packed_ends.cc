// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/packed_ends.h"

#include <algorithm>

#include "stria/lower/element_nodes.h"
#include "stria/tile/bind/packed_elements.h"

namespace stria::lower_detail {
namespace {

using stripe::RefDir;
using tile::BoundNode;
using tile::BoundTensor;
using tile::TensorId;

int shared_by(DataType packed) { return 8 / bit_width(packed); }  // elements in a byte

BoundNode node_of(BoundNode::Kind kind, DataType type, TensorId tensor, int axis) {
  BoundNode node;
  node.kind = kind;
  node.type = type;
  node.tensor = tensor;
  node.axis = axis;
  return node;
}

// Does an affine form of its coordinates say in which byte an element is?
bool fills_bytes(DataType packed, const std::vector<int64_t>& sizes) {
  return sizes.size() == 1 || (!sizes.empty() && sizes.back() % shared_by(packed) == 0);
}

// A reshape of the elements, if they fill bytes under other sizes only.
Status reshape(Lowering& lowering, TensorId from, TensorId to) {
  if (from == to) return Status();
  tile::BoundStatement statement;
  statement.text =
      fmt::format("{} = reshape({}, …)", lowering.tensor(to).name, lowering.tensor(from).name);
  return lower_reshape(lowering, statement, {to, from});
}

// Loops over all dimensions but the last, and over `last` values of an index along that.
std::vector<Affine> loops(const Lowering& lowering, TensorId id, int64_t last, Names& names,
                          stripe::Block& block) {
  std::vector<Affine> at;
  const std::vector<int64_t>& sizes = lowering.tensor(id).sizes;
  const std::vector<std::string> known = lowering.index_names(id);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t range = d + 1 == sizes.size() ? last : sizes[d];
    const std::string name = names.fresh(known[d]);
    at.push_back(range == 1 ? Affine(0) : Affine::of(name));
    if (range != 1) block.idxs.push_back({name, range, {}, {}});
  }
  return at;
}

}  // namespace

std::optional<PackedEnds> packed_ends(const tile::BoundProgram& program) {
  const auto is_packed_end = [&](TensorId id) {
    return program.tensors[static_cast<size_t>(id)].packed.has_value();
  };
  if (std::none_of(program.inputs.begin(), program.inputs.end(), is_packed_end) &&
      std::none_of(program.outputs.begin(), program.outputs.end(), is_packed_end))
    return std::nullopt;
  PackedEnds out{program, {}, {}};
  Names names;
  for (const BoundTensor& tensor : program.tensors) names.fresh(tensor.name);
  const auto add = [&](BoundTensor tensor) {
    out.program.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(out.program.tensors.size() - 1);
  };
  // Gives the name to the bytes, and a new one to what holds the elements.
  const auto split = [&](TensorId& end) {
    PackedStep step;
    step.held = end;
    BoundTensor& held = out.program.tensors[static_cast<size_t>(end)];
    step.type = *held.packed;
    BoundTensor bytes = held;
    bytes.type = DataType::u8;
    bytes.sizes = packed_sizes(step.type, held.sizes);
    bytes.packed.reset();
    held.is_input = held.is_output = false;
    held.name = names.fresh(bytes.name + "_held");
    step.row = end;
    if (shared_by(step.type) > 1 && !fills_bytes(step.type, held.sizes)) {
      BoundTensor row = held;
      row.name = names.fresh(bytes.name + "_row");
      row.sizes = {dense_shape(held.type, held.sizes).element_count()};
      step.row = add(std::move(row));
    }
    step.bytes = end = add(std::move(bytes));
    return step;
  };
  for (TensorId& id : out.program.inputs)
    if (is_packed_end(id)) out.unpack.push_back(split(id));
  for (TensorId& id : out.program.outputs)
    if (is_packed_end(id)) out.pack.push_back(split(id));
  return out;
}

// One kernel. Of types that share bytes, the index `part` counts the elements of a byte.
Status lower_unpack(Lowering& lowering, const PackedStep& step) {
  if (!lowering.has_elements(step.held)) return Status();
  const BoundTensor& row = lowering.tensor(step.row);
  const int bits = bit_width(step.type), shared = shared_by(step.type);
  const int64_t last = row.sizes.empty() ? 1 : row.sizes.back();
  stripe::Block block;
  block.comments.push_back(fmt::format("{} = elements of {}, which is {}", row.name,
                                       lowering.tensor(step.bytes).name, name_of(step.type)));
  Names names;
  const std::vector<Affine> byte = loops(lowering, step.row, ceil_div(last, shared), names, block);
  std::vector<Affine> element = byte;
  Affine part(0);
  if (shared > 1 && last > 1) {
    const std::string name = names.fresh("part");
    part = Affine::of(name);
    const int64_t range = std::min<int64_t>(shared, last);
    block.idxs.push_back({name, range, {}, {}});
    element.back() = byte.back() * shared + part;
    if (last % range != 0) block.constraints.push_back(Affine(last - 1) - element.back());
  }
  std::vector<BoundNode> nodes = {node_of(BoundNode::Kind::load, DataType::u8, step.bytes, 0)};
  if (shared > 1) nodes.push_back(node_of(BoundNode::Kind::index, DataType::i32, 0, 0));
  // The bits above the element, or below it.
  const bool above = is_signed_integer(step.type);
  const Affine shift = above ? Affine(8 - bits) - part * bits : part * bits;
  tile::PackedElements(nodes).decoded(0, 1, step.type);
  ElementNodes statements(lowering, block, row.name);
  const std::string value = statements.add(nodes, [&](const BoundNode&) { return byte; }, {shift});
  block.refs.push_back(lowering.element(RefDir::out, step.row, row.name, std::move(element)));
  block.stmts.emplace_back(stripe::Store{value, row.name});
  block.tags = statements.take_tags();
  lowering.add_kernel(std::move(block));
  return reshape(lowering, step.row, step.held);
}

namespace {

// A kernel that puts `count` elements into each byte from `first` on, along the last dimension.
void add_pack(Lowering& lowering, const PackedStep& step, int count, int64_t first,
              int64_t byte_count) {
  const BoundTensor& bytes = lowering.tensor(step.bytes);
  const int bits = bit_width(step.type), shared = shared_by(step.type);
  stripe::Block block;
  block.comments.push_back(fmt::format("{} = bits of {} as {}", bytes.name,
                                       lowering.tensor(step.row).name, name_of(step.type)));
  Names names;
  std::vector<Affine> byte = loops(lowering, step.row, byte_count, names, block);
  if (first != 0) byte.back() += first;
  std::vector<BoundNode> nodes;
  tile::PackedElements elements(nodes);
  const DataType held = lowering.tensor(step.row).type;
  int whole = -1;
  for (int k = 0; k < count; ++k) {
    nodes.push_back(node_of(BoundNode::Kind::load, held, step.row, k));
    int one = elements.encoded(static_cast<int>(nodes.size()) - 1, step.type);
    if (k > 0) {
      const int shift = elements.number(bits * k, DataType::u8);
      one = elements.call("bit_left", DataType::u8, {one, shift});
      one = elements.call("bit_or", DataType::u8, {whole, one});
    }
    whole = one;
  }
  ElementNodes statements(lowering, block, bytes.name);
  const auto access = [&](const BoundNode& node) {
    std::vector<Affine> at = byte;
    if (shared > 1) at.back() = byte.back() * shared + Affine(node.axis);
    return at;
  };
  const std::string value = statements.add(nodes, access, {});
  block.refs.push_back(lowering.element(RefDir::out, step.bytes, bytes.name, std::move(byte)));
  block.stmts.emplace_back(stripe::Store{value, bytes.name});
  block.tags = statements.take_tags();
  lowering.add_kernel(std::move(block));
}

}  // namespace

// One kernel for the bytes that are full, one for the last byte if it is not.
Status lower_pack(Lowering& lowering, const PackedStep& step) {
  if (!lowering.has_elements(step.held)) return Status();
  STRIA_RETURN_IF_ERROR(reshape(lowering, step.held, step.row));
  const BoundTensor& row = lowering.tensor(step.row);
  const int shared = shared_by(step.type);
  const int64_t last = row.sizes.empty() ? 1 : row.sizes.back();
  if (last >= shared) add_pack(lowering, step, shared, 0, last / shared);
  if (last % shared != 0)
    add_pack(lowering, step, static_cast<int>(last % shared), last / shared, 1);
  return Status();
}

}  // namespace stria::lower_detail
