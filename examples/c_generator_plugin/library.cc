// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <algorithm>
#include <cfenv>
#include <utility>

namespace c_generator {
namespace {

// Numbers are rounded to the nearest while this lives, and subnormal ones stay what they are: a
// kernel may run on a thread of the application's that has set otherwise.
class UsualArithmetic {
 public:
  UsualArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~UsualArithmetic() { std::fesetenv(&before_); }
  UsualArithmetic(const UsualArithmetic&) = delete;
  UsualArithmetic& operator=(const UsualArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace

void CKernel::run(const stria_memory* arguments, uint64_t count) const {
  std::vector<void*> pointers(count);
  for (uint64_t i = 0; i < count; ++i) pointers[i] = arguments[i].data;
  // Eight pieces a core: enough that one core which is late does not hold up the others.
  const uint64_t grain = std::max<uint64_t>(1, points_ / (8 * uint64_t{host_.concurrency()}));
  host_.parallel_for(points_, grain, [&](uint64_t begin, uint64_t end) {
    const UsualArithmetic usual;
    code_(pointers.data(), static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

CLibrary::CLibrary(const stria::sdk::Host& host, std::vector<ProgramKernel> kernels,
                   std::string text, std::shared_ptr<const SharedObject> object,
                   std::unique_ptr<const stria::sdk::HostProgram> interpreted)
    : host_(host),
      kernels_(std::move(kernels)),
      text_(std::move(text)),
      object_(std::move(object)),
      interpreted_(std::move(interpreted)) {
  for (const ProgramKernel& kernel : kernels_) infos_.push_back(kernel.info);
}

stria::sdk::Ref<stria::sdk::Kernel> CLibrary::prepare(uint64_t index) {
  const ProgramKernel& kernel = kernels_[index];
  if (kernel.code != nullptr) return stria::sdk::make<CKernel>(host_, object_, kernel);
  return stria::sdk::make<stria::sdk::InterpretedKernel>(host_, interpreted_->prepare(index));
}

}  // namespace c_generator
