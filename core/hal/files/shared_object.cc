// SPDX-License-Identifier: Apache-2.0
// Boost's library_info reads the symbol table that stripping removes, and trusts every offset.
#include "stria/hal/files/shared_object.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "stria/base/text.h"
#include "stria/hal/boundary/info.h"

namespace stria::hal {
namespace {

// EM_NONE: not known here, so the loader alone judges.
constexpr uint16_t kMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#elif defined(__riscv)
    EM_RISCV;
#elif defined(__powerpc64__)
    EM_PPC64;
#else
    EM_NONE;
#endif
constexpr unsigned char kByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// Bytes of a table that are read at once: a sparse file may name far more than there is memory.
constexpr uint64_t kMaxTable = uint64_t{1} << 28;

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "i386";
    case EM_AARCH64: return "aarch64";
    case EM_ARM: return "arm";
    case EM_RISCV: return "riscv";
    case EM_PPC64: return "ppc64";
    case EM_S390: return "s390";
  }
  return fmt::format("machine {}", machine);
}

// Bytes of a file at offsets that the file itself names: none is believed.
class ElfReader {
 public:
  explicit ElfReader(const std::filesystem::path& path)
      : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ElfReader(const ElfReader&) = delete;
  ElfReader& operator=(const ElfReader&) = delete;
  ~ElfReader() {
    if (file_ >= 0) ::close(file_);
  }

  Status open() {
    struct stat info{};
    if (file_ < 0 || ::fstat(file_, &info) != 0)
      return not_found("cannot read '{}': {}", name_, std::strerror(errno));
    if (!S_ISREG(info.st_mode)) return not_found("'{}' is not a regular file", name_);
    size_ = static_cast<uint64_t>(info.st_size);
    return Status();
  }
  // Ok if `bytes` from `offset` lie in the file; `what` names them.
  Status check(uint64_t offset, uint64_t bytes, std::string_view what) const {
    if (offset <= size_ && bytes <= size_ - offset) return Status();
    return make_error(StatusCode::data_loss,
                      "'{}' is truncated: {} has {} bytes from offset {}, the file ends at {}",
                      name_, what, bytes, offset, size_);
  }
  template <typename T>
  Result<std::vector<T>> read(uint64_t offset, uint64_t count, std::string_view what) const {
    // No product here can overflow: a count comes from 16 bits or was divided.
    if (count * sizeof(T) > kMaxTable)
      return make_error(StatusCode::out_of_range, "'{}': {} has {} bytes, the limit is {}", name_,
                        what, count * sizeof(T), kMaxTable);
    STRIA_RETURN_IF_ERROR(check(offset, count * sizeof(T), what));
    std::vector<T> values(count);
    char* to = reinterpret_cast<char*>(values.data());
    for (uint64_t done = 0; done < count * sizeof(T);) {
      const ssize_t got =
          ::pread(file_, to + done, count * sizeof(T) - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return make_error(StatusCode::data_loss, "cannot read {} of '{}'", what, name_);
      done += static_cast<uint64_t>(got);
    }
    return values;
  }
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }

 private:
  std::string name_;
  int file_;
  uint64_t size_ = 0;
};

Result<Elf64_Ehdr> read_header(const ElfReader& file) {
  if (file.size() < EI_NIDENT)
    return make_error(StatusCode::incompatible, "'{}' is no ELF file: it has {} bytes", file.name(),
                      file.size());
  STRIA_ASSIGN(auto ident, file.read<unsigned char>(0, EI_NIDENT, "the ELF identification"));
  if (std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0)
    return make_error(StatusCode::incompatible,
                      "'{}' is no ELF file: it begins with {:02x} {:02x} {:02x} {:02x}",
                      file.name(), ident[0], ident[1], ident[2], ident[3]);
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != kByteOrder)
    return make_error(StatusCode::incompatible,
                      "'{}' is an ELF file of class {} and byte order {}; here they are {} and {}",
                      file.name(), ident[EI_CLASS], ident[EI_DATA], ELFCLASS64, kByteOrder);
  STRIA_ASSIGN(auto header, file.read<Elf64_Ehdr>(0, 1, "the ELF header"));
  if (header[0].e_type != ET_DYN)
    return make_error(StatusCode::incompatible,
                      "'{}' is an ELF file of type {}, not a shared object ({})", file.name(),
                      header[0].e_type, ET_DYN);
  return header[0];
}

Status read_segments(const ElfReader& file, const Elf64_Ehdr& header, SharedObject& object) {
  STRIA_ASSIGN(auto segments,
               file.read<Elf64_Phdr>(header.e_phoff, header.e_phnum, "the program header table"));
  // Without a note the loader assumes the worst.
  object.executable_stack = true;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type == PT_GNU_STACK) object.executable_stack = (segment.p_flags & PF_X) != 0;
    constexpr uint32_t kWritableCode = PF_W | PF_X;
    if (segment.p_type == PT_LOAD && (segment.p_flags & kWritableCode) == kWritableCode)
      object.writable_code = true;
    if (segment.p_type == PT_LOAD)
      STRIA_RETURN_IF_ERROR(
          file.check(segment.p_offset, segment.p_filesz, fmt::format("segment {}", i)));
  }
  return Status();
}

