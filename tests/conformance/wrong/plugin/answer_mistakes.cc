// SPDX-License-Identifier: Apache-2.0
// What the shared object says of itself when it is asked, and how it reads what it is given.
#include <atomic>
#include <cstring>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

// The right answer to a host that knows the whole struct, after a change.
using Edit = void (*)(const stria_host_info& host, stria_plugin_info& info);
template <Edit kEdit>
stria_error* query(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  if (plugin->size >= sizeof *plugin) kEdit(*host, *plugin);
  return error;
}
template <Edit kEdit>
void plant_answer(WrongObject& object) {
  object.query = query<kEdit>;
}

const stria_version_range kWide{sizeof kWide, nullptr, STRIA_ABI_MAJOR, 0, 41};
const stria_version_range kFalling{sizeof kFalling, nullptr, STRIA_ABI_MAJOR, STRIA_ABI_MINOR,
                                   STRIA_ABI_OLDEST_MINOR};
const stria_version_range kShort{8, nullptr, STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR,
                                 STRIA_ABI_MINOR};

// As a host that the plugin knows would ask.
stria_host_info known_host() {
  static const stria_version_range abi{sizeof abi, nullptr, STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR,
                                       STRIA_ABI_MINOR};
  static const stria_version_range stripe{sizeof stripe, nullptr, STRIA_STRIPE_MAJOR,
                                          STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};
  stria_host_info host{};
  host.size = sizeof host;
  host.abi = &abi;
  host.stripe = &stripe;
  return host;
}

stria_error* query_minds_no_version(const stria_host_info*, stria_plugin_info* plugin) {
  const stria_host_info host = known_host();
  return right_query(&host, plugin);
}
stria_error* query_minds_no_major(const stria_host_info* host, stria_plugin_info* plugin) {
  const stria_host_info given = sdk::whole(host);
  if (!given.abi || !given.stripe) return right_query(host, plugin);
  stria_version_range abi = sdk::whole(given.abi);
  abi.size = sizeof abi;
  abi.major = STRIA_ABI_MAJOR;
  stria_host_info other = given;
  other.size = sizeof other;
  other.abi = &abi;
  return right_query(&other, plugin);
}
// A host that is newer than itself is none.
stria_error* query_refuses_newer_hosts(const stria_host_info* host, stria_plugin_info* plugin) {
  const stria_host_info given = sdk::whole(host);
  if (stria_error* error = right_query(host, plugin)) return error;
  if (sdk::whole(given.abi).minor_max > STRIA_ABI_MINOR)
    return sdk::to_error(sdk::Error(STRIA_INCOMPATIBLE, "the host is too new").outcome());
  return nullptr;
}
stria_error* query_refuses_without_versions(const stria_host_info* host,
                                            stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  if (error && plugin->size >= sizeof *plugin) plugin->abi = nullptr;
  return error;
}
stria_error* query_refuses_with_another_code(const stria_host_info* host,
                                             stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  if (error) error->code = STRIA_UNAVAILABLE;
  return error;
}
stria_error* query_refuses_without_numbers(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  if (!error) return nullptr;
  error->release(error);
  return sdk::to_error(sdk::Error(STRIA_INCOMPATIBLE, "versions do not meet").outcome());
}
// Fills in its own struct, however long the host's is. The host of the suite has room behind it.
stria_error* query_writes_beyond(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_plugin_info own{};
  own.size = sizeof own;
  own.next = plugin->next;
  stria_error* const error = right_query(host, &own);
  *plugin = own;
  return error;
}
stria_error* query_drops_next(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  plugin->next = nullptr;
  return error;
}
// Takes the host's struct for one of its own length.
stria_error* query_reads_beyond(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_host_info copy;
  std::memcpy(&copy, host, sizeof copy);
  copy.size = sizeof copy;
  return right_query(&copy, plugin);
}
stria_error* query_refuses_longer_structs(const stria_host_info* host, stria_plugin_info* plugin) {
  if (host->size > sizeof *host)
    return sdk::to_error(sdk::Error(STRIA_INCOMPATIBLE, "the host's struct is longer").outcome());
  return right_query(host, plugin);
}
stria_error* query_writes_into_the_hosts(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_error* const error = right_query(host, plugin);
  const_cast<stria_host_info*>(host)->page_size = 0;
  return error;
}

