// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <utility>

#include "queue.h"

namespace stria::vulkan {

CommandEvent::CommandEvent(Queue& queue, bool of_all) : SubmissionEvent(queue, of_all) {}

Queue& CommandEvent::queue() const { return static_cast<Queue&>(SubmissionEvent::queue()); }

bool Submission::can_wait_for(const sdk::SubmissionEvent& event, bool) const {
  return &static_cast<const CommandEvent&>(event).queue().context() == &queue.context();
}

void Submission::prepare() {
  recording = record();
  recording->set_in_use(true);
}

sdk::Outcome Submission::give() { return queue.give(*this); }

void Submission::publish() {
  for (const auto& event : each) event->set_value(given);
  done->set_value(given);
}

sdk::Object* Submission::subject() const { return given > 0 ? recording.get() : nullptr; }

void Submission::end() { queue.end(*this); }

sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::function<sdk::Ref<Recording>()> record, size_t commands,
                           sdk::Waits waits, std::vector<sdk::Ref<sdk::Event>>* each) {
  Context& context = queue.context();
  context.check_not_lost();
  auto work = std::make_unique<Submission>(queue, std::move(record), commands);
  if (each)
    for (size_t n = 0; n < commands; ++n)
      work->each.push_back(sdk::make<CommandEvent>(queue, commands == 1));
  work->done = work->each.size() == 1 ? work->each[0] : sdk::make<CommandEvent>(queue, true);
  if (each) each->assign(work->each.begin(), work->each.end());
  const sdk::Ref<sdk::Event> done = work->done;
  // Mappings end where nobody waits for them.
  queue.start(std::move(work), tracker, waits, &queue == &context.transfer_queue());
  return done;
}

}  // namespace stria::vulkan
