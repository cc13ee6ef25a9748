// SPDX-License-Identifier: Apache-2.0
// ONNX models: what is read keeps its promises (model.h), and takes no more than the file has.
// External data is looked for in a folder with one file, w.bin.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "fuzzer.h"
#include "stria/base/file.h"
#include "stria/onnx/model/model_reader.h"

namespace {

using namespace stria;
using namespace stria::onnx;

constexpr size_t kWeightsBytes = 8192;

// Made once, and gone with the process.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "stria_onnx_fuzz_XXXXXX";
    STRIA_CHECK(::mkdtemp(name.data()) != nullptr, "no folder");
    path_ = name;
    const Status written = write_file(path_ / "w.bin", std::string(kWeightsBytes, 'w'));
    STRIA_CHECK(written.ok(), "{}", written.message());
  }
  ~Folder() {
    std::error_code gone;
    std::filesystem::remove_all(path_, gone);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void check(const Graph& graph, size_t size);

void check(const TensorData& tensor, size_t size) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims) {
    STRIA_CHECK(dim >= 0, "a negative dim");
    STRIA_CHECK(!__builtin_mul_overflow(count, dim, &count), "dims beyond 64 bits");
  }
  STRIA_CHECK(count == tensor.element_count(), "another number of elements");
  if (tensor.type == ElementType::string) {
    STRIA_CHECK(static_cast<int64_t>(tensor.strings.size()) == count, "other texts");
    return;
  }
  const int bits = bits_of(tensor.type);
  STRIA_CHECK(bits > 0, "elements without a size");
  const auto bytes = static_cast<int64_t>(tensor.bytes.size());
  STRIA_CHECK(bytes == count / 8 * bits + (count % 8 * bits + 7) / 8, "{} bytes", bytes);
  // A number of 8 bytes is a byte in the file, if it is small.
  STRIA_CHECK(tensor.bytes.size() <= std::max(8 * size, kWeightsBytes),
              "more data than the files have");
  uint64_t sum = 0;
  for (char byte : tensor.bytes) {
    sum += static_cast<unsigned char>(byte);
    STRIA_CHECK(tensor.type != ElementType::boolean || (byte & ~1) == 0, "no bool");
  }
  // Reads them all, which the compiler must not leave out.
  STRIA_CHECK(sum <= 255 * tensor.bytes.size(), "a sum");
}

void check(const SparseTensorData& sparse, size_t size) {
  check(sparse.values, size);
  check(sparse.indices, size);
  STRIA_CHECK(sparse.values.dims.size() == 1 && sparse.indices.type == ElementType::i64,
              "no sparse tensor");
}

void check(const Attribute& attribute, size_t size) {
  STRIA_CHECK(!attribute.name.empty(), "an attribute without a name");
  using Type = Attribute::Type;
  const bool value = attribute.refers_to.empty();
  STRIA_CHECK(!value || attribute.type != Type::t || attribute.t, "no tensor");
  STRIA_CHECK(!value || attribute.type != Type::g || attribute.g, "no graph");
  STRIA_CHECK(!value || attribute.type != Type::sparse_tensor || attribute.sparse, "no tensor");
  STRIA_CHECK(!value || attribute.type != Type::type_proto || attribute.value_type, "no type");
  if (attribute.t) check(*attribute.t, size);
  if (attribute.g) check(*attribute.g, size);
  if (attribute.sparse) check(*attribute.sparse, size);
  for (const auto& tensor : attribute.tensors) check(*tensor, size);
  for (const auto& graph : attribute.graphs) check(*graph, size);
}

void check(const std::vector<Node>& nodes, size_t size) {
  for (const Node& node : nodes) {
    STRIA_CHECK(!node.op_type.empty() && node.domain != "ai.onnx", "a node that is none");
    for (const Attribute& attribute : node.attributes) check(attribute, size);
  }
}

void check(const Graph& graph, size_t size) {
  check(graph.nodes, size);
  for (const auto& tensor : graph.initializers) check(*tensor, size);
  for (const auto& tensor : graph.sparse_initializers) check(*tensor, size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  const auto bytes = std::make_shared<const std::string>(fuzz::text_of(data, size));
  for (const bool in_folder : {true, false}) {
    const std::filesystem::path* const where = in_folder ? &folder.path() : nullptr;
    const Result<Model> model = parse_model(*bytes, bytes, "fuzz.onnx", where);
    if (!model.ok()) {
      STRIA_CHECK(model.status().message().starts_with("fuzz.onnx: "), "no message: {}",
                  model.status().message());
      continue;
    }
    STRIA_CHECK(!model->opsets.empty() && model->ir_version > 0, "no versions");
    check(model->graph, size);
    for (const Function& function : model->functions) {
      check(function.nodes, size);
      for (const Attribute& attribute : function.attribute_protos) check(attribute, size);
    }
  }
  const Result<TensorData> tensor = parse_tensor(*bytes, bytes, "fuzz.pb");
  if (tensor.ok()) check(*tensor, size);
  return 0;
}
