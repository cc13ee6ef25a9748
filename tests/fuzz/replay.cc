// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer without libFuzzer, with that one's spelling of options:
//   NAME_fuzz [-runs=N] [-seed=S] PATH…
// Each file, and each file of each folder, in name order; then N inputs made of pieces of them, the
// same ones for the same files and seed. What runs now lies in the file named at the start.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "fuzzer.h"
#include "stria/base/file.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = 1 << 20;

// An input is small, and so is the memory it may take. A sanitizer's own would count too.
void check_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;
#else
  constexpr long kMaxKib = 256 << 10;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  STRIA_CHECK(usage.ru_maxrss <= kMaxKib, "the input took {} KiB of memory, the limit is {}",
              usage.ru_maxrss, kMaxKib);
#endif
}

// An input in a file of its own, which is still there when the process is not.
class Input {
 public:
  explicit Input(const std::string& name) : file_(::open(name.c_str(), O_RDWR | O_CREAT, 0644)) {
    STRIA_CHECK(file_ >= 0 && ::ftruncate(file_, kMaxBytes) == 0, "cannot write '{}'", name);
    void* memory = ::mmap(nullptr, kMaxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    STRIA_CHECK(memory != MAP_FAILED, "cannot map '{}'", name);
    memory_ = static_cast<char*>(memory);
    std::printf("the input that runs is in %s\n", name.c_str());
    std::fflush(stdout);
  }
  ~Input() {
    ::munmap(memory_, kMaxBytes);
    ::close(file_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  void run(const std::string& bytes) {
    const size_t size = std::min(bytes.size(), kMaxBytes);
    STRIA_CHECK(::ftruncate(file_, static_cast<off_t>(std::max<size_t>(size, 1))) == 0,
                "cannot resize the input");
    std::memcpy(memory_, bytes.data(), size);
    // From a copy of exactly that size, so that a sanitizer sees its end.
    const std::vector<uint8_t> copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
    check_memory();
  }

 private:
  int file_;
  char* memory_ = nullptr;
};

std::string mutate(std::string text, const std::vector<std::string>& seeds,
                   std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return limit == 0 ? size_t{0} : random() % limit; };
  for (size_t edits = 1 + below(5); edits > 0; --edits) {
    const size_t at = below(text.size() + 1);
    const std::string& other = seeds[below(seeds.size())];
    const std::string piece =
        other.substr(below(other.size() + 1), 1 + below(below(4) == 0 ? 200 : 12));
    switch (below(7)) {
      case 0: text.insert(at, piece); break;
      case 1: text.replace(at, piece.size(), piece); break;
      case 2: text.erase(at, 1 + below(6)); break;
      case 3: text.erase(at, below(text.size() + 1)); break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 5:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 6: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
    }
  }
  return text;
}

// The number behind "-name="; false if `argument` is another one.
bool option(std::string_view argument, std::string_view name, uint64_t& value) {
  if (argument.substr(0, name.size()) != name) return false;
  argument.remove_prefix(name.size());
  const char* end = argument.data() + argument.size();
  STRIA_CHECK(std::from_chars(argument.data(), end, value).ptr == end, "'{}' is no number",
              argument);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  uint64_t runs = 0, seed = 1;
  std::vector<fs::path> files;
  for (int i = 1; i < count; ++i) {
    if (option(arguments[i], "-runs=", runs) || option(arguments[i], "-seed=", seed)) continue;
    if (fs::is_directory(arguments[i])) {
      for (const auto& entry : fs::directory_iterator(arguments[i])) files.push_back(entry.path());
    } else {
      files.push_back(arguments[i]);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no input: nothing was run\n");
    return 1;
  }
  Input input(fs::path(arguments[0]).filename().string() + ".input");
  std::vector<std::string> seeds;
  for (const fs::path& file : files) {
    stria::Result<std::string> bytes = stria::read_file(file);
    STRIA_CHECK(bytes.ok(), "{}", bytes.status().message());
    seeds.push_back(std::move(bytes).value());
    input.run(seeds.back());
  }
  std::mt19937_64 random(seed);
  for (uint64_t run = 0; run < runs; ++run)
    input.run(mutate(seeds[random() % seeds.size()], seeds, random));
  std::printf("%zu files and %llu mutations of them (-seed=%llu)\n", files.size(),
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(seed));
  return 0;
}
