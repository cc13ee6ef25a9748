// SPDX-License-Identifier: Apache-2.0
// Tensors as .npy files, format versions 1.0 to 3.0 as numpy.lib.format documents them: magic,
// version, header length, a Python dictionary literal with descr, fortran_order and shape, raw
// data.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "stria/type/host_tensor.h"

namespace stria {

// What the header of a .npy file says.
struct NpyHeader {
  // Of the elements in the file: u16 and u8 for opaque ones (V2, V1, f1), which carry another type.
  DataType type = DataType::fp32;
  bool opaque = false;  // only a reader that knows better may use them
  // What the file says they carry: packed types have names as in ml_dtypes, "float8_e4m3fn".
  std::optional<DataType> carried;
  bool big_endian = false;
  bool fortran_order = false;  // first dimension contiguous
  std::vector<int64_t> sizes;
  size_t data_offset = 0;  // bytes from the start of the file
};

// Reads a header from the first bytes of a file; `name` stands in messages. data_loss if it is cut
// short, invalid_argument if it is malformed, unsupported for element types that stria lacks.
Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view name);

// The tensor in C order and native byte order. Files of another length than the header asks for are
// refused. `carried` is what the elements of the file are bits of: bf16 in two bytes (u2, V2); a
// packed type, each element in a byte of its own (u1, V1, f1; signed integers in i1 or V1). Its
// elements are packed here. invalid_argument for a number that the type does not have.
Result<HostTensor> parse_npy(std::string_view bytes, std::string_view name,
                             std::optional<DataType> carried = std::nullopt);
// What else a file's type and sizes must be: asked before its data are read.
using NpyCheck = std::function<Status(DataType type, const std::vector<int64_t>& sizes)>;
// Takes memory for what the file has, and not for what its header claims.
Result<HostTensor> read_npy(const std::filesystem::path& path,
                            std::optional<DataType> carried = std::nullopt,
                            const NpyCheck& check = nullptr);

// Version 1.0, C order, little endian; bf16 as u2, the bits of fp8 and fp4 as u1, packed integers
// as i1 and u1. A header that does not fit 65535 bytes becomes version 2.0.
std::string format_npy(const HostTensor& tensor);

}  // namespace stria
