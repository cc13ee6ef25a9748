// SPDX-License-Identifier: Apache-2.0
// What a plugin does to the process that it is a guest of.
#pragma once

#include <functional>
#include <string_view>

namespace stria::wrong {

// abort, exit, quick_exit, _exit, kill, fault; chdir, umask, close_out, lower_limit,
// signal_handler, signal_mask, setenv, locale, rounding, flush_to_zero, priority, fork, print;
// leak_heap, leak_thread, leak_descriptor, leak_mapping, leak_of_host. Empty for another word.
std::function<void()> process_misuse(std::string_view kind);

}  // namespace stria::wrong
