// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria::hal::isolation {
namespace {

// Of what the process prints, the end is kept.
constexpr size_t kMaxWords = 400;
// A process whose socket is closed is about to end; after so long it is not.
constexpr std::chrono::milliseconds kGrace{50};
// What a pipe holds; of what it prints without an end of line, so much is one line.
constexpr size_t kPipeBytes = size_t{64} << 10;
// The request of a ping: objects and other requests count from 1.
constexpr uint64_t kPing = UINT64_MAX;

// Where no descriptor of the process will be put: none is overwritten before it has been moved.
int out_of_the_way(int descriptor) {
  constexpr int kHigh = 10;
  const int high = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kHigh);
  if (high < 0) return descriptor;
  ::close(descriptor);
  return high;
}

}  // namespace

Connection::Connection(const sdk::Host& host, const IsolateOptions& options, std::string plugin)
    : host_(host), options_(options), plugin_(std::move(plugin)) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw sdk::system_failure("no socket for the process of plugin " + plugin_);
  channel_ = std::make_unique<Channel>(out_of_the_way(ends[0]));
  other_end_ = out_of_the_way(ends[1]);
  // Where there is none, the bytes travel.
  if (options_.share_memory)
    if (const Status made = heap_.create(); !made.ok()) host_.log(STRIA_LOG_INFO, made.message());
}

sdk::Ref<Connection> Connection::start(const sdk::Host& host, const IsolateOptions& options,
                                       std::string plugin, std::string directory,
                                       std::string driver_options) {
  auto self = sdk::make<Connection>(host, options, std::move(plugin));
  try {
    self->reader_ = std::thread([self] { self->run(); });
  } catch (const std::system_error& error) {
    throw sdk::Error(STRIA_UNAVAILABLE, std::string("cannot start a thread: ") + error.what());
  }
  try {
    Hello hello;
    hello.features = self->heap_.valid() ? kSharedMemory : 0;
    hello.heap_bytes = self->heap_.valid() ? self->heap_.bytes() : 0;
    hello.directory = std::move(directory);
    hello.options = std::move(driver_options);
    hello.step_limit_ms = static_cast<uint64_t>(options.step_limit.count());
    hello.threads = host.concurrency();
    hello.check_trust = options.check_trust;
    const Hello::Answer answer = self->ask(hello, Limit::load);
    self->slots_ = answer.slots;
    if ((answer.features & kSharedMemory) == 0) self->heap_.drop();
    const std::lock_guard lock(self->mutex_);
    self->loaded_ = true;
  } catch (...) {
    self->end();
    throw;
  }
  return self;
}

void Connection::check() const {
  if (!lost()) return;
  const std::lock_guard lock(mutex_);
  throw sdk::Error(lost_);
}

void Connection::check_slot(SlotNumber number, std::string_view name) const {
  if ((slots_ >> static_cast<int>(number) & 1) == 0)
    throw sdk::Error(STRIA_UNIMPLEMENTED, "the plugin has no slot " + std::string(name));
}

void Connection::release(Id object, bool at_once) {
  if (lost()) return;
  Release message;
  message.object = object;
  at_once ? channel_->send(encoded(message)) : channel_->send_later(encoded(message));
}

sdk::Ref<RemoteEvent> Connection::open_event(Kind maker) {
  auto event = sdk::make<RemoteEvent>(host_, sdk::Ref<Connection>(this), new_id(), maker);
  const std::lock_guard lock(mutex_);
  if (lost_) throw sdk::Error(lost_);
  open_.emplace(event->id(), event);
  return event;
}

void Connection::forget_event(Id id) {
  std::map<Id, sdk::Ref<RemoteEvent>>::node_type forgotten;  // goes behind the lock
  const std::lock_guard lock(mutex_);
  forgotten = open_.extract(id);
}

bool Connection::has_work() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(open_.begin(), open_.end(),
                     [](const auto& entry) { return !entry.second->is_host_event(); });
}

// ---- requests

Connection::Clock::time_point Connection::deadline(Limit limit) const {
  const auto now = Clock::now();
  switch (limit) {
    case Limit::load: return now + 3 * options_.step_limit;
    case Limit::step: return now + options_.step_limit;
    case Limit::work: return now + options_.work_limit;
    case Limit::none: break;
  }
  return now + std::chrono::hours(24 * 366);
}

