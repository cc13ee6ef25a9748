// SPDX-License-Identifier: Apache-2.0
#include "memory/sharing_cases.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "memory/bench.h"
#include "memory/mapped.h"
#include "stria/experimental.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/sized.h"

namespace stria::conformance {
namespace {

constexpr uint64_t kPages = 3;
constexpr std::string_view kImport =
    "A buffer whose memory is `memory`: kernels read and write it there, and mappings see it.";
constexpr std::string_view kReleased =
    "Imports only: called once, from any thread, when the plugin does not touch the memory any "
    "more: after the buffer's release and the work that uses it.";
constexpr std::string_view kExport =
    "The memory of `buffer` for others, who may touch it while the buffer and no work on it lives.";

uint64_t page() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

// The plugin's table, with what it does not have null.
struct Sharing {
  stria_sharing_table table{};
  uint32_t imported = 0, exported = 0;
  bool imports(stria_memory_kind kind) const { return table.import_buffer && imported >> kind & 1; }
  bool exports(stria_memory_kind kind) const { return table.export_buffer && exported >> kind & 1; }
};

Status failure(std::string_view slot, stria_error* error) {
  return hal::take_error(error, hal::Reader::author).with_context(slot);
}

// Memory of ours that is mapped, with a descriptor if it has one.
class Pages {
 public:
  explicit Pages(bool with_descriptor) {
    if (with_descriptor) {
      descriptor_ = ::memfd_create("stria conform", MFD_CLOEXEC);
      if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(size())) != 0) return;
    }
    void* const memory =
        ::mmap(nullptr, size(), PROT_READ | PROT_WRITE,
               with_descriptor ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, descriptor_, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<std::byte*>(memory);
  }
  ~Pages() {
    if (memory_) ::munmap(memory_, size());
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  static uint64_t size() { return kPages * page(); }
  bool ok() const { return memory_ != nullptr; }
  int descriptor() const { return descriptor_; }
  std::span<std::byte> memory() const { return {memory_, size()}; }

 private:
  int descriptor_ = -1;
  std::byte* memory_ = nullptr;
};

// How often the plugin said that it does not touch the memory any more.
struct Releases {
  std::atomic<int> count{0};
  // Work in flight may hold the memory for a while.
  Status came() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (count == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (count == 1) return Status();
    return broken("`released` of an imported memory was called {} times after its buffer's release",
                  count.load());
  }
};

class Imports {
 public:
  Imports(const Bench& bench, const Sharing& sharing, stria_memory_kind kind)
      : bench_(bench), sharing_(sharing), kind_(kind), pages_(kind == STRIA_MEMORY_DESCRIPTOR) {}

  // Not safe to be destroyed before released() has been seen to come, or has failed.
  Result<Buffer> import_buffer(uint64_t offset, uint64_t bytes, Releases* releases) const {
    if (!pages_.ok()) return make_error(StatusCode::unavailable, "the suite gets no memory");
    stria_shared_memory given{};
    given.size = sizeof given;
    given.kind = kind_;
    given.descriptor = pages_.descriptor();
    if (kind_ == STRIA_HOST_MEMORY)
      given.address = pages_.memory().data() + offset;
    else
      given.offset = offset;
    given.bytes = bytes;
    given.state = releases;
    if (releases) given.released = [](void* state) { ++static_cast<Releases*>(state)->count; };
    stria_buffer* buffer = nullptr;
    STRIA_RETURN_IF_ERROR(
        failure("sharing.import_buffer",
                sharing_.table.import_buffer(bench_.subject().device(), &given, &buffer)));
    if (!buffer) return broken("sharing.import_buffer says that it succeeded and gives nothing");
    return Buffer(buffer, bench_.subject().tables().buffer.release);
  }
  const Bench& bench() const { return bench_; }
  std::span<std::byte> memory() const { return pages_.memory(); }
  int descriptor() const { return pages_.descriptor(); }
  Status memory_is(std::span<const std::byte> expected, std::string_view what) const {
    const std::string wrong = difference(memory(), expected);
    return wrong.empty() ? Status() : broken("{}: {}", what, wrong);
  }

