// SPDX-License-Identifier: Apache-2.0
// The tests of tests/unit/kernels on the reader's C, which the system's compiler makes a shared
// object of: points in pieces of 3.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "kernel_runner.h"
#include "stria/sdk/reader.h"

namespace stria::kernels {

// A compiler process for each program.
const int kOneOf = 6;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/stria_reader_test_XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    for (const char* file : {"kernels.c", "kernels.so"}) unlink(in(file).c_str());
    rmdir(path_.c_str());
  }
  std::string in(const std::string& file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

Status status_of(const sdk::ReaderError& error) {
  return Status(static_cast<StatusCode>(error.code()), std::string(error.message()));
}

}  // namespace

Status run_compiled(const stripe::Program& program, const std::string& text, TestBuffers& buffers) {
  sdk::ReaderProgram read;
  if (const sdk::ReaderError error = sdk::read_program("program", text, &read))
    return status_of(error);
  sdk::CSource source;
  if (const sdk::ReaderError error = source.create()) return status_of(error);
  std::vector<sdk::ReaderTree> trees(read->kernel_count);
  for (uint64_t k = 0; k < read->kernel_count; ++k) {
    sdk::ReaderError error = sdk::build_tree(read, k, &trees[k]);
    if (!error) error = source.add(trees[k]);
    if (error) return status_of(error);
  }
  std::string code;
  if (const sdk::ReaderError error = source.print(&code)) return status_of(error);
  const Folder folder;
  std::ofstream(folder.in("kernels.c")) << code;
  const std::string command = "cc -O1 " STRIA_C_FLAGS
                              " -Wall -Wextra -Werror -Wno-unknown-pragmas"
                              " -Wno-unused-variable -Wno-unused-parameter"
                              " -fPIC -shared -o " +
                              folder.in("kernels.so") + " " + folder.in("kernels.c") + " -lm";
  if (std::system(command.c_str()) != 0)
    return internal_error("the compiler refuses what was printed:\n{}", code);
  void* library = dlopen(folder.in("kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return internal_error("{}", dlerror());
  for (uint64_t k = 0; k < read->kernel_count; ++k) {
    const std::string symbol(sdk::text_of(trees[k]->symbol));
    const auto kernel = reinterpret_cast<stria_c_kernel>(dlsym(library, symbol.c_str()));
    if (kernel == nullptr) return internal_error("{}", dlerror());
    std::vector<void*> arguments;
    for (const stria_kernel_argument& argument : sdk::arguments(*read->kernels[k]))
      arguments.push_back(
          buffer_behind(program, std::string(sdk::text_of(argument.name)), buffers).data());
    const auto points = static_cast<int64_t>(trees[k]->trip_count);
    for (int64_t first = 0; first < points; first += 3)
      kernel(arguments.data(), first, std::min(first + 3, points));
  }
  dlclose(library);
  return {};
}

}  // namespace stria::kernels
