// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/kept_signals.h"

namespace stria::hal {

KeptSignals::KeptSignals() {
  for (size_t i = 0; i < kNumbers.size(); ++i) ::sigaction(kNumbers[i], nullptr, &before_[i]);
}

KeptSignals::~KeptSignals() {
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    struct sigaction now{};
    ::sigaction(kNumbers[i], nullptr, &now);
    // One union: the address of either form of handler.
    if (now.sa_handler != before_[i].sa_handler) ::sigaction(kNumbers[i], &before_[i], nullptr);
  }
}

}  // namespace stria::hal