 private:
  const Bench& bench_;
  const Sharing& sharing_;
  stria_memory_kind kind_;
  Pages pages_;
};

// A case of who has the table; `needs` says what else must be there.
void add(CaseMaker& maker, std::string_view name, std::string_view sentence,
         std::function<bool(const Sharing&)> needs,
         std::function<Status(const Bench&, const Sharing&)> run) {
  maker
      .add('M', fmt::format("sharing.{}", name), Level::robust, sentence,
           [needs = std::move(needs), run = std::move(run)](Subject& subject) -> Finding {
             const auto* table = static_cast<const stria_sharing_table*>(
                 subject.extension(STRIA_SHARING, STRIA_SHARING_VERSION));
             if (!table) return Finding::skip("the plugin does not offer stria.sharing");
             Sharing sharing;
             sharing.table.kinds = STRIA_SIZED(*table, kinds, nullptr);
             sharing.table.import_buffer = STRIA_SIZED(*table, import_buffer, nullptr);
             sharing.table.export_buffer = STRIA_SIZED(*table, export_buffer, nullptr);
             if (!sharing.table.kinds)
               return Finding::skip("the plugin's stria.sharing has no kinds");
             STRIA_RETURN_IF_ERROR(failure(
                 "sharing.kinds",
                 sharing.table.kinds(subject.device(), &sharing.imported, &sharing.exported)));
             if (!needs(sharing))
               return Finding::skip("the device does not share memory of this kind in this way");
             STRIA_ASSIGN(const Bench bench, Bench::make(subject));
             const Status status = run(bench, sharing);
             if (status.code() == StatusCode::unsupported)
               return Finding::unsupported(status.message());
             return status;
           })
      .source = "stria/experimental.h";
}

struct Kind {
  stria_memory_kind kind;
  std::string_view name;
};
constexpr Kind kKinds[] = {{STRIA_HOST_MEMORY, "host"}, {STRIA_MEMORY_DESCRIPTOR, "descriptor"}};

void add_import_cases(CaseMaker& maker, const Kind& kind) {
  // What was imported is given back at the end of each case, and the plugin says so once.
  const auto add_import = [&](std::string_view name, std::string_view sentence,
                              std::function<Status(const Imports&, Buffer&)> run) {
    add(
        maker, fmt::format("import_{}.{}", kind.name, name), sentence,
        [kind = kind.kind](const Sharing& sharing) { return sharing.imports(kind); },
        [kind = kind.kind, run = std::move(run)](const Bench& bench,
                                                 const Sharing& sharing) -> Status {
          Releases releases;
          const Imports imports(bench, sharing, kind);
          Status status;
          {
            STRIA_ASSIGN(Buffer buffer, imports.import_buffer(0, Pages::size(), &releases));
            status = run(imports, buffer);
            if (status.ok() && buffer && releases.count != 0)
              status = broken("`released` was called while the buffer lives");
          }
          const Status came = releases.came();
          return status.ok() ? came : status;
        });
  };
  add_import("is_read_by_work", kImport, [](const Imports& imports, Buffer& buffer) -> Status {
    const Bench& bench = imports.bench();
    const Bytes contents = pattern(Pages::size(), 120);
    std::copy(contents.begin(), contents.end(), imports.memory().begin());
    STRIA_ASSIGN(const Buffer target, bench.subject().allocate(contents.size()));
    STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(buffer, 0, target, 0, contents.size())));
    return bench.holds(target, contents, "a copy of imported memory");
  });
  add_import("is_written_by_work", kImport, [](const Imports& imports, Buffer& buffer) -> Status {
    const Bench& bench = imports.bench();
    Bytes expected(Pages::size());
    STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, 5, 4000, bytes_of(1, 9))));
    std::fill_n(expected.begin() + 5, 4000, std::byte{9});
    return imports.memory_is(expected, "imported memory after a fill");
  });
  add_import("is_seen_by_mappings", kImport, [](const Imports& imports, Buffer& buffer) -> Status {
    const Bench& bench = imports.bench();
    const Bytes contents = pattern(Pages::size(), 121);
    std::copy(contents.begin(), contents.end(), imports.memory().begin());
    STRIA_RETURN_IF_ERROR(bench.holds(buffer, contents, "a mapping of imported memory"));
    return imports.memory_is(contents, "imported memory that was mapped");
  });
  add_import("is_written_by_mappings", kImport,
             [](const Imports& imports, Buffer& buffer) -> Status {
               const Bytes contents = pattern(Pages::size(), 122);
               STRIA_RETURN_IF_ERROR(imports.bench().subject().write(buffer, 0, contents));
               return imports.memory_is(contents, "imported memory after map_discard and unmap");
             });
  add_import("is_held_by_work", kReleased, [](const Imports& imports, Buffer& buffer) -> Status {
    const Bench& bench = imports.bench();
    STRIA_ASSIGN(const Event gate, bench.subject().host_event());
    STRIA_ASSIGN(const Event filled,
                 bench.fill(buffer, 0, Pages::size(), bytes_of(1, 3), list_of(gate)));
    buffer.reset();
    STRIA_RETURN_IF_ERROR(bench.stays_open(filled, "the event that it waits for is open"));
    STRIA_RETURN_IF_ERROR(bench.subject().signal(gate));
    STRIA_RETURN_IF_ERROR(bench.finish(filled));
    return imports.memory_is(bytes_of(Pages::size(), 3),
                             "imported memory whose buffer was released before its fill");
  });
  if (kind.kind == STRIA_MEMORY_DESCRIPTOR) {
    add_import("stays_the_callers", "The descriptor stays the caller's.",
               [](const Imports& imports, Buffer& buffer) -> Status {
                 if (::fcntl(imports.descriptor(), F_GETFD) < 0)
                   return broken("sharing.import_buffer closed the descriptor");
                 buffer.reset();
                 if (::fcntl(imports.descriptor(), F_GETFD) < 0)
                   return broken("buffer.release closed the caller's descriptor");
                 return Status();
               });
    add(
        maker, "import_descriptor.from_a_page_on", kImport,
        [](const Sharing& sharing) { return sharing.imports(STRIA_MEMORY_DESCRIPTOR); },
        [](const Bench& bench, const Sharing& sharing) -> Status {
          const Imports imports(bench, sharing, STRIA_MEMORY_DESCRIPTOR);
          {
            STRIA_ASSIGN(const Buffer whole, imports.import_buffer(0, Pages::size(), nullptr));
            STRIA_ASSIGN(const Buffer part, imports.import_buffer(page(), page(), nullptr));
            STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(part, page(), 4)));
            Bytes expected(Pages::size());
            std::fill_n(expected.begin() + static_cast<ptrdiff_t>(page()), page(), std::byte{4});
            STRIA_RETURN_IF_ERROR(imports.memory_is(expected, "the descriptor's memory"));
            STRIA_RETURN_IF_ERROR(
                bench.holds(whole, expected, "another buffer of the same descriptor"));
          }
          return Status();
        });
  }
}

