// SPDX-License-Identifier: Apache-2.0
// Einsum: a contraction of two operands at a time, which is what Tile's contractions are.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// Labels are indices of Tile: "l97" is 'a', "e0" the last dimension of an ellipsis.
struct Term {
  std::string tensor;
  Forms labels;
  Sizes sizes;
};

// The labels of "b...ij"; an ellipsis stands for `ellipsis` dimensions.
Result<Forms> einsum_labels(const NodeWriter& node, std::string_view text, size_t ellipsis) {
  Forms out;
  for (size_t c = 0; c < text.size(); ++c) {
    if (text.substr(c, 3) == "...") {
      for (size_t e = ellipsis; e-- > 0;) out.push_back(fmt::format("e{}", e));
      c += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[c]))) {
      out.push_back(fmt::format("l{}", static_cast<int>(text[c])));
    } else {
      return node.error(fmt::format("'{}' in its equation", text[c]));
    }
  }
  return out;
}

using LabelSizes = std::map<std::string, int64_t>;

std::string einsum_access(const Term& term, const LabelSizes& sizes) {
  Forms forms = term.labels;
  // A size of 1 is repeated.
  for (size_t d = 0; d < forms.size(); ++d)
    if (term.sizes[d] != sizes.at(forms[d])) forms[d] = "0";
  return access(term.tensor, forms);
}

bool holds(const Forms& labels, const std::string& label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The sum of the product over all labels but those in `kept`.
Term einsum_step(NodeWriter& node, const std::string& body, const Forms& kept,
                 const LabelSizes& sizes, DataType type) {
  Term out;
  out.labels = kept;
  for (const std::string& label : kept) out.sizes.push_back(sizes.at(label));
  out.tensor = contract(node, '+', kept, out.sizes, body);
  const std::string same = summed(out.tensor, type);
  if (same != out.tensor) out.tensor = node.let(same);
  return out;
}

}  // namespace

Status einsum(NodeWriter& node) {
  STRIA_ASSIGN(std::string equation, node.string_attribute("equation", ""));
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  std::vector<std::string> texts(1);
  for (const char c : left)
    if (c == ',')
      texts.emplace_back();
    else
      texts.back() += c;
  if (static_cast<int>(texts.size()) != node.input_count())
    return node.error(fmt::format("equation '{}' has {} operands, the node {}", equation,
                                  texts.size(), node.input_count()));
  std::vector<Term> terms;
  LabelSizes sizes;
  std::map<std::string, int> occurs;
  size_t ellipsis = 0;
  for (size_t t = 0; t < texts.size(); ++t) {
    Term term;
    STRIA_ASSIGN(term.tensor, node.tensor(static_cast<int>(t)));
    term.sizes = node.type(static_cast<int>(t)).sizes;
    const bool open = texts[t].find("...") != std::string::npos;
    const size_t letters = texts[t].size() - (open ? 3 : 0);
    if (term.sizes.size() < letters || (!open && term.sizes.size() != letters))
      return node.error(fmt::format("'{}' for a tensor of rank {}", texts[t], term.sizes.size()));
    const size_t missing = term.sizes.size() - letters;
    ellipsis = std::max(ellipsis, missing);
    STRIA_ASSIGN(term.labels, einsum_labels(node, texts[t], missing));
    for (size_t d = 0; d < term.labels.size(); ++d) {
      int64_t& size = sizes.emplace(term.labels[d], 1).first->second;
      if (size != 1 && term.sizes[d] != 1 && size != term.sizes[d])
        return node.error(
            fmt::format("a label of '{}' has {} and {} elements", equation, size, term.sizes[d]));
      if (term.sizes[d] != 1) size = term.sizes[d];
      ++occurs[term.labels[d]];
    }
    terms.push_back(std::move(term));
  }
  Forms result;
  if (arrow != std::string::npos) {
    STRIA_ASSIGN(result,
                 einsum_labels(node, std::string_view(equation).substr(arrow + 2), ellipsis));
    for (const std::string& label : result)
      if (!sizes.contains(label))
        return node.error(fmt::format("equation '{}' has a result that no operand has", equation));
  } else {
    // The ellipsis, then the letters that stand once, in their order.
    STRIA_ASSIGN(result, einsum_labels(node, "...", ellipsis));
    for (int letter = 0; letter < 128; ++letter)
      if (const auto at = occurs.find(fmt::format("l{}", letter));
          at != occurs.end() && at->second == 1)
        result.push_back(at->first);
  }
  const DataType type = node.type(0).type;
  Term all = terms[0];
  for (size_t t = 1; t < terms.size(); ++t) {
    // What later operands or the result need.
    Forms kept;
    for (const Forms* labels : {&all.labels, &terms[t].labels})
      for (const std::string& label : *labels) {
        bool needed = holds(result, label);
        for (size_t later = t + 1; later < terms.size(); ++later)
          needed = needed || holds(terms[later].labels, label);
        if (needed && !holds(kept, label)) kept.push_back(label);
      }
    const std::string body = einsum_access(all, sizes) + " * " + einsum_access(terms[t], sizes);
    all = einsum_step(node, body, t + 1 == terms.size() ? result : kept, sizes, type);
  }
  if (terms.size() == 1) all = einsum_step(node, einsum_access(all, sizes), result, sizes, type);
  return node.result(0, all.tensor);
}

}  // namespace stria::onnx::operators
