// SPDX-License-Identifier: Apache-2.0
#include "shared_object.h"

#include <dlfcn.h>

#include <fstream>

#include "stria/sdk/error.h"
#include "temporary_folder.h"

namespace c_generator {

SharedObject::SharedObject(const std::string& bytes) {
  // The loader wants a file, and takes one of a name that it has loaded for the same: so each has a
  // name of its own, for as long as it takes to load.
  const TemporaryFolder folder;
  const std::string path = folder.file("kernels.so");
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  out.close();
  if (!out) throw stria::sdk::Error(STRIA_UNAVAILABLE, "cannot write " + path);
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr)
    throw stria::sdk::Error(STRIA_INTERNAL, std::string("cannot load the kernels: ") + dlerror());
}

SharedObject::~SharedObject() { dlclose(handle_); }

stria_c_kernel SharedObject::kernel(const std::string& symbol) const {
  const auto found = reinterpret_cast<stria_c_kernel>(dlsym(handle_, symbol.c_str()));
  if (found == nullptr)
    throw stria::sdk::Error(STRIA_INTERNAL, "the compiled kernels lack '" + symbol + "'");
  return found;
}

void SharedObject::set_micro_kernel(const std::string& name, stria_micro_kernel function) const {
  const std::string variable = STRIA_MICRO_KERNEL_VARIABLE + name;
  const auto found = static_cast<stria_micro_kernel*>(dlsym(handle_, variable.c_str()));
  if (found == nullptr)
    throw stria::sdk::Error(STRIA_INTERNAL, "the compiled kernels lack '" + variable + "'");
  *found = function;
}

}  // namespace c_generator