void add_refusal_cases(CaseMaker& maker) {
  constexpr std::string_view kRefused =
      "STRIA_UNSUPPORTED for a kind, an address or an offset that the device cannot use, with what "
      "it asks for.";
  // A number that is no kind today, and a kind that the device does not have.
  for (const stria_memory_kind kind : {STRIA_HOST_MEMORY + 0, STRIA_MEMORY_DESCRIPTOR + 0, 9, 31})
    add(
        maker, fmt::format("refuses_kind_{}", kind), kRefused,
        [kind](const Sharing& sharing) {
          return sharing.table.import_buffer && !(sharing.imported >> kind & 1);
        },
        [kind](const Bench& bench, const Sharing& sharing) -> Status {
          const Pages pages(kind == STRIA_MEMORY_DESCRIPTOR);
          Releases releases;
          stria_shared_memory given{};
          given.size = sizeof given;
          given.kind = kind;
          given.descriptor = pages.descriptor();
          given.address = pages.memory().data();
          given.bytes = pages.size();
          given.state = &releases;
          given.released = [](void* state) { ++static_cast<Releases*>(state)->count; };
          stria_buffer* buffer = nullptr;
          const Status status =
              failure("sharing.import_buffer",
                      sharing.table.import_buffer(bench.subject().device(), &given, &buffer));
          if (status.ok() || buffer)
            return broken("memory of kind {}, which the device says it does not take, is taken",
                          kind);
          if (status.code() != StatusCode::unsupported)
            return broken("memory of kind {} is refused as {}", kind, status.to_string());
          if (releases.count != 0)
            return broken("`released` was called of memory whose import failed");
          return Status();
        });
  add(
      maker, "odd_address", kRefused,
      [](const Sharing& sharing) { return sharing.imports(STRIA_HOST_MEMORY); },
      [](const Bench& bench, const Sharing& sharing) -> Status {
        const Imports imports(bench, sharing, STRIA_HOST_MEMORY);
        Releases releases;
        {
          const Result<Buffer> buffer = imports.import_buffer(3, 100, &releases);
          if (!buffer.ok()) {
            if (buffer.status().code() != StatusCode::unsupported)
              return broken("an address that is odd is refused as {}", buffer.status().to_string());
            if (releases.count != 0)
              return broken("`released` was called of memory whose import failed");
            return Status();
          }
          STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(*buffer, 100, 8)));
          Bytes expected(Pages::size());
          std::fill_n(expected.begin() + 3, 100, std::byte{8});
          STRIA_RETURN_IF_ERROR(imports.memory_is(expected, "memory at an odd address"));
        }
        return releases.came();
      });
}

