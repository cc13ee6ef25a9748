// SPDX-License-Identifier: Apache-2.0
// Streams of messages: pieces, order, and a side that does not read.
#include "stria/hal/isolation/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "stria/hal/isolation/messages.h"

namespace stria::hal::isolation {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    one = std::make_unique<Channel>(ends[0]);
    other = ends[1];
  }
  ~Pair() {
    if (other >= 0) ::close(other);
  }
  std::unique_ptr<Channel> one;
  int other = -1;
};

Bytes piece(Id mapping, size_t bytes) {
  Bytes message;
  message.mapping = mapping;
  message.data.assign(bytes, static_cast<char>(mapping));
  return message;
}

TEST(Channel, PutsPiecesTogether) {
  Pair pair;
  const std::string bytes = encoded(piece(3, 100)) + encoded(Ping(), 9);
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(::write(pair.other, &bytes[i], 1), 1);
    ASSERT_EQ(pair.one->fill(true), Channel::Fill::some);
    const bool first = i + 1 == bytes.size() - Header::kBytes, last = i + 1 == bytes.size();
    const auto message = pair.one->next();
    ASSERT_EQ(message.has_value(), first || last) << i;
    if (first) {
      EXPECT_EQ(decoded<Bytes>(message->body).data, std::string(100, '\3'));
    }
    if (last) {
      EXPECT_EQ(message->header.request, 9u);
    }
  }
  EXPECT_EQ(pair.one->fill(false), Channel::Fill::nothing);
  ::close(pair.other);
  pair.other = -1;
  EXPECT_EQ(pair.one->fill(true), Channel::Fill::gone);
}

TEST(Channel, WhoSendsNeverWaitsForTheReader) {
  Pair pair;
  constexpr Id kMessages = 300;
  for (Id i = 1; i <= kMessages; ++i) pair.one->send(encoded(piece(i, 100'000)));  // 30 MB
  Channel reader(std::exchange(pair.other, -1));
  Id next = 1;
  while (next <= kMessages) {
    ASSERT_EQ(reader.fill(true), Channel::Fill::some);
    while (const auto message = reader.next()) {
      const auto got = decoded<Bytes>(message->body);
      ASSERT_EQ(got.mapping, next++);
      ASSERT_EQ(got.data.size(), 100'000u);
    }
  }
  pair.one->wait_for_room(0);
}

TEST(Channel, WhatIsSentLaterComesInItsPlace) {
  Pair pair;
  Channel reader(std::exchange(pair.other, -1));
  pair.one->send_later(encoded(piece(1, 1)));
  EXPECT_EQ(reader.fill(false), Channel::Fill::nothing);
  pair.one->send(encoded(piece(2, 1)));
  ASSERT_EQ(reader.fill(true), Channel::Fill::some);
  EXPECT_EQ(decoded<Bytes>(reader.next()->body).mapping, 1u);
  EXPECT_EQ(decoded<Bytes>(reader.next()->body).mapping, 2u);
  for (int i = 0; i < 64; ++i) pair.one->send_later(encoded(piece(3, 1)));
  EXPECT_EQ(reader.fill(false), Channel::Fill::some);
}

TEST(Channel, MayEndWithALotUnread) {
  Pair pair;
  for (Id i = 1; i <= 100; ++i) pair.one->send(encoded(piece(i, 100'000)));
  pair.one.reset();
}

}  // namespace
}  // namespace stria::hal::isolation
