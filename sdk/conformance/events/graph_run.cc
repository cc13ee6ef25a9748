// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <thread>

#include "events/failure.h"
#include "events/random_graph.h"
#include "events/seen_callback.h"
#include "memory/mapped.h"

namespace stria::conformance {
namespace {

using What = GraphNode::What;

// A node that the host does: it maps, and in callbacks writes, unmaps, and says that it is done, as
// any host does that does not want to wait.
struct HostWrite {
  const Bench& bench;
  const GraphNode& node;
  const Buffer& buffer;
  MapMode mode;
  void* memory = nullptr;
  Event ready, unmapped, ended;
  Failure failure;  // of the mapping
  SeenCallback* when_ready = nullptr;
  SeenCallback* at_end = nullptr;

  HostWrite(const Bench& on, const GraphNode& of, const Buffer& target, MapMode how)
      : bench(on), node(of), buffer(target), mode(how) {}

  Status begin(const EventList& waits) {
    const Subject& subject = bench.subject();
    STRIA_ASSIGN(ended, subject.host_event());
    stria_event* done = nullptr;
    if (mode == MapMode::current)
      STRIA_SLOT(subject, buffer, map_current, buffer.get(), node.target_offset, node.bytes,
                 waits.data(), waits.size(), &memory, &done);
    else
      STRIA_SLOT(subject, buffer, map_discard, buffer.get(), node.target_offset, node.bytes,
                 waits.data(), waits.size(), &memory, &done);
    ready = Event(done, subject.tables().event.release, Slot::buffer_map_current);
    at_end = &SeenCallback::make([this] { return end(); });
    when_ready = &SeenCallback::make([this] { return write(); });
    return when_ready->ask(bench, ready);
  }
  Status write() {
    failure = outcome_of(bench, ready);
    Status found;
    if (failure.code == STRIA_OK) {
      auto* const bytes = static_cast<std::byte*>(memory);
      if (mode == MapMode::current)
        if (const std::string wrong = difference({bytes, node.bytes}, node.found); !wrong.empty())
          found = broken("a mapping's memory: {}", wrong);
      std::copy(node.written.begin(), node.written.end(), bytes);
    }
    // Whatever it has found: others wait for the end.
    stria_event* done = nullptr;
    STRIA_SLOT(bench.subject(), buffer, unmap, buffer.get(), memory, &done);
    unmapped = Event(done, bench.subject().tables().event.release, Slot::buffer_unmap);
    STRIA_RETURN_IF_ERROR(at_end->ask(bench, unmapped));
    return found;
  }
  Status end() {
    if (failure.code != STRIA_OK) return signal_failure(bench, ended, failure);
    const Failure after = outcome_of(bench, unmapped);
    if (after.code != STRIA_OK) return signal_failure(bench, ended, after);
    return bench.subject().signal(ended);
  }
};

class Run {
 public:
  Run(const Bench& bench, const GraphOptions& options)
      : bench_(bench), options_(options), plan_(make_plan(options, bench.executors())) {}

  Status run() {
    if (options_.ends) {
      // A device without them says so before anything waits for what the host never signals.
      STRIA_ASSIGN(const Event event, bench_.subject().host_event());
      STRIA_RETURN_IF_ERROR(bench_.subject().signal(event));
      STRIA_RETURN_IF_ERROR(bench_.end_of(event).status());
    }
    for (const Bytes& contents : plan_.before) {
      STRIA_ASSIGN(Buffer buffer, bench_.buffer(contents));
      buffers_.push_back(std::move(buffer));
    }
    for (size_t i = 0; i < plan_.nodes.size(); ++i)
      STRIA_RETURN_IF_ERROR(begin(i).with_context(fmt::format("node {}", i)));
    STRIA_RETURN_IF_ERROR(bench_.flush());
    STRIA_RETURN_IF_ERROR(signal_all());
    for (size_t i = 0; i < plan_.nodes.size(); ++i) STRIA_RETURN_IF_ERROR(check(i));
    for (const auto& write : writes_) {
      STRIA_RETURN_IF_ERROR(write->when_ready->came_once(write->failure));
      // The unmap of a mapping that failed may be well.
      STRIA_RETURN_IF_ERROR(write->at_end->came());
    }
    for (size_t b = 0; b < buffers_.size(); ++b)
      STRIA_RETURN_IF_ERROR(bench_.holds(buffers_[b], plan_.after[b], fmt::format("buffer {}", b)));
    return Status();
  }