// What the plugin gives of a buffer, mapped by us where it is a descriptor.
class Exported {
 public:
  static Result<Exported> make(const Sharing& sharing, const Buffer& buffer, stria_memory_kind kind,
                               uint64_t bytes) {
    Exported out;
    out.given_.size = sizeof out.given_;
    out.given_.descriptor = -1;
    STRIA_RETURN_IF_ERROR(failure("sharing.export_buffer",
                                  sharing.table.export_buffer(buffer.get(), kind, &out.given_)));
    const stria_shared_memory& given = out.given_;
    if (given.kind != kind || given.bytes < bytes)
      return broken("memory of {} bytes was asked for as kind {}; kind {} with {} bytes came",
                    bytes, kind, given.kind, given.bytes);
    out.bytes_ = bytes;
    if (kind == STRIA_HOST_MEMORY) {
      out.memory_ = static_cast<std::byte*>(given.address);
      if (!out.memory_) return broken("sharing.export_buffer gives no address");
      return out;
    }
    const uint64_t begin = given.offset / page() * page();
    out.mapped_bytes_ = given.offset - begin + bytes;
    void* const mapped = ::mmap(nullptr, out.mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                                given.descriptor, static_cast<off_t>(begin));
    if (mapped == MAP_FAILED)
      return broken("the descriptor {} that sharing.export_buffer gives cannot be mapped: {}",
                    given.descriptor, std::strerror(errno));
    out.mapped_ = mapped;
    out.memory_ = static_cast<std::byte*>(mapped) + (given.offset - begin);
    return out;
  }
  Exported(Exported&& other) noexcept
      : given_(other.given_),
        bytes_(other.bytes_),
        memory_(other.memory_),
        mapped_(std::exchange(other.mapped_, nullptr)),
        mapped_bytes_(other.mapped_bytes_) {
    other.given_.descriptor = -1;
  }
  Exported& operator=(Exported&&) = delete;
  ~Exported() {
    if (mapped_) ::munmap(mapped_, mapped_bytes_);
    if (given_.descriptor >= 0) ::close(given_.descriptor);
  }
  std::span<std::byte> memory() const { return {memory_, bytes_}; }