std::string Connection::has_not_answered(Kind kind, Limit limit) const {
  const auto ms = limit == Limit::work   ? options_.work_limit
                  : limit == Limit::load ? 3 * options_.step_limit
                                         : options_.step_limit;
  return fmt::format("{} has not returned within the limit of {} ms", slot_of(kind), ms.count());
}

std::string Connection::exchange(Kind kind, uint64_t request, std::string message, Limit limit) {
  Pending mine{kind, std::nullopt, {}, {}};
  {
    const std::lock_guard lock(mutex_);
    if (lost_) throw sdk::Error(lost_);
    pending_.emplace(request, &mine);
  }
  try {
    channel_->send(std::move(message));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    pending_.erase(request);
    throw;
  }
  const bool on_receiver = receives();
  if (on_receiver) answer_myself(mine, limit);
  const auto end = deadline(limit);
  receive_for_a_moment(end, [&] { return mine.answered.load(std::memory_order_acquire); });
  std::unique_lock lock(mutex_);
  const auto over = [&] { return mine.answer || lost_; };
  if (!on_receiver && !mine.changed.wait_until(lock, end, over)) {
    lock.unlock();
    give_up(has_not_answered(kind, limit));
    lock.lock();
    mine.changed.wait(lock, over);
  }
  pending_.erase(request);
  if (!mine.answer) throw sdk::Error(lost_);
  return std::move(*mine.answer);
}

// A callback of an event asks: it runs on the thread that would hear the answer. What else comes
// meanwhile waits until the callback has returned.
void Connection::answer_myself(Pending& mine, Limit limit) {
  const auto end = deadline(limit);
  while (!lost()) {
    try {
      while (std::optional<Message> message = channel_->next()) {
        if (message->header.kind != static_cast<uint16_t>(Kind::answer)) {
          deferred_.push_back(std::move(*message));
          continue;
        }
        take_answer(*message);
        if (mine.answer) return;
      }
    } catch (const Malformed& error) {
      give_up(std::string("it sends what is no message: ") + error.what());
      return lose();
    }
    if (read_until(end)) continue;
    if (Clock::now() >= end) give_up(has_not_answered(mine.kind, limit));
    return lose();
  }
}

// ---- the end

void Connection::give_up(std::string why) {
  const std::lock_guard lock(mutex_);
  if (reason_.empty()) reason_ = std::move(why);
  // Wakes the thread that receives.
  ::shutdown(channel_->socket(), SHUT_RDWR);
}

sdk::Outcome Connection::wait_for_loss() {
  if (receives()) lose();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return lost_ != nullptr; });
  return lost_;
}

void Connection::end() {
  if (!reader_.joinable()) return;
  bool loaded = false;
  {
    const std::lock_guard lock(mutex_);
    loaded = loaded_;
  }
  if (loaded && !lost()) {
    try {
      ask(Shutdown(), Limit::step);
    } catch (const sdk::Error& error) {
      host_.log(STRIA_LOG_ERROR, std::string("plugin ") + plugin_ + ": " + error.what());
    }
  }
  give_up("it was told to end");
  reader_.join();
}

// What the process was asked for and has not answered, and the first of what it has begun.
std::string Connection::under_way() const {
  for (const auto& [request, pending] : pending_)
    if (pending->kind != Kind::hello) return fmt::format(", in {}", slot_of(pending->kind));
  if (!loaded_) return ", while it was being loaded";
  for (const auto& [id, event] : open_)
    if (!event->is_host_event())
      return fmt::format(", with the work of {} under way", slot_of(event->maker()));
  return ", with nothing under way";
}