bool is_export(const Elf64_Sym& symbol) {
  const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned char visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

// The names that the entries of a section point into.
class Names {
 public:
  static Result<Names> of(const ElfReader& file, const std::vector<Elf64_Shdr>& sections,
                          const Elf64_Shdr& section) {
    if (section.sh_link >= sections.size())
      return make_error(StatusCode::data_loss, "'{}': the symbols' names are in section {} of {}",
                        file.name(), section.sh_link, sections.size());
    const Elf64_Shdr& names = sections[section.sh_link];
    STRIA_ASSIGN(auto text,
                 file.read<char>(names.sh_offset, names.sh_size, "the dynamic string table"));
    return Names(file.name(), std::move(text));
  }
  Result<std::string> at(uint64_t offset) const {
    if (offset >= text_.size())
      return make_error(StatusCode::data_loss, "'{}': a symbol's name is at {} of {} bytes", file_,
                        offset, text_.size());
    const std::string_view rest(text_.data() + offset, text_.size() - offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

 private:
  Names(std::string file, std::vector<char> text)
      : file_(std::move(file)), text_(std::move(text)) {}
  std::string file_;
  std::vector<char> text_;
};

Status read_symbols(const ElfReader& file, const std::vector<Elf64_Shdr>& sections,
                    const Elf64_Shdr& section, SharedObject& object) {
  STRIA_ASSIGN(const Names names, Names::of(file, sections, section));
  STRIA_ASSIGN(auto symbols,
               file.read<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym),
                                    "the dynamic symbol table"));
  for (const Elf64_Sym& symbol : symbols) {
    if (!is_export(symbol)) continue;
    STRIA_ASSIGN(std::string name, names.at(symbol.st_name));
    if (ELF64_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE) object.unique.push_back(name);
    object.exports.push_back(std::move(name));
  }
  std::sort(object.exports.begin(), object.exports.end());
  return Status();
}

Status read_dynamic(const ElfReader& file, const std::vector<Elf64_Shdr>& sections,
                    const Elf64_Shdr& section, SharedObject& object) {
  STRIA_ASSIGN(const Names names, Names::of(file, sections, section));
  STRIA_ASSIGN(auto entries,
               file.read<Elf64_Dyn>(section.sh_offset, section.sh_size / sizeof(Elf64_Dyn),
                                    "the dynamic section"));
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_TEXTREL ||
        (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL) != 0))
      object.text_relocations = true;
    const bool is_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
    if (!is_path && entry.d_tag != DT_NEEDED) continue;
    STRIA_ASSIGN(std::string name, names.at(entry.d_un.d_val));
    if (is_path)
      for (std::string& path : split(name, ':')) object.run_paths.push_back(std::move(path));
    else
      object.needed.push_back(std::move(name));
  }
  return Status();
}

Status read_sections(const ElfReader& file, const Elf64_Ehdr& header, SharedObject& object) {
  STRIA_ASSIGN(auto sections,
               file.read<Elf64_Shdr>(header.e_shoff, header.e_shnum, "the section header table"));
  bool has_symbols = false;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNSYM && !has_symbols) {
      has_symbols = true;
      STRIA_RETURN_IF_ERROR(read_symbols(file, sections, section, object));
    }
    if (section.sh_type == SHT_DYNAMIC)
      STRIA_RETURN_IF_ERROR(read_dynamic(file, sections, section, object));
  }
  if (has_symbols) return Status();
  return make_error(StatusCode::incompatible, "'{}' has no dynamic symbol table", file.name());
}

}  // namespace

Result<SharedObject> read_shared_object(const std::filesystem::path& path) {
  ElfReader file(path);
  STRIA_RETURN_IF_ERROR(file.open());
  STRIA_ASSIGN(Elf64_Ehdr header, read_header(file));
  SharedObject object;
  object.machine = header.e_machine;
  // What follows is laid out as that machine has it; another one's is not looked at.
  if (kMachine != EM_NONE && object.machine != kMachine) return object;
  STRIA_RETURN_IF_ERROR(read_segments(file, header, object));
  STRIA_RETURN_IF_ERROR(read_sections(file, header, object));
  return object;
}

Status check_shared_object(const std::filesystem::path& file, const std::string& symbol) {
  STRIA_ASSIGN(SharedObject object, read_shared_object(file));
  if (kMachine != EM_NONE && object.machine != kMachine)
    return make_error(StatusCode::incompatible, "'{}' is for {}, this machine is {}", file.string(),
                      machine_name(object.machine), machine_name(kMachine));
  if (object.executable_stack)
    return make_error(StatusCode::incompatible,
                      "'{}' asks for an executable stack; link it with -z noexecstack",
                      file.string());
  std::vector<std::string>& exports = object.exports;
  if (!std::binary_search(exports.begin(), exports.end(), symbol))
    return make_error(StatusCode::incompatible, "'{}' exports no {}", file.string(), symbol);
  if (exports.size() > 1) {
    const size_t more = exports.size() - 1;
    std::erase(exports, symbol);
    return make_error(StatusCode::incompatible,
                      "'{}' exports {} symbol{} beside {}, such as '{}'; link with sdk/plugin.map",
                      file.string(), more, more == 1 ? "" : "s", symbol,
                      exports.empty() ? symbol : one_line(exports.front()));
  }
  return Status();
}

}  // namespace stria::hal
