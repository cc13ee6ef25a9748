// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <algorithm>

#include "buffer.h"
#include "vendor_failure.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

Code::Code(const std::string& bytes) {
  char message[ACME_MESSAGE_BYTES];
  check_call("load", acme_code_load(bytes.data(), bytes.size(), &code_, message));
}

acme_entry Code::entry(const std::string& symbol) const {
  const acme_entry found = acme_code_entry(code_, symbol.c_str());
  if (!found) throw sdk::Error(STRIA_INTERNAL, "the compiled kernels lack '" + symbol + "'");
  return found;
}

void CompiledKernel::launch(const std::vector<sdk::Argument>& arguments) const {
  std::vector<void*> addresses;
  for (const sdk::Argument& argument : arguments)
    addresses.push_back(static_cast<std::byte*>(buffer_of(argument).address()) + argument.offset);
  const auto launch_points = [&](uint64_t first, uint64_t end) {
    check_call("launch", acme_launch(code_, addresses.data(), addresses.size(), first, end));
  };
  if (!ACME_LAUNCH_IN_PIECES) return launch_points(0, points_);
  // Eight pieces a core: enough that one core which is late does not hold up the others.
  const uint64_t grain = std::max<uint64_t>(1, points_ / (8 * uint64_t{host_.concurrency()}));
  host_.parallel_for(points_, grain, launch_points);
}

AcmeLibrary::AcmeLibrary(const sdk::Host& host, std::vector<ProgramKernel> kernels,
                         std::string text, std::shared_ptr<const Code> code,
                         std::unique_ptr<const sdk::HostProgram> interpreted)
    : host_(host),
      kernels_(std::move(kernels)),
      text_(std::move(text)),
      code_(std::move(code)),
      interpreted_(std::move(interpreted)) {
  for (const ProgramKernel& kernel : kernels_) infos_.push_back(kernel.info);
}

sdk::Ref<sdk::Kernel> AcmeLibrary::prepare(uint64_t index) {
  const ProgramKernel& kernel = kernels_[index];
  if (kernel.code) return sdk::make<CompiledKernel>(host_, code_, kernel);
  return sdk::make<InterpretedKernel>(host_, interpreted_->prepare(index), kernel.info);
}

}  // namespace acme_plugin
