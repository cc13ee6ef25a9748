// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/kernel/section_nests.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "stria/cost/kernel/kernel_traffic.h"

namespace stria::cost {
namespace {

constexpr double kWithoutEnd = std::numeric_limits<double>::infinity();

// Bytes of the section's tensors, by name.
using Touched = std::map<std::string_view, double>;

Touched touched_by(const KernelNest& nest, int64_t line_bytes) {
  std::set<size_t> used;
  for (const NestPiece& piece : nest.pieces)
    for (const NestOperation& operation : piece.operations)
      if (operation.kind == NestOperation::Kind::access) used.insert(operation.access.tensor);
  Touched out;
  for (const size_t at : used) {
    const NestTensor& tensor = nest.tensors[at];
    if (!tensor.outside) continue;
    const KernelTraffic traffic =
        traffic_of(nest, {.capacity = kWithoutEnd, .line_bytes = line_bytes},
                   [&](const NestTensor& each) { return &each == &tensor; });
    out[tensor.name] = std::min(traffic.bytes(), tensor.bytes);
  }
  return out;
}

Touched touched_by(const stripe::Special& special, const stripe::Block& section) {
  Touched out;
  for (const stripe::Refinement& ref : section.refs)
    for (const auto* names : {&special.inputs, &special.outputs})
      if (std::find(names->begin(), names->end(), ref.into) != names->end())
        out[ref.into] = static_cast<double>(ref.shape.span_bytes());
  return out;
}

// since_bytes of the tensors that statement `at` touches.
std::map<std::string_view, double> since(const std::vector<Touched>& statements, size_t at,
                                         bool again) {
  std::map<std::string_view, double> out;
  Touched own = statements[at], seen;
  double between = 0;
  const size_t most = again ? statements.size() : at;
  for (size_t back = 1; back <= most && !own.empty(); ++back) {
    const Touched& before = statements[(at + statements.size() - back) % statements.size()];
    double more = 0;
    for (const auto& [name, bytes] : before) {
      if (const auto found = own.find(name); found != own.end() && bytes >= found->second / 2) {
        out[name] = between + bytes;
        own.erase(found);
      }
      double& so_far = seen[name];
      more += std::max(bytes - so_far, 0.0);
      so_far = std::max(bytes, so_far);
    }
    between += more;
  }
  for (const auto& [name, bytes] : own) out[name] = kWithoutEnd;
  return out;
}

}  // namespace

std::vector<SectionNest> section_nests(const stripe::Block& section, const HardwareModel& model,
                                       bool again) {
  const int64_t line_bytes = model.cache_line_bytes();
  std::vector<SectionNest> out;
  std::vector<Touched> statements;
  std::vector<size_t> places;
  out.reserve(section.stmts.size());  // names lie in the nests
  for (const stripe::Statement& statement : section.stmts) {
    if (const stripe::Block* kernel = statement.block()) {
      places.push_back(statements.size());
      out.push_back({kernel, kernel_nest(section, *kernel)});
      statements.push_back(touched_by(out.back().nest, line_bytes));
    } else if (const stripe::Special* special = statement.special()) {
      statements.push_back(touched_by(*special, section));
    }
  }
  for (size_t k = 0; k < out.size(); ++k)
    for (const auto& [name, bytes] : since(statements, places[k], again))
      for (NestTensor& tensor : out[k].nest.tensors)
        if (tensor.outside && tensor.name == name) tensor.since_bytes = bytes;
  return out;
}

}  // namespace stria::cost
