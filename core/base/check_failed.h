// SPDX-License-Identifier: Apache-2.0
// For whoever wants to save something when a broken assumption (STRIA_CHECK) ends the process.
#pragma once

namespace stria {

// What is called before the process ends; null: nothing. Any thread.
void set_check_failed_handler(void (*handler)());

}  // namespace stria
