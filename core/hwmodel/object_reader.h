// SPDX-License-Identifier: Apache-2.0
// Reads JSON objects with known keys, of a hardware model or of a table of energies. Every mistake
// is an error that names the place, the JSON pointer, the value, the limit and the closest right
// name. An internal part of hardware_model.h and energy_table.h.
//
// Any object may have a `source`: where its numbers are from, a text for all of them or an object
// of texts by key.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/template/placed_text.h"

namespace stria {

// The key that says where an object's numbers are from.
inline constexpr const char* kSource = "source";
// The key of an overlay that says whose numbers it has (model_overlay.h).
inline constexpr const char* kOverlayOf = "overlay_of";

// Larger than any machine's clock, latency or number of units; keeps products of two such numbers
// inside int64.
inline constexpr double kMaxModelNumber = 1e9;
// Sizes are bytes, which a double tells exactly up to 2^53. A product with another number needs a
// check.
inline constexpr double kMaxModelBytes = 9007199254740992;

class ObjectReader {
 public:
  // Borrows both.
  ObjectReader(const PlacedTexts& texts, const nlohmann::json& object, std::string pointer)
      : texts_(texts), object_(object), pointer_(std::move(pointer)) {}

  // Fails unless it is an object, which all that follows presumes.
  Status check() const;

  // Each of these reads one key, which is then a known one. An absent key leaves `value` as it is.
  Status text(const std::string& key, std::string& value);
  // One of `choices`; `value` is its position.
  Status choice(const std::string& key, const std::vector<std::string>& choices, size_t& value);
  Status flag(const std::string& key, bool& value);
  // `value` is the key's number times `factor`, at most `highest`.
  Status integer(const std::string& key, int64_t& value, int64_t lower, int64_t factor = 1,
                 double highest = kMaxModelNumber);
  Status real(const std::string& key, double& value, double lower = 0,
              double upper = kMaxModelNumber);
  const nlohmann::json* get(const std::string& key);

  // Fails for the first key that is not known, and for a `source` that is none.
  Status finish() const;
  // For objects whose keys are names: all but `source`, which is checked.
  Result<std::vector<std::string>> names();

  Status fail(const std::string& key, const std::string& message,
              PlacedTexts::At at = PlacedTexts::At::value) const {
    return texts_.fail(pointer_of(key), message, at);
  }
  Status wrong(const std::string& key, const std::string& what) const;
  std::string pointer_of(const std::string& key) const { return pointer_child(pointer_, key); }
  const std::string& pointer() const { return pointer_; }
  const PlacedTexts& texts() const { return texts_; }
  // The object at `key`, which must be there.
  ObjectReader inside(const std::string& key) const {
    return ObjectReader(texts_, object_[key], pointer_of(key));
  }

 private:
  Status check_source() const;

  const PlacedTexts& texts_;
  const nlohmann::json& object_;
  std::string pointer_;
  std::vector<std::string> known_;
};

// The source of the number at `pointer`: the `source` of its own object, or of the closest one
// around it that does not hold other units too. "" if there is none.
std::string source_of(const nlohmann::json& root, const std::string& pointer);

// "add.i8" and the like: picojoules by operation (add, mul, mac, other) and element type.
using OperationEnergies = std::map<std::string, double>;
// Reads {"add.i8": 0.03, …} at `key`, if it is there.
Status read_energies(ObjectReader& reader, const std::string& key, OperationEnergies& energies);

}  // namespace stria
