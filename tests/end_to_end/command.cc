// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace stria::end_to_end {
namespace {

constexpr unsigned kSecondsAllowed = 240;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Value of one element, and how it is stored: one entry for each type.
struct Format {
  const char* descr;
  void (*append)(std::string& bytes, double value);
  double (*element)(const char* at);
};
template <typename T>
constexpr Format format(const char* descr) {
  return {descr,
          [](std::string& bytes, double value) {
            const T number = static_cast<T>(value);
            bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
          },
          [](const char* at) {
            T number;
            std::memcpy(&number, at, sizeof number);
            return static_cast<double>(number);
          }};
}
constexpr Format kFormats[] = {
    format<_Float16>("<f2"), format<float>("<f4"),    format<double>("<f8"),
    format<int8_t>("|i1"),   format<int16_t>("<i2"),  format<int32_t>("<i4"),
    format<int64_t>("<i8"),  format<uint8_t>("|u1"),  format<uint16_t>("<u2"),
    format<uint32_t>("<u4"), format<uint64_t>("<u8"), format<uint8_t>("|b1")};

const Format& format_of(const std::string& descr) {
  for (const Format& one : kFormats)
    if (descr == one.descr) return one;
  throw std::runtime_error("no type " + descr);
}

}  // namespace

Folder::Folder() {
  std::string pattern = fs::temp_directory_path() / "stria_end_to_end_XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}
Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

pid_t Folder::start(const std::vector<std::string>& arguments,
                    const std::function<void()>& before) const {
  // Beside the folder, so that files() sees only what the command made.
  const std::string out = path_.string() + ".out", err = path_.string() + ".err";
  const std::string program = STRIA_BINARY_DIR "/bin/stria";
  std::vector<const char*> argv = {program.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSecondsAllowed);
    ::unsetenv("STRIA_PLUGIN_PATH");
    if (!plugin_path_.empty()) ::setenv("STRIA_PLUGIN_PATH", plugin_path_.c_str(), 1);
    const int out_file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err_file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out_file, STDOUT_FILENO);
    ::dup2(err_file, STDERR_FILENO);
    const bool there = ::chdir(path_.c_str()) == 0;
    if (before) before();
    if (there) ::execv(program.c_str(), const_cast<char**>(argv.data()));
    ::_exit(126);
  }
  return child;
}

Ended Folder::end(pid_t child) const {
  const std::string out = path_.string() + ".out", err = path_.string() + ".err";
  int status = 0;
  ::waitpid(child, &status, 0);
  Ended ended;
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = slurp(out);
  ended.err = slurp(err);
  fs::remove(out);
  fs::remove(err);
  // A question is the end of its sentence.
  for (const char* mark : {"'?;", "'?,"})
    EXPECT_EQ(ended.err.find(mark), std::string::npos) << ended.err;
  return ended;
}

void Folder::write(const std::string& name, const std::string& bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
}
std::string Folder::read(const std::string& name) const { return slurp(path_ / name); }
std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  // By hand: a recursive iterator stumbles over links that lead in a circle.
  std::vector<fs::path> folders = {path_};
  while (!folders.empty()) {
    const fs::path folder = folders.back();
    folders.pop_back();
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.symlink_status().type() == fs::file_type::directory)
        folders.push_back(entry.path());
      else
        names.push_back(fs::relative(folder, path_) / entry.path().filename());
    }
  }
  for (std::string& name : names)
    if (name.starts_with("./")) name.erase(0, 2);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string npy_bytes(const Array& array) {
  std::string shape;
  for (int64_t size : array.sizes) shape += std::to_string(size) + ",";
  std::string header =
      "{'descr': '" + array.descr + "', 'fortran_order': False, 'shape': (" + shape + ")}";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  const Format& type = format_of(array.descr);
  for (double value : array.values) type.append(bytes, value);
  return bytes;
}

Array parse_npy_bytes(const std::string& bytes) {
  if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    throw std::runtime_error("no .npy");
  const size_t length =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  if (header.find("'fortran_order': False") == std::string::npos) throw std::runtime_error(header);
  Array array;
  const size_t descr = header.find("'descr': '") + 10;
  array.descr = header.substr(descr, header.find('\'', descr) - descr);
  const size_t open = header.find('(');
  std::string shape = header.substr(open + 1, header.find(')') - open - 1);
  std::replace(shape.begin(), shape.end(), ',', ' ');
  int64_t count = 1;
  for (const std::string& size : words(shape)) {
    array.sizes.push_back(std::stoll(size));
    count *= array.sizes.back();
  }
  const int64_t size = array.descr.back() - '0';
  if (static_cast<int64_t>(bytes.size() - 10 - length) != count * size)
    throw std::runtime_error("size");
  const Format& type = format_of(array.descr);
  for (int64_t i = 0; i < count; ++i)
    array.values.push_back(type.element(bytes.data() + 10 + length + i * size));
  return array;
}

}  // namespace stria::end_to_end
