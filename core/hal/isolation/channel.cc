// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace stria::hal::isolation {
namespace {

// So many messages wait for one that is sent at once.
constexpr size_t kMostLater = 64;
// What is asked of the stream at once. A header may say any size: memory is taken for what comes.
constexpr size_t kReadBytes = size_t{64} << 10;

// How many bytes of `text` the stream takes now; all of them if nobody is there to read them.
size_t write_now(int socket, std::string_view text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count =
        ::send(socket, text.data() + done, text.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0)
      done += static_cast<size_t>(count);
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      return done;
    else if (errno != EINTR)
      return text.size();
  }
  return done;
}

}  // namespace

Channel::~Channel() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    ::shutdown(socket_, SHUT_RDWR);
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
  ::close(socket_);
}

void Channel::send(std::string message) {
  const std::lock_guard lock(mutex_);
  write(std::move(message));
}

void Channel::send_later(std::string message) {
  const std::lock_guard lock(mutex_);
  later_ += message;
  if (++later_count_ >= kMostLater) write({});
}

// With mutex_ held.
void Channel::write(std::string message) {
  if (later_count_ > 0) {
    later_ += message;
    message = std::exchange(later_, {});
    later_count_ = 0;
  }
  const size_t done = waiting() == 0 ? write_now(socket_, message) : 0;
  if (done == message.size()) return;
  rest_.append(message, done);
  try {
    if (!writer_.joinable()) writer_ = std::thread([this] { write_rest(); });
  } catch (const std::system_error&) {
    ::shutdown(socket_, SHUT_RDWR);  // half a message is none
  }
  changed_.notify_all();
}

void Channel::write_rest() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || waiting() > 0; });
    if (ends_) return;
    lock.unlock();
    pollfd wait{socket_, POLLOUT, 0};
    ::poll(&wait, 1, 100);
    lock.lock();
    rest_begin_ += write_now(socket_, std::string_view(rest_).substr(rest_begin_));
    if (rest_begin_ > rest_.size() / 2) {
      rest_.erase(0, rest_begin_);
      rest_begin_ = 0;
    }
    changed_.notify_all();
  }
}

void Channel::wait_for_room(size_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ends_ || waiting() <= bytes; });
}

Channel::Fill Channel::fill(bool wait) {
  if (read_begin_ > 0) {
    read_.erase(0, read_begin_);
    read_begin_ = 0;
  }
  char bytes[kReadBytes];
  ssize_t count = 0;
  do count = ::recv(socket_, bytes, sizeof bytes, wait ? 0 : MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Fill::nothing;
  if (count <= 0) return Fill::gone;
  read_.append(bytes, static_cast<size_t>(count));
  return Fill::some;
}

std::optional<Message> Channel::next() {
  const std::string_view there = std::string_view(read_).substr(read_begin_);
  if (there.size() < Header::kBytes) return std::nullopt;
  const Header header = read_header(there);
  if (there.size() < header.size) return std::nullopt;
  read_begin_ += header.size;
  return Message{header, std::string(there.substr(Header::kBytes, header.size - Header::kBytes))};
}

}  // namespace stria::hal::isolation
