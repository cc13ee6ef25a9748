// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/model_reader.h"

#include <algorithm>
#include <utility>

#include "stria/base/mapped_file.h"
#include "stria/base/shown_text.h"
#include "stria/onnx/model/graph_reader.h"
#include "stria/onnx/model/model_check.h"
#include "stria/onnx/model/tensor_reader.h"
#include "stria/onnx/wire/wire_reader.h"

namespace stria::onnx {
namespace {

WireSource source_of(std::string_view bytes, std::string_view name) {
  return {bytes, shown_name(name), kMostNesting};
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) {
    return byte == '\n' || byte == '\r' || byte == '\t' ||
           !is_control(static_cast<unsigned char>(byte));
  });
}

// A file of the format has no mark at its beginning. What the whole file is, is told by the fields
// of its outermost message, whose ends are looked at before anything else is read.
Status check_is_model(std::string_view bytes, std::string_view name) {
  WireSource source = source_of(bytes, "it is cut off or damaged");
  WireReader reader(source);
  bool known = false;
  while (reader.next()) {
    const uint32_t field = reader.field();
    known |= field == 1 && reader.type() == WireType::varint;
    known |= (field == 7 || field == 8) && reader.type() == WireType::bytes;
  }
  if (known && !reader.failed()) return Status();
  constexpr size_t kLookedAt = 64;
  const std::string_view begin = bytes.substr(0, kLookedAt);
  std::string why;
  if (bytes.empty())
    why = "it is empty";
  else if (is_text(begin))
    why = "it is a text, '" + shown_name(begin.substr(0, begin.find('\n'))) + "'";
  else if (known)
    why = reader.status().message();
  else
    why = "it has no ir_version, no opset_import and no graph";
  return invalid_argument("{}: not an ONNX file: {}", shown_name(name), why);
}

void read_metadata(WireReader reader, std::map<std::string, std::string>& metadata) {
  std::string key, value;
  while (reader.next()) switch (reader.field()) {
      case 1: key = reader.bytes("key"); break;
      case 2: value = reader.bytes("value"); break;
    }
  metadata[key] = value;
}

// What a model says about training (training_info) and about several devices (configuration)
// changes nothing of what its graph computes: it is skipped.
void read_fields(WireReader& reader, ReadContext& context, Model& out) {
  bool graph = false;
  size_t opsets = 0, entries = 0;
  while (reader.next()) switch (reader.field()) {
      case 1: {
        out.ir_version = reader.integer("ir_version");
        if (out.ir_version > kLastIrVersion)
          reader.fail(fmt::format("ir_version {}, but the newest that is read is {}",
                                  out.ir_version, kLastIrVersion),
                      StatusCode::unsupported);
        break;
      }
      case 2: out.producer = reader.bytes("producer_name"); break;
      case 7:
        out.graph = read_graph(reader.message("graph"), context);
        graph = true;
        break;
      case 8: read_opset(reader.message("opset_import", opsets++), out.opsets); break;
      case 14: read_metadata(reader.message("metadata_props", entries++), out.metadata); break;
      case 25:
        out.functions.push_back(
            read_function(reader.message("functions", out.functions.size()), context));
        break;
    }
  if (out.ir_version <= 0) reader.fail("a model without ir_version, or with one below 1");
  if (out.opsets.empty()) reader.fail("a model without opset_import");
  if (!graph) reader.fail("a model without a graph");
}

}  // namespace

Result<Model> read_model(const std::filesystem::path& path) {
  STRIA_ASSIGN(const auto file, MappedFile::open(path));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return parse_model(file->bytes(), file, path.string(), &folder);
}

Result<Model> parse_model(std::string_view bytes, std::shared_ptr<const void> owner,
                          std::string_view name, const std::filesystem::path* folder) {
  STRIA_RETURN_IF_ERROR(check_is_model(bytes, name));
  ExternalData external(folder != nullptr ? *folder : std::filesystem::path());
  ReadContext context{std::move(owner), folder != nullptr ? &external : nullptr};
  WireSource source = source_of(bytes, name);
  WireReader reader(source);
  Model out;
  out.file = name;
  read_fields(reader, context, out);
  STRIA_RETURN_IF_ERROR(reader.status());
  if (const Status status = check_names(out); !status.ok())
    return status.with_context(shown_name(out.file));
  return out;
}

Result<TensorData> parse_tensor(std::string_view bytes, std::shared_ptr<const void> owner,
                                std::string_view name) {
  ReadContext context{std::move(owner)};
  WireSource source = source_of(bytes, name);
  WireReader reader(source);
  TensorData out = read_tensor(reader, context);
  STRIA_RETURN_IF_ERROR(reader.status());
  return out;
}

}  // namespace stria::onnx
