// SPDX-License-Identifier: Apache-2.0
#include "events/caller.h"

#include <chrono>

namespace stria::conformance {
namespace {

using Clock = std::chrono::steady_clock;

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

}  // namespace

Caller::Caller(const Bench& bench, Slot slot, std::function<stria_error*()> call,
               std::function<void()> rescue)
    : bench_(bench), slot_(slot), rescue_(std::move(rescue)) {
  thread_ = std::thread([this, call = std::move(call)] {
    begun_ = true;
    error_ = call();
    returned_ = true;
  });
}

Caller::~Caller() {
  if (!thread_.joinable()) return;
  if (!returned_) rescue_();
  thread_.join();
  if (error_ && error_->release) error_->release(error_);
}

void Caller::let_it_begin() const {
  const auto under_way = [&] {
    if (!begun_) return false;
    for (const OpenCall& call : bench_.subject().options().record->open)
      if (call.slot == static_cast<int32_t>(slot_) + 1) return true;
    return returned_.load();
  };
  const auto end = Clock::now() + std::chrono::seconds(5);
  while (!under_way() && Clock::now() < end) pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
}

Status Caller::result() {
  const auto end = Clock::now() + std::chrono::seconds(6);
  while (!returned_ && Clock::now() < end) pause();
  if (!returned_) return broken("{} has not come back for 6 s", name_of(slot_));
  thread_.join();
  return Subject::failure(slot_, std::exchange(error_, nullptr));
}

}  // namespace stria::conformance
