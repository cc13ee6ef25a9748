// SPDX-License-Identifier: Apache-2.0
// Where a tensor given on the command line comes from and where one goes: `a.npy`, `a.npy:bf16`,
// `photo.png`, `photo.png:u8`, `photo.jpg`, `random:SEED`, `random:SEED:DTYPE`, `16000`, `1,2:i64`,
// `text:hello,world`; `r.npy`, `r.png`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/file.h"
#include "stria/base/status.h"
#include "stria/tensor_io/npy.h"
#include "stria/tensor_io/picture.h"
#include "stria/type/host_tensor.h"

namespace stria {

struct TensorSource {
  enum class Kind { npy, png, jpeg, random, numbers, texts };
  Kind kind = Kind::npy;
  std::string path;  // npy, png, jpeg
  // The suffix: bf16 and packed types for npy; u8, u16 or fp32 for png; u8 or fp32 for jpeg; any
  // for random and numbers.
  std::optional<DataType> type;
  uint64_t seed = 0;                      // random
  std::vector<std::string> numbers;       // numbers
  std::vector<std::string> texts;         // texts: strings, which no tensor holds
  std::optional<PictureOptions> picture;  // png, jpeg: what becomes of it
  bool is_picture() const { return kind == Kind::png || kind == Kind::jpeg; }
  // A file has a type and sizes of its own; others take them from who asks.
  bool is_file() const {
    return kind != Kind::random && kind != Kind::numbers && kind != Kind::texts;
  }
};

// Only the spelling is checked, no file is opened. A file name may hold colons: only a last part
// that is the name of a type is a suffix.
Result<TensorSource> parse_tensor_source(std::string_view text);

// A picture as its file has it, but in fp32; its suffix and its options are not looked at.
Result<HostTensor> read_picture(const TensorSource& source);

// A file's sizes and type are its own; `sizes` and `type` serve the others (type: fp32 if nothing
// says another). `what` names the tensor in messages. `check` is asked of a .npy file before its
// data are read. invalid_argument for texts. A picture without options is [H, W, C].
Result<HostTensor> read_tensor(const TensorSource& source, const std::vector<int64_t>& sizes,
                               DataType type, std::string_view what,
                               const NpyCheck& check = nullptr);

// Ok if the ending of `path` is one that format_tensor knows.
Status check_tensor_path(std::string_view path);
// Ok if a tensor of that type and shape can be written there, as far as that can be told before:
// the folder and an old file let us (file.h), and a .png can hold it. Touches nothing.
Status check_writable(const std::string& path, DataType type, const std::vector<int64_t>& sizes);
// What the file of a tensor holds, to be written with that of others by write_files.
Result<FileText> format_tensor(const std::string& path, const HostTensor& tensor);

}  // namespace stria
