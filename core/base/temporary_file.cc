// SPDX-License-Identifier: Apache-2.0
#include "stria/base/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "stria/base/check_failed.h"
#include "stria/base/text.h"

namespace stria {
namespace temporary {

// ---- what a signal handler removes ----

// Never freed: a handler may look at it at any time.
struct Registered {
  enum State { unused, being_filled, removes_file, removes_folder };
  std::atomic<int> state = unused;
  pid_t process = 0;  // a child that was forked has no part in its parent's files
  int folder = -1;
  std::array<char, NAME_MAX + 1> name{};
  Registered* next = nullptr;
};

}  // namespace temporary

namespace {

using temporary::Registered;

std::atomic<Registered*> all_registered = nullptr;

// nullptr for a name that is too long to be one.
Registered* enter(int folder, const std::string& name, Registered::State what) {
  if (name.size() > NAME_MAX) return nullptr;
  Registered* entry = all_registered.load();
  for (; entry != nullptr; entry = entry->next) {
    int free = Registered::unused;
    if (entry->state.compare_exchange_strong(free, Registered::being_filled)) break;
  }
  const bool made = entry == nullptr;
  if (made) {
    entry = new Registered;
    entry->state = Registered::being_filled;
  }
  entry->process = ::getpid();
  entry->folder = folder;
  std::memcpy(entry->name.data(), name.c_str(), name.size() + 1);
  entry->state = what;
  if (made) {
    entry->next = all_registered.load();
    while (!all_registered.compare_exchange_weak(entry->next, entry)) {
    }
  }
  return entry;
}

void leave(Registered* entry) {
  if (entry != nullptr) entry->state = Registered::unused;
}

// ---- signals ----

constexpr int kEnding[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGPIPE, SIGALRM};

// How many SignalsWait live; kDying once a signal has the word.
std::atomic<int> waiting = 0;
constexpr int kDying = -1;
std::atomic<int> pending_signal = 0;

// Whether this caller is the one that ends the process.
bool begin_to_die() {
  int none = 0;
  return waiting.compare_exchange_strong(none, kDying);
}

[[noreturn]] void die_by(int number) {
  unlink_temporaries();
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  ::sigaction(number, &usual, nullptr);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(number);
  // The first process of a container outlives it: to that one the system delivers no signal that
  // nobody handles. So it ends with the code that a shell gives for the signal.
  end_process(128 + number);
}

void on_ending_signal(int number) {
  const int error = errno;
  // First said, then asked: whoever waits asks in the other order, so one of both sees the other.
  pending_signal = number;
  if (begin_to_die()) die_by(number);
  errno = error;
}

// ---- names ----

constexpr std::string_view kMark = ".stria-";
constexpr size_t kMaxLike = 100;

// `number` 0 is the batch's lock.
std::string name_of(std::string_view like, uint64_t batch, uint64_t number,
                    std::string_view suffix) {
  const std::string text = fmt::format("{}{}{:016x}-{}-", like, kMark, batch, number);
  return fmt::format("{}{:016x}{}", text, stable_hash(text + std::string(suffix)), suffix);
}
std::string lock_name(uint64_t batch) { return name_of("", batch, 0, ".lock"); }

std::string_view beginning(std::string_view like) {
  size_t length = std::min(like.size(), kMaxLike);
  while (length > 0 && length < like.size() &&
         (static_cast<unsigned char>(like[length]) & 0xC0u) == 0x80)
    --length;
  return like.substr(0, length);
}

// The batch that a file of this name is of; nothing if it is not ours.
std::optional<uint64_t> batch_of(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const char* const end = name.data() + name.size();
  uint64_t batch = 0, number = 0;
  const char* at = name.data() + mark + kMark.size();
  auto first = std::from_chars(at, std::min(at + 16, end), batch, 16);
  if (first.ptr == end || *first.ptr != '-') return std::nullopt;
  auto second = std::from_chars(first.ptr + 1, end, number);
  if (second.ec != std::errc() || end - second.ptr < 17) return std::nullopt;
  const std::string_view suffix(second.ptr + 17, static_cast<size_t>(end - second.ptr - 17));
  if (name_of(name.substr(0, mark), batch, number, suffix) != name) return std::nullopt;
  return batch;
}

// ---- what killed processes left ----

bool is_ours(int folder, const std::string& name) {
  struct stat info{};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
}

void remove_batch(int folder, uint64_t batch, const std::vector<std::string>& names) {
  const std::string lock = lock_name(batch);
  const int held = ::openat(folder, lock.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (held < 0 && errno != ENOENT) return;
  // Who still writes has the lock; who cannot be asked is taken for one who does.
  if (held < 0 || ::flock(held, LOCK_EX | LOCK_NB) == 0) {
    for (const std::string& name : names)
      if (name != lock && is_ours(folder, name)) ::unlinkat(folder, name.c_str(), 0);
    if (held >= 0 && is_ours(folder, lock)) ::unlinkat(folder, lock.c_str(), 0);
  }
  if (held >= 0) ::close(held);
}

// Once for each folder in a process: what is left behind is seldom, and a folder may be large.
void remove_leftovers(const OutputFolder& folder) {
  static std::mutex mutex;
  static std::set<std::tuple<dev_t, ino_t, int64_t, uint32_t>> looked_at;
  {
    // A folder that was removed lends its number to a later one.
    struct statx born{};
    if (::statx(folder.descriptor(), "", AT_EMPTY_PATH, STATX_BTIME, &born) != 0) born = {};
    std::lock_guard lock(mutex);
    if (!looked_at
             .insert(
                 {folder.device(), folder.inode(), born.stx_btime.tv_sec, born.stx_btime.tv_nsec})
             .second)
      return;
  }
  constexpr int kMaxEntries = 100'000;
  const int again = ::openat(folder.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = again < 0 ? nullptr : ::fdopendir(again);
  if (list == nullptr) {
    if (again >= 0) ::close(again);
    return;
  }
  std::map<uint64_t, std::vector<std::string>> batches;
  int count = 0;
  while (const dirent* entry = ::readdir(list)) {
    if (++count > kMaxEntries) break;
    if (const auto batch = batch_of(entry->d_name)) batches[*batch].push_back(entry->d_name);
  }
  for (const auto& [batch, names] : batches) remove_batch(::dirfd(list), batch, names);
  ::closedir(list);
}

}  // namespace

namespace temporary {

// The lock of a batch in one folder.
class Lock {
 public:
  // nullptr and errno if there can be none.
  static std::unique_ptr<Lock> make(const std::shared_ptr<OutputFolder>& folder) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      uint64_t batch = 0;
      if (::getrandom(&batch, sizeof batch, 0) != sizeof batch) return nullptr;
      const SignalsWait wait;
      const int descriptor = ::openat(folder->descriptor(), lock_name(batch).c_str(),
                                      O_CREAT | O_EXCL | O_CLOEXEC | O_RDWR, 0600);
      if (descriptor < 0 && errno == EEXIST) continue;
      if (descriptor < 0) return nullptr;
      std::unique_ptr<Lock> lock(new Lock(folder, batch, descriptor));
      // Between the two calls somebody may have found a lock that nobody held, and removed it. A
      // file system without locks keeps what is left on it: nobody gets one there.
      struct stat info{};
      while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
      }
      if (::fstat(descriptor, &info) == 0 && info.st_nlink > 0) return lock;
    }
    errno = EBUSY;
    return nullptr;
  }
  ~Lock() {
    ::unlinkat(folder_->descriptor(), lock_name(batch).c_str(), 0);
    leave(registered_);
    ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  const uint64_t batch;
  uint64_t next = 1;

 private:
  Lock(const std::shared_ptr<OutputFolder>& folder, uint64_t number, int descriptor)
      : batch(number),
        folder_(folder),
        descriptor_(descriptor),
        registered_(enter(folder->descriptor(), lock_name(number), Registered::removes_file)) {}
  const std::shared_ptr<OutputFolder> folder_;
  const int descriptor_;
  Registered* const registered_;
};

}  // namespace temporary

// ---- TemporaryFile ----

TemporaryFile::TemporaryFile(std::shared_ptr<OutputFolder> folder, std::string name)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      registered_(enter(folder_->descriptor(), name_, Registered::removes_file)) {}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      registered_(std::exchange(other.registered_, nullptr)) {}

void TemporaryFile::forget() { leave(std::exchange(registered_, nullptr)); }

TemporaryFile::~TemporaryFile() {
  if (registered_ == nullptr) return;
  ::unlinkat(folder_->descriptor(), name_.c_str(), 0);
  forget();
}

// ---- TemporaryBatch ----

TemporaryBatch::TemporaryBatch() = default;
TemporaryBatch::~TemporaryBatch() = default;

std::unique_ptr<TemporaryFile> TemporaryBatch::reserve(const std::shared_ptr<OutputFolder>& folder,
                                                       std::string_view like,
                                                       std::string_view suffix) {
  std::unique_ptr<temporary::Lock>& lock = locks_[{folder->device(), folder->inode()}];
  if (!lock) {
    remove_leftovers(*folder);
    lock = temporary::Lock::make(folder);
  }
  if (!lock) return nullptr;
  std::unique_ptr<TemporaryFile> file(
      new TemporaryFile(folder, name_of(beginning(like), lock->batch, lock->next++, suffix)));
  if (file->registered_ == nullptr) {
    errno = ENAMETOOLONG;
    return nullptr;
  }
  return file;
}

std::unique_ptr<TemporaryFile> TemporaryBatch::create(const std::shared_ptr<OutputFolder>& folder,
                                                      std::string_view like, int* descriptor,
                                                      std::string_view suffix) {
  const SignalsWait wait;
  std::unique_ptr<TemporaryFile> file = reserve(folder, like, suffix);
  if (!file) return nullptr;
  *descriptor = ::openat(folder->descriptor(), file->name().c_str(),
                         O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0666);
  if (*descriptor >= 0) return file;
  const int error = errno;
  file->forget();
  errno = error;
  return nullptr;
}

// ---- TemporaryFolder ----

TemporaryFolder::TemporaryFolder(std::shared_ptr<OutputFolder> parent, std::string name)
    : parent_(std::move(parent)),
      name_(std::move(name)),
      registered_(enter(parent_->descriptor(), name_, Registered::removes_folder)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : parent_(std::move(other.parent_)),
      name_(std::move(other.name_)),
      registered_(std::exchange(other.registered_, nullptr)) {}

TemporaryFolder::~TemporaryFolder() {
  if (registered_ == nullptr) return;
  ::unlinkat(parent_->descriptor(), name_.c_str(), AT_REMOVEDIR);
  keep();
}

void TemporaryFolder::keep() { leave(std::exchange(registered_, nullptr)); }

// ---- signals ----

void unlink_temporaries() {
  const pid_t process = ::getpid();
  const auto remove = [&](int what, int how) {
    bool removed = false;
    for (Registered* entry = all_registered.load(); entry != nullptr; entry = entry->next)
      if (entry->state == what && entry->process == process)
        removed |= ::unlinkat(entry->folder, entry->name.data(), how) == 0;
    return removed;
  };
  remove(Registered::removes_file, 0);
  // A folder goes when it is empty, so those within it go before it.
  while (remove(Registered::removes_folder, AT_REMOVEDIR)) {
  }
}

void remove_temporaries_on_signals() {
  for (const int number : kEnding) {
    struct sigaction before{}, action{};
    // What is ignored (nohup) or listened to by somebody else stays so.
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    action.sa_handler = on_ending_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(number, &action, nullptr);
  }
}

SignalsWait::SignalsWait() {
  int now = waiting.load();
  while (true) {
    // Another thread ends the process.
    while (now == kDying) {
      ::pause();
      now = waiting.load();
    }
    if (waiting.compare_exchange_weak(now, now + 1)) return;
  }
}

SignalsWait::~SignalsWait() {
  --waiting;
  if (const int number = pending_signal; number != 0 && begin_to_die()) die_by(number);
}

}  // namespace stria
