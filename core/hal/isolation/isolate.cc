// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/isolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "stria/hal/files/own_files.h"
#include "stria/hal/isolation/remote.h"
#include "stria/sdk/handles.h"
#include "stria/sdk/sanitizer.h"

namespace stria::hal {

std::filesystem::path find_isolated() { return own_program("stria_isolated"); }

namespace {

// The highest minor that both sides speak.
uint32_t common(const VersionRange& plugin, const stria_version_range& host) {
  return std::min(plugin.minor_max, host.minor_max);
}

}  // namespace

stria_error* query_isolated(const Manifest& manifest, const stria_host_info* host,
                            stria_plugin_info* info) {
  // What the manifest says, for as long as the process: the plugin's own answers are compared with
  // it over there.
  struct Said {
    std::string id, version;
    stria_version_range abi, stripe;
  };
  const auto range = [](const VersionRange& from) {
    return stria_version_range{sizeof(stria_version_range), nullptr, from.major, from.minor_min,
                               from.minor_max};
  };
  return sdk::slot([&] {
    static std::mutex& mutex = *new std::mutex;
    static auto& all = *new std::map<std::string, Said, std::less<>>;
    const std::string key = fmt::format("{} {} {} {}", manifest.id, manifest.version,
                                        to_string(manifest.abi), to_string(manifest.stripe));
    const std::lock_guard lock(mutex);
    const Said& said = all.try_emplace(key, Said{manifest.id, manifest.version, range(manifest.abi),
                                                 range(manifest.stripe)})
                           .first->second;
    stria_plugin_info out{};
    out.abi = &said.abi;
    out.stripe = &said.stripe;
    out.abi_minor = common(manifest.abi, *host->abi);
    out.stripe_minor = common(manifest.stripe, *host->stripe);
    out.sanitizer = sdk::kSanitizer;
    out.id = to_c(said.id);
    out.version = to_c(said.version);
    out.build = to_c("a process of its own");
    out.driver = &isolation::kDriverTable;
    out.device = &isolation::kDeviceTable;
    out.compiler = &isolation::kCompilerTable;
    out.library = &isolation::kLibraryTable;
    out.kernel = &isolation::kKernelTable;
    out.executor = &isolation::kExecutorTable;
    out.buffer = &isolation::kBufferTable;
    out.event = &isolation::kEventTable;
    out.get_extension = isolation::find_extension;
    sdk::copy_out(out, info);
    info->size = std::min<uint64_t>(info->size, sizeof out);
  });
}

}  // namespace stria::hal
