// SPDX-License-Identifier: Apache-2.0
#include "emit/kernel_image.h"

#include <cstring>

namespace stria::llvm_cpu {
namespace {

// Numbers as they lie in memory: an image never leaves its machine.
class Writer {
 public:
  void number(int64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// After the first thing that is not there, everything is 0 or empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  int64_t number() {
    int64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!failed_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(static_cast<uint64_t>(number()))); }
  // How many things of at least 8 bytes follow.
  int64_t count() {
    const int64_t value = number();
    if (value < 0 || static_cast<uint64_t>(value) > rest_.size() / 8) failed_ = true;
    return failed_ ? 0 : value;
  }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::string_view rest_;
  bool failed_ = false;
};

constexpr std::string_view kMagic = "llvm_cpu kernels 2";

}  // namespace

std::string write_image(const KernelImage& image) {
  Writer out;
  out.text(kMagic);
  out.number(static_cast<int64_t>(image.kernels.size()));
  for (size_t k = 0; k < image.kernels.size(); ++k) {
    const CompiledKernel& kernel = image.kernels[k];
    out.text(image.symbols[k]);
    out.text(kernel.name);
    out.number(kernel.in_prologue ? 1 : 0);
    out.number(kernel.statement);
    out.number(kernel.trip_count);
    out.number(static_cast<int64_t>(kernel.arguments.size()));
    for (const semtree::KernelArgument& argument : kernel.arguments) {
      out.text(argument.name);
      out.text(name_of(argument.type));
      out.number(argument.bytes);
      out.number(argument.offset_bytes);
      out.number((argument.writable ? 1 : 0) + (argument.readable ? 2 : 0));
    }
  }
  out.number(static_cast<int64_t>(image.objects.size()));
  for (const auto& [symbol, object] : image.objects) {
    out.text(symbol);
    out.text(object);
  }
  return out.take();
}

Result<KernelImage> read_image(std::string_view bytes) {
  Reader in(bytes);
  KernelImage out;
  if (in.text() != kMagic) return invalid_argument("no image of kernels");
  const int64_t kernels = in.count();
  for (int64_t k = 0; k < kernels && !in.failed(); ++k) {
    out.symbols.push_back(in.text());
    CompiledKernel& kernel = out.kernels.emplace_back();
    kernel.name = in.text();
    kernel.in_prologue = in.number() != 0;
    kernel.statement = in.number();
    kernel.trip_count = in.number();
    const int64_t arguments = in.count();
    for (int64_t a = 0; a < arguments && !in.failed(); ++a) {
      semtree::KernelArgument& argument = kernel.arguments.emplace_back();
      argument.name = in.text();
      const std::optional<DataType> type = parse_data_type(in.text());
      if (!type) return invalid_argument("an image of kernels with an unknown type");
      argument.type = *type;
      argument.bytes = in.number();
      argument.offset_bytes = in.number();
      const int64_t flags = in.number();
      argument.writable = (flags & 1) != 0;
      argument.readable = (flags & 2) != 0;
    }
  }
  const int64_t objects = in.count();
  for (int64_t o = 0; o < objects && !in.failed(); ++o) {
    std::string symbol = in.text();
    out.objects[std::move(symbol)] = in.text();
  }
  if (in.failed() || !in.at_end()) return invalid_argument("an image of kernels of another length");
  for (const std::string& symbol : out.symbols)
    if (out.objects.count(symbol) == 0)
      return invalid_argument("an image of kernels without the object of '{}'", symbol);
  return out;
}

}  // namespace stria::llvm_cpu