void id_that_changes(const stria_host_info&, stria_plugin_info& info) {
  static std::atomic<int> times{0};
  static thread_local std::string id;
  id = times++ == 0 ? std::string(kId) : "wrong-again";
  info.id = sdk::to_c(id);
}

// ---- structs that slots are given

stria_error* allocate_refuses_longer(stria_device* device, const stria_buffer_params* params,
                                     stria_buffer** buffer) {
  if (params->size != sizeof *params)
    return sdk::to_error(
        sdk::Error(STRIA_INVALID_ARGUMENT, "stria_buffer_params of another size").outcome());
  return Right::allocate(device, params, buffer);
}
stria_error* allocate_refuses_chains(stria_device* device, const stria_buffer_params* params,
                                     stria_buffer** buffer) {
  if (params->next)
    return sdk::to_error(sdk::Error(STRIA_UNSUPPORTED, "an extension that is not known").outcome());
  return Right::allocate(device, params, buffer);
}
stria_error* allocate_reads_beyond(stria_device* device, const stria_buffer_params* params,
                                   stria_buffer** buffer) {
  stria_buffer_params copy;
  std::memcpy(&copy, params, sizeof copy);
  copy.size = sizeof copy;
  return Right::allocate(device, &copy, buffer);
}
stria_error* create_minds_no_services(const stria_driver_options* options, stria_driver** driver) {
  stria_driver_options given = sdk::whole(options);
  given.size = sizeof given;
  // Lives as long as any driver.
  auto* const services = new stria_host_services(sdk::whole(given.services));
  services->size = sizeof *services;
  given.services = services;
  return Right::create(&given, driver);
}
stria_error* create_refuses_longer_services(const stria_driver_options* options,
                                            stria_driver** driver) {
  const stria_driver_options given = sdk::whole(options);
  if (given.services && given.services->size > sizeof(stria_host_services))
    return sdk::to_error(sdk::Error(STRIA_INCOMPATIBLE, "more services than are known").outcome());
  return Right::create(options, driver);
}
stria_error* create_needs_the_newest_services(const stria_driver_options* options,
                                              stria_driver** driver) {
  const stria_driver_options given = sdk::whole(options);
  if (given.services && given.services->size < sizeof(stria_host_services))
    return sdk::to_error(sdk::Error(STRIA_INCOMPATIBLE, "fewer services than today").outcome());
  return Right::create(options, driver);
}
stria_error* copy_refuses_no_list(stria_executor* executor, stria_buffer* source,
                                  uint64_t source_offset, stria_buffer* target,
                                  uint64_t target_offset, uint64_t bytes, stria_event* const* waits,
                                  uint64_t wait_count, stria_event** done) {
  if (!waits)
    return sdk::to_error(sdk::Error(STRIA_INVALID_ARGUMENT, "no list of waits").outcome());
  return Right::copy(executor, source, source_offset, target, target_offset, bytes, waits,
                     wait_count, done);
}

// ---- extensions

const void* extension_of_any_version(stria_string name, uint32_t) {
  return RightDriver::extension(name, 1);
}
const void* extension_of_any_name(stria_string name, uint32_t version) {
  const void* const right = RightDriver::extension(name, version);
  return right ? right : &sdk::ExperimentalTables::peers_table;
}
const void* extension_by_the_beginning(stria_string name, uint32_t version) {
  for (const std::string_view known : {STRIA_SHARING, STRIA_PEERS, STRIA_ESTIMATE})
    if (known.substr(0, name.size) == sdk::view_of(name) && name.size > 0)
      return RightDriver::extension(sdk::to_c(known), version);
  return RightDriver::extension(name, version);
}
const void* extension_up_to_a_zero(stria_string name, uint32_t version) {
  return RightDriver::extension({name.data, name.size == 0 ? 0 : strnlen(name.data, name.size)},
                                version);
}