void Connection::lose() {
  if (lost()) return;
  // Its last words, and how it ends by itself, are there a moment after its socket is closed.
  const auto end = Clock::now() + kGrace;
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    why = reason_;
  }
  if (why.empty()) {
    while (!process_.ended() && Clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::lock_guard lock(mutex_);
    why =
        (process_.ended() ? process_.how_it_ended() : "it has closed its connection to the host") +
        under_way();
  }
  process_.end();
  read_words();
  if (const std::string words(trim(words_text_)); !words.empty())
    why += "; its last words: " + shown_name(words, kMaxWords);
  std::map<Id, sdk::Ref<RemoteEvent>> open;
  {
    const std::lock_guard lock(mutex_);
    lost_ = std::make_shared<sdk::Failure>(
        sdk::Failure{STRIA_DEVICE_LOST,
                     fmt::format("the process of plugin {} is lost: {}", plugin_, why),
                     0,
                     {},
                     {},
                     loaded_ ? "open the device again: it gets another process" : ""});
    is_lost_.store(true, std::memory_order_release);
    for (const auto& [request, pending] : pending_) pending->changed.notify_all();
    changed_.notify_all();
    open.swap(open_);
  }
  for (const auto& [id, event] : open)
    if (event->claim()) event->signal(lost_);
}

// ---- receiving

Status Connection::start_process() {
  if (!words_.open())
    return make_error(StatusCode::unavailable, "no pipe: {}", std::strerror(errno));
  words_.write = out_of_the_way(words_.write);
  const auto environment = options_.environment ? options_.environment : environment_now();
  std::vector<std::pair<int, int>> descriptors = {
      {words_.write, STDOUT_FILENO}, {words_.write, STDERR_FILENO}, {other_end_, kSocket}};
  if (heap_.valid()) descriptors.emplace_back(heap_.descriptor(), kHeap);
  const Status started = process_.start({options_.program, {}, *environment, descriptors});
  words_.close_write();
  heap_.close_descriptor();
  if (started.ok())
    process_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, process_.id(), 0));
  return started;
}

void Connection::run() {
  const Status started = start_process();
  ::close(std::exchange(other_end_, -1));
  if (!started.ok()) give_up(started.message());
  next_look_ = Clock::now() + options_.step_limit / 2;
  bool there = true;
  while (there && !lost()) {
    const bool quiet = keep_quiet();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_look_ - Clock::now());
    pollfd waits[3] = {{channel_->socket(), POLLIN, 0},
                       {words_descriptor(), POLLIN, 0},
                       {process_descriptor_, POLLIN, 0}};
    const auto patience = quiet ? 0 : std::clamp<int64_t>(left.count() + 1, 0, 60'000);
    there = ::poll(waits, 3, static_cast<int>(patience)) >= 0 || errno == EINTR;
    const Receiving receiving(*this, std::unique_lock(receiving_));
    try {
      if (there) there = read(waits[1].revents != 0, waits[2].revents != 0);
      handle_all();
      if (there && Clock::now() >= next_look_) look_after();
    } catch (const Malformed& error) {
      give_up(std::string("it sends what is no message: ") + error.what());
      there = false;
    } catch (const std::bad_alloc&) {
      give_up("there is no host memory left for what it sends");
      there = false;
    }
  }
  const Receiving receiving(*this, std::unique_lock(receiving_));
  lose();
  if (process_descriptor_ >= 0) ::close(process_descriptor_);
}

int Connection::words_descriptor() {
  const std::lock_guard lock(receiving_);
  return words_.read;
}

bool Connection::keep_quiet() {
  const auto others_receive = [this] {
    return Clock::now().time_since_epoch().count() < quiet_until_.load(std::memory_order_relaxed);
  };
  if (!others_receive()) return false;
  std::unique_lock lock(mutex_);
  quiet_ends_.wait_for(lock, kQuiet, [&] { return !others_receive(); });
  return others_receive();
}

void Connection::receive_again() {
  {
    const std::lock_guard lock(mutex_);
    quiet_until_.store(0, std::memory_order_relaxed);
  }
  quiet_ends_.notify_one();
}

// Its end, and what it prints, are noticed by the thread that also looks after it.
bool Connection::receive_now() {
  try {
    const Channel::Fill got = channel_->fill(false);
    if (got == Channel::Fill::some) handle_all();
    return got != Channel::Fill::gone;
  } catch (const Malformed& error) {
    give_up(std::string("it sends what is no message: ") + error.what());
  } catch (const std::bad_alloc&) {
    give_up("there is no host memory left for what it sends");
  }
  return false;
}

