// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.h"

#include <dlfcn.h>

#include <vector>

namespace stria::nvrtc {
namespace {

using Handle = void*;
struct Compiler {
  std::string missing;
  int (*create)(Handle*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Handle, int, const char* const*) = nullptr;
  int (*log_size)(Handle, size_t*) = nullptr;
  int (*log)(Handle, char*) = nullptr;
  int (*ptx_size)(Handle, size_t*) = nullptr;
  int (*ptx)(Handle, char*) = nullptr;
  int (*destroy)(Handle*) = nullptr;
};

Compiler open() {
  Compiler out;
  void* library = nullptr;
  for (const char* folder : {"", "/usr/local/cuda/lib64/"})
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (!library) library = dlopen((std::string(folder) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    out.missing = "libnvrtc is not installed";
    return out;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function) out.missing = std::string("libnvrtc has no ") + name;
  };
  find(out.create, "nvrtcCreateProgram");
  find(out.compile, "nvrtcCompileProgram");
  find(out.log_size, "nvrtcGetProgramLogSize");
  find(out.log, "nvrtcGetProgramLog");
  find(out.ptx_size, "nvrtcGetPTXSize");
  find(out.ptx, "nvrtcGetPTX");
  find(out.destroy, "nvrtcDestroyProgram");
  return out;
}

const Compiler& compiler() {
  static const Compiler opened = open();
  return opened;
}

}  // namespace

const std::string& why_missing() { return compiler().missing; }

Result<std::string> compile(const std::string& source, const std::string& architecture) {
  const Compiler& nvrtc = compiler();
  Handle program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "program.cu", 0, nullptr, nullptr) != 0)
    return internal_error("nvrtcCreateProgram failed");
  const std::string target = "--gpu-architecture=" + architecture;
  const char* options[] = {target.c_str(), "--std=c++17"};
  const int code = nvrtc.compile(program, 2, options);
  size_t size = 0;
  std::string text;
  if (code != 0) {
    nvrtc.log_size(program, &size);
    text.resize(size);
    nvrtc.log(program, text.data());
    nvrtc.destroy(&program);
    return invalid_argument("{}", text);
  }
  nvrtc.ptx_size(program, &size);
  text.resize(size);
  nvrtc.ptx(program, text.data());
  nvrtc.destroy(&program);
  return text;
}

}  // namespace stria::nvrtc
