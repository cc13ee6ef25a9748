// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <utility>

#include "queue.h"

namespace stria::vulkan {
namespace {

// The event of the driver's work that `event` stands for, null if it is none.
const CommandEvent* command_event(const sdk::Event& event) {
  if (const auto* end = dynamic_cast<const EndEvent*>(&event)) return &end->of();
  return dynamic_cast<const CommandEvent*>(&event);
}

// What the driver can wait for itself, or what is over and well.
bool known_to(const Queue& queue, const sdk::Event& event) {
  if (event.done()) return !event.outcome();
  const CommandEvent* command = command_event(event);
  return command && &command->queue().context() == &queue.context() && command->value() > 0;
}

// Records the submission and gives it to the driver.
void submit(std::unique_ptr<Submission> work, bool soon) {
  Queue& queue = work->queue;
  try {
    queue.context().check_not_lost();
    work->recording = work->record();
    work->recording->set_in_use(true);
  } catch (const sdk::Error& error) {
    work->refused = error.outcome();
  }
  queue.submit(std::move(work), soon);
}

}  // namespace

CommandEvent::CommandEvent(Queue& queue, bool of_all)
    : Event(queue.context().host()), queue_(queue), of_all_(of_all) {}

bool CommandEvent::wait(uint64_t timeout_ns) {
  if (done()) return true;
  // Of a part this thread would come back with the end of all.
  if (of_all_ && timeout_ns == UINT64_MAX && value() > 0)
    queue_.end_until(*this);
  else
    queue_.hurry();
  return Event::wait(timeout_ns);
}

void CommandEvent::expect_end() const {
  if (!done()) queue_.hurry();
}

bool EndEvent::wait(uint64_t timeout_ns) {
  // Done behind it: with a limit that is one wait, not two.
  if (timeout_ns == UINT64_MAX)
    of_->wait(timeout_ns);
  else
    of_->expect_end();
  return Event::wait(timeout_ns);
}

sdk::Ref<sdk::Event> CommandEvent::make_end() {
  auto end = sdk::make<EndEvent>(host(), sdk::Ref<CommandEvent>(this));
  on_done(
      [](void* state, const stria_error*) {
        sdk::Ref<EndEvent>::adopt(static_cast<EndEvent*>(state))->signal();
      },
      sdk::Ref<EndEvent>(end).detach());
  return end;
}

sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::function<sdk::Ref<Recording>()> record, size_t commands,
                           sdk::Waits waits, std::vector<sdk::Ref<sdk::Event>>* each) {
  Context& context = queue.context();
  context.check_not_lost();
  auto work = std::make_unique<Submission>(
      Submission{queue, tracker, std::move(record), {}, {}, commands, {}});
  if (each)
    for (size_t n = 0; n < commands; ++n)
      work->each.push_back(sdk::make<CommandEvent>(queue, commands == 1));
  work->done = work->each.size() == 1 ? work->each[0] : sdk::make<CommandEvent>(queue, true);
  if (each) each->assign(work->each.begin(), work->each.end());
  const sdk::Ref<sdk::Event> done = work->done;
  std::vector<sdk::Event*> on_host;
  for (uint64_t i = 0; i < waits.count; ++i) {
    work->waits.push_back(sdk::Ref<sdk::Event>(waits.events[i]));
    if (!known_to(queue, *waits.events[i])) on_host.push_back(waits.events[i]);
  }
  tracker->add();
  if (on_host.empty()) {
    // Mappings end where nobody waits for them.
    submit(std::move(work), &queue == &context.transfer_queue());
    return done;
  }
  for (sdk::Event* wait : on_host)
    if (const CommandEvent* command = command_event(*wait)) command->expect_end();
  const sdk::Host& host = context.host();
  sdk::when_done(host, host.tracker(), {on_host.data(), on_host.size()})
      ->on_done(
          [](void* state, const stria_error* error) {
            std::unique_ptr<Submission> work(static_cast<Submission*>(state));
            // What has failed waits its turn to say so: a chain of such would be a recursion here.
            if (error) {
              work->refused = sdk::outcome_of(error);
              work->queue.submit(std::move(work), true);
            } else {
              submit(std::move(work), true);
            }
          },
          work.release());
  return done;
}

}  // namespace stria::vulkan
