// SPDX-License-Identifier: Apache-2.0
// One end of a stream of messages. Who sends never waits for the other side to read: two that write
// to each other would wait for ever. What the stream does not take at once, a thread writes that is
// started when that happens first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "stria/hal/isolation/wire.h"

namespace stria::hal::isolation {

struct Message {
  Header header;
  std::string body;
};

class Channel {
 public:
  // Takes over a connected stream socket.
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int socket() const { return socket_; }

  // ---- from any thread

  // Nothing happens once the other side is gone: who receives hears of it.
  void send(std::string message);
  // With the next message, or when there are many: for what nobody waits for.
  void send_later(std::string message);
  // Waits until at most `bytes` wait to be written, for who has much to send. Not on a thread that
  // receives.
  void wait_for_room(size_t bytes);

  // ---- from one thread at a time

  enum class Fill { some, nothing, gone };
  // Reads what there is; if `wait`, waits until there is something.
  Fill fill(bool wait);
  // The next message of what was read. Throws Malformed.
  std::optional<Message> next();

 private:
  void write(std::string message);
  void write_rest();
  size_t waiting() const { return rest_.size() - rest_begin_; }  // with mutex_ held

  const int socket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string later_;  // guarded by mutex_, as all up to writer_
  size_t later_count_ = 0;
  std::string rest_;  // from rest_begin_ on not yet written
  size_t rest_begin_ = 0;
  bool ends_ = false;
  std::thread writer_;
  std::string read_;  // from read_begin_ on not yet given out
  size_t read_begin_ = 0;
};

}  // namespace stria::hal::isolation
