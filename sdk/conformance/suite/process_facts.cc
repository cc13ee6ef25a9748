// SPDX-License-Identifier: Apache-2.0
#include "suite/process_facts.h"

#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <filesystem>
#include <fstream>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

extern char** environ;

namespace stria::conformance {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

template <typename Visit>
void each_entry(const char* folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    visit(*it);
}

}  // namespace

ProcessFacts ProcessFacts::now() {
  ProcessFacts out;
  out.state = hal::ProcessState::now();
  each_entry("/proc/self/task", [&](const fs::directory_entry& entry) {
    out.threads.insert(entry.path().filename().string() + " " + first_line(entry.path() / "comm"));
    std::ifstream children(entry.path() / "children");
    for (int child; children >> child;) out.children.insert(child);
  });
  each_entry("/proc/self/fd", [&](const fs::directory_entry& entry) {
    std::error_code error;
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (!error && target.string().find("/proc/") != 0)
      out.descriptors[std::stoi(entry.path().filename().string())] = target.string();
  });
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) == 0)
      out.handlers[number] = reinterpret_cast<std::uintptr_t>(action.sa_handler);
  }
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string text = *variable;
    const size_t end = text.find('=');
    out.variables[text.substr(0, end)] = end == std::string::npos ? "" : text.substr(end + 1);
  }
  out.rounding = std::fegetround();
#if defined(__x86_64__)
  // Flush-to-zero, denormals-are-zero and the rounding; not the sticky exceptions.
  out.float_flags = _mm_getcsr() & ~0x3fu;
#endif
  out.locale = std::setlocale(LC_ALL, nullptr);
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  out.mapped_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return out;
}

int thread_count() {
  int count = 0;
  each_entry("/proc/self/task", [&](const fs::directory_entry&) { ++count; });
  return count;
}

int descriptor_count() {
  int count = -1;  // the one of the folder itself
  each_entry("/proc/self/fd", [&](const fs::directory_entry&) { ++count; });
  return count;
}

}  // namespace stria::conformance
