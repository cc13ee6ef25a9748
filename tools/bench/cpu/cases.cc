// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stria/base/file.h"

namespace stria::bench {
namespace {

using nlohmann::json;

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }

Case gemm_case(const Gemm& g) {
  Case out;
  out.gemm = g;
  out.name = fmt::format("{}x{}x{}{}{}", g.m, g.n, g.k, g.transposed ? " transposed" : "",
                         g.type == DataType::fp32 ? "" : fmt::format(" {}", name_of(g.type)));
  out.text = g.transposed
                 ? "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }"
                 : "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }";
  const auto matrix = [&](int64_t rows, int64_t columns) {
    return TensorType{g.type, {rows, columns}};
  };
  out.inputs = {{"A", matrix(g.m, g.k)}, {"B", g.transposed ? matrix(g.n, g.k) : matrix(g.k, g.n)}};
  if (g.constant) out.constants = {"B"};
  out.operations =
      2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  return out;
}

Case conv_case(const Conv& c) {
  Case out;
  out.conv = c;
  const int64_t size = c.out_size();
  out.name = fmt::format("{}{}x{}x{} {}x{}/{} {}{}",
                         c.batch == 1 ? "" : fmt::format("{} of ", c.batch), c.size, c.size, c.in,
                         c.kernel, c.kernel, c.stride, c.out, c.depthwise ? " depthwise" : "");
  const std::string header =
      c.fused ? "I[N, H, W, C], F[KH, KW, C, K], B[K], R[N, Y, X, K]"
              : (c.depthwise ? "I[N, H, W, C], F[KH, KW, C]" : "I[N, H, W, C], F[KH, KW, C, K]");
  const std::string sum = c.fused || c.relu ? "S" : "O";
  out.text = fmt::format(
      "function ({0}) -> (O) {{ {1}[n, y, x, {2} : N, {3}, {3}, {4}] = "
      "+(I[n, {5}*y + i - {6}, {5}*x + j - {6}, c] * F[i, j, {7}]);{8} }}",
      header, sum, c.depthwise ? "c" : "k", size, c.depthwise ? "C" : "K", c.stride, c.pad(),
      c.depthwise ? "c" : "c, k",
      c.fused  ? " T = S + B + R; O = max(T, 0.0);"
      : c.relu ? " O = max(S, 0.0);"
               : "");
  out.inputs = {{"I", fp32({c.batch, c.size, c.size, c.in})},
                {"F", c.depthwise ? fp32({c.kernel, c.kernel, c.in})
                                  : fp32({c.kernel, c.kernel, c.in, c.out})}};
  out.constants = {"F"};
  if (c.fused) {
    out.inputs["B"] = fp32({c.out});
    out.inputs["R"] = fp32({c.batch, size, size, c.out});
    out.constants.insert("B");
  }
  out.operations = 2.0 * static_cast<double>(c.batch * size * size * c.out) *
                   static_cast<double>(c.kernel * c.kernel * (c.depthwise ? 1 : c.in));
  return out;
}

Case memory_case(const json& row) {
  Case out;
  out.name = row.at("name");
  out.text = row.at("text");
  out.mix = Mix{row.at("reads"), row.at("writes")};
  double largest = 0;
  for (const auto& [name, sizes] : row.at("inputs").items()) {
    out.inputs[name] = fp32(sizes.get<std::vector<int64_t>>());
    double elements = 1;
    for (int64_t size : out.inputs[name].sizes) elements *= static_cast<double>(size);
    largest = std::max(largest, elements);
  }
  out.bytes = 4 * largest * (out.mix->reads + out.mix->writes);
  return out;
}

Case case_of(const json& file, SetKind kind, const json& row) {
  if (kind == SetKind::memory) return memory_case(row);
  if (kind == SetKind::gemm || (kind == SetKind::compile && row.size() == 3)) {
    Gemm g{row.at(0), row.at(1), row.at(2), file.value("constant", false), false};
    const std::string type = file.value("type", "fp32");
    const std::optional<DataType> known = parse_data_type(type);
    if (!known) throw std::runtime_error("/type: there is no type '" + type + "'");
    g.type = *known;
    if (row.size() > 3) {
      g.constant = row.at(4);
      g.transposed = row.at(5);
    }
    Case out = gemm_case(g);
    if (row.size() > 3) out.times = row.at(3);
    return out;
  }
  Conv c{row.at(0), row.at(1), row.at(2), row.at(3), row.at(4), false, file.value("fused", false)};
  if (row.size() > 6) c.depthwise = row.at(6);
  c.relu = file.value("relu", false);
  c.batch = file.value("batch", int64_t{1});
  Case out = conv_case(c);
  out.times = row.at(5);
  // Here the weights change from run to run.
  if (kind == SetKind::step) out.constants.clear();
  return out;
}

CaseSet set_of(const std::string& name, const json& file) {
  const std::map<std::string, SetKind> kinds = {
      {"gemm", SetKind::gemm}, {"conv", SetKind::conv},       {"memory", SetKind::memory},
      {"step", SetKind::step}, {"threads", SetKind::threads}, {"compile", SetKind::compile}};
  CaseSet out;
  out.name = name;
  out.what = file.at("what");
  out.kind = kinds.at(file.at("kind"));
  out.geomean = file.value("geomean", 0.0);
  out.worst = file.value("worst", 0.0);
  out.at_most = file.value("at_most", 0.0);
  out.kept_at_most = file.value("kept_at_most", 0.0);
  for (const json& row : file.at("rows")) out.cases.push_back(case_of(file, out.kind, row));
  return out;
}

}  // namespace

std::filesystem::path sets_folder(const std::filesystem::path& source) {
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sets";
  return std::filesystem::exists(beside) ? beside : source / "tools/bench/cpu/sets";
}

bool begins_with_one_of(const std::string& name, const std::string& list) {
  if (list.empty()) return true;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');)
    if (name.rfind(part, 0) == 0) return true;
  return false;
}

Result<std::vector<CaseSet>> read_sets(const std::filesystem::path& folder) {
  std::vector<CaseSet> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") continue;
    STRIA_ASSIGN(const std::string text, read_file(entry.path()));
    try {
      out.push_back(set_of(entry.path().stem().string(), json::parse(text)));
    } catch (const std::exception& problem) {
      return invalid_argument("{}: {}", entry.path().string(), problem.what());
    }
  }
  if (error) return not_found("{}: {}", folder.string(), error.message());
  std::sort(out.begin(), out.end(),
            [](const CaseSet& a, const CaseSet& b) { return a.name < b.name; });
  return out;
}

}  // namespace stria::bench