#define QUERY(name, function) {name, [](WrongObject& o) { o.query = function; }}
#define ANSWER(name, ...) \
  {name, plant_answer<[](const stria_host_info& h, stria_plugin_info& i) { (void)h, __VA_ARGS__; }>}
#define REPLACED(name, table, member, with) \
  {name, [](WrongObject& o) { o.tables.table.member = with; }}
#define EXTENSION(name, function) {name, [](WrongObject& o) { o.get_extension = function; }}

constexpr Mistake kAll[] = {
    ANSWER("answer.another_id", i.id = sdk::to_c("somebody_else")),
    ANSWER("answer.another_version", i.version = sdk::to_c("9.9.9")),
    ANSWER("answer.id_without_data", i.id = stria_string{nullptr, 5}),
    ANSWER("answer.build_is_no_text", i.build = sdk::to_c("g\xff\xfe")),
    ANSWER("answer.wider_versions", i.abi = &kWide),
    ANSWER("answer.falling_versions", i.abi = &kFalling),
    ANSWER("answer.short_range", i.abi = &kShort),
    ANSWER("answer.no_versions", i.abi = nullptr),
    ANSWER("answer.the_hosts_versions", i.abi = h.abi),
    ANSWER("answer.lowest_minor", i.abi_minor = STRIA_ABI_OLDEST_MINOR),
    ANSWER("answer.another_stripe_minor", i.stripe_minor = 7),
    ANSWER("answer.sanitizer_of_the_host", i.sanitizer = h.sanitizer),
    ANSWER("answer.sanitizer_of_nobody", i.sanitizer = 9),
    ANSWER("answer.pages_of_the_host", i.page_size = h.page_size),
    ANSWER("answer.large_pages", i.page_size = 1 << 21),
    ANSWER("answer.debug_is_seven", i.debug = 7),
    {"answer.id_changes", plant_answer<id_that_changes>},
    QUERY("answer.minds_no_version", query_minds_no_version),
    QUERY("answer.minds_no_major", query_minds_no_major),
    QUERY("answer.refuses_newer_hosts", query_refuses_newer_hosts),
    QUERY("answer.refuses_with_another_code", query_refuses_with_another_code),
    QUERY("answer.refuses_without_numbers", query_refuses_without_numbers),
    QUERY("answer.refuses_without_versions", query_refuses_without_versions),
    QUERY("answer.writes_beyond", query_writes_beyond),
    QUERY("answer.drops_next", query_drops_next),
    QUERY("answer.reads_beyond", query_reads_beyond),
    QUERY("answer.refuses_longer_structs", query_refuses_longer_structs),
    QUERY("answer.writes_into_the_hosts", query_writes_into_the_hosts),
    REPLACED("structs.longer_are_refused", device, allocate, allocate_refuses_longer),
    REPLACED("structs.chains_are_refused", device, allocate, allocate_refuses_chains),
    REPLACED("structs.are_read_beyond", device, allocate, allocate_reads_beyond),
    REPLACED("services.any_number", driver, create, create_minds_no_services),
    REPLACED("services.no_longer_ones", driver, create, create_refuses_longer_services),
    REPLACED("services.newest_only", driver, create, create_needs_the_newest_services),
    REPLACED("lists.null_is_refused", executor, copy, copy_refuses_no_list),
    EXTENSION("extension.of_any_version", extension_of_any_version),
    EXTENSION("extension.of_any_name", extension_of_any_name),
    EXTENSION("extension.by_the_beginning", extension_by_the_beginning),
    EXTENSION("extension.up_to_a_zero", extension_up_to_a_zero),
};
#undef QUERY
#undef ANSWER
#undef REPLACED
#undef EXTENSION

}  // namespace

std::span<const Mistake> answer_mistakes() { return kAll; }

}  // namespace stria::wrong
