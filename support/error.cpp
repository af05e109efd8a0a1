#include "support/error.h"

#include <algorithm>
#include <cctype>

#include "support/text.h"

namespace redtune {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Edits are insert, delete, replace and swap of neighbours: "smu" is one slip from "sum", not two.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

void throw_internal(const char* file, int line, const std::string& what) {
  throw InternalError("internal error at " + std::string(file) + ":" + std::to_string(line) + ": " + what);
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = lower(word);
  std::size_t best_distance = wanted.size() / 2 + 1;
  std::string best;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_word_message(std::string_view kind, std::string_view word,
                                 const std::vector<std::string>& known) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(word) + "'";
  const std::string near = nearest_word(word, known);
  if (!near.empty()) message += "; did you mean '" + near + "'?";
  if (!known.empty()) message += (near.empty() ? "; known: " : " known: ") + join(known, ", ");
  return message;
}

}  // namespace redtune