 private:
  Exported() = default;
  stria_shared_memory given_{};
  uint64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  void* mapped_ = nullptr;
  uint64_t mapped_bytes_ = 0;
};

void add_export_cases(CaseMaker& maker, const Kind& kind) {
  const auto add_export =
      [&](std::string_view name,
          std::function<Status(const Bench&, const Buffer&, std::span<std::byte> memory)> run) {
        add(
            maker, fmt::format("export_{}.{}", kind.name, name), kExport,
            [kind = kind.kind](const Sharing& sharing) { return sharing.exports(kind); },
            [kind = kind.kind, run = std::move(run)](const Bench& bench,
                                                     const Sharing& sharing) -> Status {
              const Bytes contents = pattern(10'000, 123);
              STRIA_ASSIGN(const Buffer buffer, bench.buffer(contents));
              STRIA_ASSIGN(const Exported exported,
                           Exported::make(sharing, buffer, kind, contents.size()));
              const std::string wrong = difference(exported.memory(), contents);
              if (!wrong.empty()) return broken("exported memory: {}", wrong);
              return run(bench, buffer, exported.memory());
            });
      };
  add_export("holds_the_contents",
             [](const Bench&, const Buffer&, std::span<std::byte>) -> Status { return Status(); });
  add_export("shows_what_work_wrote",
             [](const Bench& bench, const Buffer& buffer, std::span<std::byte> memory) -> Status {
               STRIA_RETURN_IF_ERROR(bench.finish(bench.fill(buffer, memory.size(), 2)));
               const std::string wrong = difference(memory, bytes_of(memory.size(), 2));
               return wrong.empty() ? Status() : broken("exported memory after a fill: {}", wrong);
             });
  add_export(
      "is_read_by_work",
      [](const Bench& bench, const Buffer& buffer, std::span<std::byte> memory) -> Status {
        const Bytes written = pattern(memory.size(), 124);
        std::copy(written.begin(), written.end(), memory.begin());
        STRIA_ASSIGN(const Buffer target, bench.subject().allocate(written.size()));
        STRIA_RETURN_IF_ERROR(bench.finish(bench.copy(buffer, 0, target, 0, written.size())));
        return bench.holds(target, written, "a copy of memory that others wrote");
      });
}

}  // namespace

void add_memory_sharing_cases(CaseMaker& maker) {
  const auto always = [](const Sharing&) { return true; };
  // sharing.kinds was called to get here.
  add(maker, "kinds", "Which kinds the device takes and gives: bit k stands for kind k.", always,
      [](const Bench& bench, const Sharing& sharing) -> Status {
        uint32_t imported = 0, exported = 0;
        STRIA_RETURN_IF_ERROR(failure(
            "sharing.kinds", sharing.table.kinds(bench.subject().device(), &imported, &exported)));
        if (imported != sharing.imported || exported != sharing.exported)
          return broken("sharing.kinds says {:#x} and {:#x}, and {:#x} and {:#x} the second time",
                        sharing.imported, sharing.exported, imported, exported);
        if (imported & 1 || exported & 1)
          return broken("sharing.kinds sets bit 0, which no kind has");
        if ((imported && !sharing.table.import_buffer) ||
            (exported && !sharing.table.export_buffer))
          return broken(
              "sharing.kinds names kinds, and the slot that takes or gives them is missing");
        return Status();
      });
  for (const Kind& kind : kKinds) add_import_cases(maker, kind);
  add_refusal_cases(maker);
  for (const Kind& kind : kKinds) add_export_cases(maker, kind);
}

}  // namespace stria::conformance
