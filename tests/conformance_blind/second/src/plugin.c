// SPDX-License-Identifier: Apache-2.0
// The one symbol of the plugin: versions and tables.
#include <string.h>

#include "buffer.h"
#include "compiler.h"
#include "device.h"
#include "driver.h"
#include "error.h"
#include "estimate.h"
#include "event.h"
#include "executor.h"
#include "mistake.h"
#include "text.h"

// The headers that this is compiled with say what it speaks.
static const stria_version_range kAbi = {.size = sizeof kAbi,
                                         .major = STRIA_ABI_MAJOR,
                                         .minor_min = STRIA_ABI_OLDEST_MINOR,
                                         .minor_max = STRIA_ABI_MINOR};
static const stria_version_range kStripe = {.size = sizeof kStripe,
                                            .major = STRIA_STRIPE_MAJOR,
                                            .minor_min = STRIA_STRIPE_MINOR,
                                            .minor_max = STRIA_STRIPE_MINOR};

// Some compilers say with a macro what they check, others with __has_feature.
#if defined(__has_feature)
#define SECOND_HAS_FEATURE(name) __has_feature(name)
#else
#define SECOND_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || SECOND_HAS_FEATURE(address_sanitizer)
#define SECOND_SANITIZER STRIA_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__) || SECOND_HAS_FEATURE(thread_sanitizer)
#define SECOND_SANITIZER STRIA_SANITIZER_THREAD
#else
#define SECOND_SANITIZER STRIA_SANITIZER_NONE
#endif

// The highest common minor; a refusal names both ranges.
static stria_error* agree(const char* what, const stria_version_range* host,
                          const stria_version_range* own, uint32_t* minor) {
  stria_version_range given = {0};
  if (host != NULL) second_whole(&given, sizeof given, host);
  if (host == NULL || given.major != own->major || given.minor_min > own->minor_max ||
      own->minor_min > given.minor_max)
    return second_error(STRIA_INCOMPATIBLE,
                        "%s versions do not meet: the host has %u.%u to %u.%u, the plugin %u.%u to "
                        "%u.%u",
                        what, given.major, given.minor_min, given.major, given.minor_max,
                        own->major, own->minor_min, own->major, own->minor_max);
  *minor = given.minor_max < own->minor_max ? given.minor_max : own->minor_max;
  return NULL;
}

stria_error* stria_plugin_query(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_plugin_info out = {
      .size = plugin->size < sizeof out ? plugin->size : sizeof out,
      .next = second_makes(query_drops_next) ? NULL : plugin->next,
      .abi = &kAbi,
      .stripe = &kStripe,
      .sanitizer = SECOND_SANITIZER,
      .id = SECOND_TEXT("second"),  // that of plugin.json, and so is the version
      .version = SECOND_TEXT("0.1.0"),
      .build = SECOND_TEXT(__VERSION__),
      .driver = &second_driver_table,
      .device = &second_device_table,
      .compiler = &second_compiler_table,
      .library = &second_library_table,
      .kernel = &second_kernel_table,
      .executor = &second_executor_table,
      .buffer = &second_buffer_table,
      .event = &second_event_table};
  if (second_makes(estimate_bounds_swapped) || second_makes(extension_of_any_version))
    out.get_extension = second_estimate_extension;
#if !defined(__OPTIMIZE__)
  out.debug = 1;
#endif
  stria_host_info given;
  second_whole(&given, sizeof given, host);
  stria_error* error = agree("ABI", given.abi, &kAbi, &out.abi_minor);
  if (error == NULL) error = agree("Stripe text", given.stripe, &kStripe, &out.stripe_minor);
  // The host is told what the plugin can do, not what was agreed on.
  if (second_makes(newest_minor_always)) out.abi_minor = kAbi.minor_max;
  // A refusal says all that there is to say in its text.
  if (second_makes(refusal_fills_nothing) && error != NULL) return error;
  memcpy(plugin, &out, (size_t)out.size);
  return error;
}