void Connection::handle_all() {
  while (!lost()) {
    std::optional<Message> message;
    if (!deferred_.empty()) {
      message = std::move(deferred_.front());
      deferred_.pop_front();
    } else {
      message = channel_->next();
    }
    if (!message) return;
    handle(*message);
  }
}

bool Connection::read(bool words, bool ended) {
  if (words) read_words();
  const Channel::Fill got = channel_->fill(false);
  // What it has left behind may hold its end of the socket.
  return got == Channel::Fill::some || (got == Channel::Fill::nothing && !ended);
}

bool Connection::read_until(Clock::time_point limit) {
  while (Clock::now() < limit) {
    pollfd waits[3] = {{channel_->socket(), POLLIN, 0},
                       {words_.read, POLLIN, 0},
                       {process_descriptor_, POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
    const auto patience = std::clamp<int64_t>(left.count() + 1, 0, 60'000);
    if (::poll(waits, 3, static_cast<int>(patience)) < 0 && errno != EINTR) return false;
    if (!read(waits[1].revents != 0, waits[2].revents != 0)) return false;
    if (waits[0].revents != 0) return true;
  }
  return false;
}

void Connection::read_words() {
  if (words_.read < 0) return;
  // Once: one that never stops printing must not keep us from its messages.
  char text[kPipeBytes];
  const ssize_t count = ::read(words_.read, text, sizeof text);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    ::close(words_.read);
    words_.read = -1;
    return;
  }
  words_text_.append(text, static_cast<size_t>(count));
  if (words_text_.size() > kMaxWords) words_text_.erase(0, words_text_.size() - kMaxWords);
  words_line_.append(text, static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t end; (end = words_line_.find('\n', begin)) != std::string::npos; begin = end + 1)
    host_.log(STRIA_LOG_INFO, words_line_.substr(begin, end - begin));
  words_line_.erase(0, begin);
  if (words_line_.size() > kPipeBytes) words_line_.clear();
}

void Connection::handle(const Message& message) {
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::answer: return take_answer(message);
    case Kind::bytes: return take_bytes(decoded<Bytes>(message.body));
    case Kind::log: {
      const Log line = decoded<Log>(message.body);
      return host_.log(line.level, line.text);
    }
    case Kind::fault: return give_up(decoded<Fault>(message.body).text);
    case Kind::done: {
      const Done done = decoded<Done>(message.body);
      std::map<Id, sdk::Ref<RemoteEvent>>::node_type node;
      {
        const std::lock_guard lock(mutex_);
        node = open_.extract(done.event);
      }
      if (!node) throw Malformed(fmt::format("an end of event {}, which is not open", done.event));
      // A clock of its own, of which only the difference is told.
      const uint64_t begin = done.duration_ns > 0 ? 1 : 0;
      if (node.mapped()->claim())
        node.mapped()->signal(done.failure, begin, begin + done.duration_ns);
      return;
    }
    default: break;
  }
  throw Malformed(
      fmt::format("a message of kind {}, which a host does not take", message.header.kind));
}

void Connection::take_answer(const Message& message) {
  const std::lock_guard lock(mutex_);
  const auto it = pending_.find(message.header.request);
  if (it != pending_.end()) {
    it->second->answer = message.body;
    it->second->answered.store(true, std::memory_order_release);
    it->second->changed.notify_all();
  } else if (message.header.request == kPing) {
    pinged_.reset();
  } else {
    throw Malformed(
        fmt::format("an answer to request {}, which nobody has made", message.header.request));
  }
}

void Connection::look_after() {
  const auto now = Clock::now();
  // What a callback has kept us from reading the process is not to blame for.
  if (pinged_) *pinged_ += now - next_look_;
  next_look_ = now + options_.step_limit / 2;
  if (pinged_ && now - *pinged_ > options_.step_limit)
    return give_up(
        fmt::format("it has taken no message for {} ms, the limit", options_.step_limit.count()) +
        [this] {
          const std::lock_guard lock(mutex_);
          return under_way();
        }());
  {
    const std::lock_guard lock(mutex_);
    if (!loaded_ || pinged_ || (pending_.empty() && open_.empty())) return;
  }
  pinged_ = now;
  channel_->send(encoded(Ping(), kPing));
}

}  // namespace stria::hal::isolation
