// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "stria/onnx/operators/attention/products.h"

namespace stria::onnx {

Forms Heads::forms(const std::string& head, const std::string& place,
                   const std::string& element) const {
  return heads_first ? Forms{"b", head, place, element} : Forms{"b", place, head, element};
}

std::string Heads::at(const std::string& head, const std::string& place,
                      const std::string& element) const {
  return access(tensor, forms(head, place, element));
}

Result<Heads> heads_of(NodeWriter& node, int i, int64_t heads, std::string_view attribute) {
  Heads out;
  STRIA_ASSIGN(out.tensor, node.tensor(i));
  const Sizes& sizes = node.type(i).sizes;
  if (sizes.size() == 4) {
    out.heads = sizes[1];
    out.length = sizes[2];
    out.size = sizes[3];
    return out;
  }
  if (sizes.size() != 3 || heads < 1 || heads > sizes[2] || sizes[2] % heads != 0)
    return node.error(
        fmt::format("input {} of sizes [{}] does not hold {} heads, which attribute '{}' says", i,
                    fmt::join(sizes, ", "), heads, attribute));
  out.heads_first = false;
  out.heads = heads;
  out.length = sizes[1];
  out.size = sizes[2] / heads;
  out.tensor = node.let(reshaped(out.tensor, {sizes[0], sizes[1], heads, out.size}));
  return out;
}

Heads appended(NodeWriter& node, int64_t batch, const Heads& past, const Heads& now) {
  Heads out = now;
  out.heads_first = true;
  out.length = past.length + now.length;
  const Sizes sizes = {batch, out.heads, out.length, out.size};
  std::string front;
  if (past.length > 0)
    front =
        contract(node, '=', {"b", "h", "s", "d"}, sizes, past.at("h", "s", "d"), {}, node.let("0"));
  out.tensor = contract(node, '=', {"b", "h", affine({{1, "s"}}, past.length), "d"}, sizes,
                        now.at("h", "s", "d"), {}, front);
  return out;
}

Status check_attention(NodeWriter& node, const AttentionSizes& of) {
  if (of.k.heads < 1 || of.q.heads % of.k.heads != 0 || of.v.heads != of.k.heads)
    return node.error(fmt::format("{} heads of queries, {} of keys, {} of values", of.q.heads,
                                  of.k.heads, of.v.heads));
  if (of.q.size != of.k.size)
    return node.error(fmt::format("queries of {} elements, keys of {}", of.q.size, of.k.size));
  if (of.k.length != of.v.length)
    return node.error(fmt::format("{} keys, {} values", of.k.length, of.v.length));
  return {};
}

namespace {

// Query head h is head r of the group of key head g.
struct HeadForms {
  std::string q, kv;
  Forms constraints;
};

HeadForms head_forms(const AttentionSizes& of) {
  const int64_t group = of.group();
  if (group == 1) return {"h", "h", {}};
  return {affine({{group, "g"}, {1, "r"}}, 0), "g", {fmt::format("r < {}", group)}};
}

}  // namespace

std::string attention_scores(NodeWriter& node, const AttentionSizes& of, double scale,
                             DataType type) {
  const HeadForms heads = head_forms(of);
  const Sizes sizes = {of.batch, of.q.heads, of.q.length, of.k.length};
  Heads q = of.q;
  // Sums of 16-bit floats are stored as such: they are kept small.
  const bool first = bit_width(type) == 16;
  if (first) q.tensor = node.let(fmt::format("{} * {}", q.tensor, literal(scale)));
  const std::string sum =
      contract(node, '+', {"b", heads.q, "q", "k"}, sizes,
               q.at(heads.q, "q", "d") + " * " + of.k.at(heads.kv, "k", "d"), heads.constraints);
  return first ? sum : node.let(fmt::format("{} * {}", sum, literal(scale)));
}

std::string attention_softmax(NodeWriter& node, const AttentionSizes& of,
                              const std::string& scores) {
  const Sizes sizes = {of.batch, of.q.heads, of.q.length, of.k.length};
  const std::vector<bool> axes = {false, false, false, true};
  const std::string at = scores + "[i0, i1, i2, i3]";
  const std::string top = reduced(node, '>', at, sizes, axes).kept;
  // Nothing is subtracted from a row of -inf alone.
  const std::string powers =
      node.let(fmt::format("exp({} - ({} == {} ? 0 : {}))", scores, top, literal(-HUGE_VAL), top));
  const std::string sum = reduced(node, '+', powers + "[i0, i1, i2, i3]", sizes, axes).kept;
  return fmt::format("({0} == 0 ? 0 : {1} / {0})", sum, powers);
}

std::string attention_values(NodeWriter& node, const AttentionSizes& of,
                             const std::string& probabilities, bool packed) {
  const HeadForms heads = head_forms(of);
  const std::string product =
      access(probabilities, {"b", heads.q, "q", "k"}) + " * " + of.v.at(heads.kv, "k", "e");
  if (!packed)
    return contract(node, '+', {"b", heads.q, "q", "e"},
                    {of.batch, of.q.heads, of.q.length, of.v.size}, product, heads.constraints);
  const std::string out =
      contract(node, '+', {"b", "q", heads.q, "e"}, {of.batch, of.q.length, of.q.heads, of.v.size},
               product, heads.constraints);
  return reshaped(out, {of.batch, of.q.length, of.q.heads * of.v.size});
}

}  // namespace stria::onnx
