// SPDX-License-Identifier: Apache-2.0
#include "slots_page.h"

#include "made_parts.h"
#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria {
namespace {

// Takes the tags out of a comment: "@threads any @blocks no".
void take_tags(Slot& slot) {
  const size_t at = slot.contract.find('@');
  if (at == std::string::npos) return;
  std::string tag;
  for (const std::string& word : split(slot.contract.substr(at), ' ')) {
    if (word.starts_with('@') && !tag.empty()) slot.tags.push_back(std::exchange(tag, ""));
    tag += (tag.empty() ? "" : " ") + word;
  }
  if (!tag.empty()) slot.tags.push_back(tag);
  slot.contract = std::string(trim(slot.contract.substr(0, at)));
}

// What a tag says, for people.
std::string words_of(const std::string& tag) {
  if (tag == "@threads any") return "from any thread at any time";
  if (tag == "@threads handle") return "calls on one handle come one after another";
  if (tag == "@blocks no") return "returns without waiting";
  if (tag == "@blocks yes") return "may wait";
  if (tag == "@allocates yes") return "may take memory by its arguments";
  if (tag == "@allocates no") return "takes no memory by its arguments";
  if (tag == "@reenters yes") return "may call back into the host";
  if (tag == "@reenters no") return "calls nothing of the host";
  return tag;
}

class HeaderReader {
 public:
  Result<std::vector<Slot>> read(const std::string& header) {
    for (const std::string& line : split(header, '\n')) STRIA_RETURN_IF_ERROR(take(line));
    if (slots_.empty()) return invalid_argument("no slot found");
    return std::move(slots_);
  }

 private:
  Status take(const std::string& line) {
    const std::string text(trim(line));
    constexpr std::string_view kBegin = "typedef struct stria_", kTable = "_table {";
    if (text.starts_with(kBegin) && text.ends_with(kTable)) {
      table_ = text.substr(kBegin.size(), text.size() - kBegin.size() - kTable.size());
      comment_.clear();
      return Status();
    }
    if (table_.empty()) return Status();
    if (text.starts_with("} ")) {
      table_.clear();
      return Status();
    }
    if (signature_.empty() && text.starts_with("//")) {
      comment_ += (comment_.empty() ? "" : " ") + std::string(trim(text.substr(2)));
      return Status();
    }
    const bool begins = text.find("(*") != std::string::npos && signature_.empty();
    if (!begins && signature_.empty()) {
      comment_.clear();  // of size and next
      return Status();
    }
    const size_t behind = text.find("//");
    signature_ += (signature_.empty() ? "" : "\n") + (begins ? text : line.substr(2));
    if (text.substr(0, behind).find(';') == std::string::npos) return Status();
    return end(behind == std::string::npos ? "" : std::string(trim(text.substr(behind + 2))));
  }

  // `beside`: a comment in the line of the declaration.
  Status end(const std::string& beside) {
    Slot slot;
    slot.table = table_;
    const size_t name = signature_.find("(*") + 2;
    slot.name = signature_.substr(name, signature_.find(')', name) - name);
    slot.signature = signature_;
    if (const size_t at = slot.signature.find("  //"); at != std::string::npos)
      slot.signature.erase(at);
    slot.contract =
        comment_.empty() || beside.empty() ? comment_ + beside : comment_ + " " + beside;
    take_tags(slot);
    if (slot.tags.empty()) return invalid_argument("{}.{} has no tags", slot.table, slot.name);
    slots_.push_back(std::move(slot));
    signature_.clear();
    comment_.clear();
    return Status();
  }

  std::string table_, comment_, signature_;
  std::vector<Slot> slots_;
};

}  // namespace

Result<std::vector<Slot>> slots_of_header(const std::string& header) {
  return HeaderReader().read(header);
}

Result<std::string> slot_page(const std::string& page, const Slot& slot) {
  STRIA_ASSIGN(MadePage out,
               with_made_parts(page, [&](const std::string& what) -> Result<std::string> {
                 if (what != "contract")
                   return invalid_argument("'{}' is nothing that can be made", what);
                 std::string text = "```c\n" + slot.signature + "\n```\n\n";
                 if (!slot.contract.empty()) text += slot.contract + "\n\n";
                 std::vector<std::string> words;
                 for (const std::string& tag : slot.tags) words.push_back(words_of(tag));
                 return text + "*" + join(words, "; ") + "*\n";
               }));
  if (out.made.empty()) return invalid_argument("the contract is not shown");
  return std::move(out.text);
}

std::string slots_table(const std::vector<Slot>& slots) {
  std::string out, table;
  for (const Slot& slot : slots) {
    if (slot.table != table) out += (out.empty() ? "- `" : "\n- `") + slot.table + "`:";
    out += (slot.table != table ? " " : ", ") +
           fmt::format("[{1}](slots/{0}.{1}.md)", slot.table, slot.name);
    table = slot.table;
  }
  return out + "\n";
}

}  // namespace stria
