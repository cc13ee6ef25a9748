// SPDX-License-Identifier: Apache-2.0
// What every fuzzer is: one function over any bytes, which returns 0, or ends the process if
// something that must hold does not (STRIA_CHECK, a sanitizer). Run by libFuzzer, or by replay.cc
// over files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace stria::fuzz {

inline std::string text_of(const uint8_t* data, size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

// The same number for the same text in every run: inputs choose sizes and types through names.
inline uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash ^ (hash >> 32);
}

}  // namespace stria::fuzz
