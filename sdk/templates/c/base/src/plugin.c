// SPDX-License-Identifier: Apache-2.0
// The one symbol of the plugin: versions and tables.
#include <string.h>

#include "buffer.h"
#include "compiler.h"
#include "device.h"
#include "driver.h"
#include "error.h"
#include "event.h"
#include "executor.h"
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
#define ACME_HAS_FEATURE(name) __has_feature(name)
#else
#define ACME_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || ACME_HAS_FEATURE(address_sanitizer)
#define ACME_SANITIZER STRIA_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__) || ACME_HAS_FEATURE(thread_sanitizer)
#define ACME_SANITIZER STRIA_SANITIZER_THREAD
#else
#define ACME_SANITIZER STRIA_SANITIZER_NONE
#endif

// The highest common minor; a refusal names both ranges.
static stria_error* agree(const char* what, const stria_version_range* host,
                          const stria_version_range* own, uint32_t* minor) {
  stria_version_range given = {0};
  if (host != NULL) acme_whole(&given, sizeof given, host);
  if (host == NULL || given.major != own->major || given.minor_min > own->minor_max ||
      own->minor_min > given.minor_max)
    return acme_error(STRIA_INCOMPATIBLE,
                      "%s versions do not meet: the host has %u.%u to %u.%u, the plugin %u.%u to "
                      "%u.%u",
                      what, given.major, given.minor_min, given.major, given.minor_max, own->major,
                      own->minor_min, own->major, own->minor_max);
  *minor = given.minor_max < own->minor_max ? given.minor_max : own->minor_max;
  return NULL;
}

stria_error* stria_plugin_query(const stria_host_info* host, stria_plugin_info* plugin) {
  stria_plugin_info out = {.size = plugin->size < sizeof out ? plugin->size : sizeof out,
                           .next = plugin->next,
                           .abi = &kAbi,
                           .stripe = &kStripe,
                           .sanitizer = ACME_SANITIZER,
                           .id = ACME_TEXT("acme"),  // that of plugin.json, and so is the version
                           .version = ACME_TEXT("0.1.0"),
                           .build = ACME_TEXT(__VERSION__),
                           .driver = &acme_driver_table,
                           .device = &acme_device_table,
                           .compiler = &acme_compiler_table,
                           .library = &acme_library_table,
                           .kernel = &acme_kernel_table,
                           .executor = &acme_executor_table,
                           .buffer = &acme_buffer_table,
                           .event = &acme_event_table};
#if !defined(__OPTIMIZE__)
  out.debug = 1;
#endif
  stria_host_info given;
  acme_whole(&given, sizeof given, host);
  stria_error* error = agree("ABI", given.abi, &kAbi, &out.abi_minor);
  if (error == NULL) error = agree("Stripe text", given.stripe, &kStripe, &out.stripe_minor);
  memcpy(plugin, &out, (size_t)out.size);
  return error;
}
