// SPDX-License-Identifier: Apache-2.0
// Members of JSON objects (nlohmann::json, which this header does not include).
#pragma once

#include <string>

namespace stria {

// The member `key` of the object `parent`: an object, or an array; an empty one if it was not
// there. `parent[key][other]` makes one, too, but in two steps: where memory ends between them, a
// value is left that cannot be destroyed.
template <typename Json>
Json& object_at(Json& parent, const std::string& key) {
  Json& child = parent[key];
  if (child.is_null()) child = Json::object();
  return child;
}
template <typename Json>
Json& array_at(Json& parent, const std::string& key) {
  Json& child = parent[key];
  if (child.is_null()) child = Json::array();
  return child;
}

}  // namespace stria