 private:
  const Event& event_of(size_t node) const { return *events_[node]; }

  // Some are signalled before anything waits for them.
  static bool is_early(size_t node) { return node % 3 == 0; }

  Status signal(size_t node) const {
    return plan_.nodes[node].fails
               ? signal_failure(bench_, event_of(node), failure_number(static_cast<int>(node)))
               : bench_.subject().signal(event_of(node));
  }

  Result<EventList> waits_of(const GraphNode& node) {
    EventList out;
    for (const GraphNode::Wait& wait : node.waits) {
      if (!wait.end) {
        out.push_back(event_of(wait.node).get());
        continue;
      }
      STRIA_ASSIGN(Event end, bench_.end_of(event_of(wait.node)));
      out.push_back(end.get());
      ends_.push_back(std::move(end));
    }
    return out;
  }

  Status begin(size_t index) {
    const GraphNode& node = plan_.nodes[index];
    STRIA_ASSIGN(const EventList waits, waits_of(node));
    if (node.what == What::map) {
      writes_.push_back(
          std::make_unique<HostWrite>(bench_, node, buffers_[node.target],
                                      index % 2 == 0 ? MapMode::current : MapMode::discard));
      // It is told to its successors by an event of the host's.
      events_.push_back(&writes_.back()->ended);
      return writes_.back()->begin(waits);
    }
    Event made;
    if (node.what == What::host) {
      STRIA_ASSIGN(made, bench_.subject().host_event());
    } else if (node.what == What::fill) {
      STRIA_ASSIGN(made, bench_.fill(buffers_[node.target], node.target_offset, node.bytes,
                                     node.written, waits, node.executor));
    } else {
      STRIA_ASSIGN(made,
                   bench_.copy(buffers_[node.source], node.source_offset, buffers_[node.target],
                               node.target_offset, node.bytes, waits, node.executor));
    }
    own_.push_back(std::make_unique<Event>(std::move(made)));
    events_.push_back(own_.back().get());
    if (node.what == What::host && is_early(index)) return signal(index);
    if (index % 7 == 0) return bench_.flush();
    return Status();
  }

  Status signal_all() const {
    const auto every = [&](size_t begin, size_t step) -> Status {
      for (size_t n = begin; n < plan_.signal_order.size(); n += step)
        if (const size_t node = plan_.signal_order[n]; !is_early(node))
          STRIA_RETURN_IF_ERROR(signal(node));
      return Status();
    };
    if (!options_.signal_threads) return every(0, 1);
    Status other;
    std::thread second([&] { other = every(1, 2); });
    const Status own = every(0, 2);
    second.join();
    return own.ok() ? other : own;
  }

  Status check(size_t index) const {
    const GraphNode& node = plan_.nodes[index];
    static constexpr std::string_view kNames[] = {"host event", "fill", "copy", "host's write"};
    const std::string what = fmt::format("node {} of {}, a {},", index, plan_.nodes.size(),
                                         kNames[static_cast<size_t>(node.what)]);
    return fails_with(bench_, event_of(index),
                      node.cause < 0 ? Failure() : failure_number(node.cause), what);
  }

  const Bench& bench_;
  const GraphOptions options_;
  const GraphPlan plan_;
  std::vector<Buffer> buffers_;
  std::vector<std::unique_ptr<Event>> own_;
  std::vector<Event> ends_;
  std::vector<std::unique_ptr<HostWrite>> writes_;
  std::vector<const Event*> events_;  // of each node
};

}  // namespace

Status run_graph(const Bench& bench, const GraphOptions& options) {
  // A case that fails leaves what callbacks may still use.
  auto run = std::make_unique<Run>(bench, options);
  Status status = run->run();
  if (!status.ok()) (void)run.release();
  return status;
}

}  // namespace stria::conformance
