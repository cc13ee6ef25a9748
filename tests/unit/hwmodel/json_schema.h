// SPDX-License-Identifier: Apache-2.0
// Checks JSON against a JSON schema, as an editor does: the keywords that hwmodels/schema uses.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace stria {

class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json schema) : root_(std::move(schema)) {}

  // "" if `value` is as the schema says, else the first thing that is not. Throws on a keyword that
  // it does not know.
  std::string check(const nlohmann::json& value) { return check(root_, value, ""); }

  // JSON pointers, into the schema, of the properties that checked values had; and of all there
  // are.
  const std::set<std::string>& seen() const { return seen_; }
  std::set<std::string> all() const;

 private:
  std::string check(const nlohmann::json& schema, const nlohmann::json& value,
                    const std::string& at);
  std::string check_object(const nlohmann::json& schema, const nlohmann::json& value,
                           const std::string& at);
  const nlohmann::json& resolve(const nlohmann::json& schema) const;
  // Where in the root a part of it stands.
  std::string pointer_of(const nlohmann::json& part) const;

  nlohmann::json root_;
  std::set<std::string> seen_;
};

}  // namespace stria
