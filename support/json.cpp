#include "support/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

constexpr auto kReplace = Json::error_handler_t::replace;

void print_readable(const Json& json, std::size_t width, std::size_t indent, std::size_t used, std::string& out) {
  const std::string line = json.dump(-1, ' ', false, kReplace);
  if (!json.is_structured() || json.empty() || used + line.size() <= width) {
    // The library's short form has no blanks; a line of many members needs them.
    if (!json.is_structured() || json.empty()) {
      out += line;
      return;
    }
    out += json.is_object() ? '{' : '[';
    bool first = true;
    for (const auto& [key, value] : json.items()) {
      if (!first) out += ", ";
      first = false;
      if (json.is_object()) out += Json(key).dump(-1, ' ', false, kReplace) + ": ";
      print_readable(value, std::string::npos, indent, 0, out);
    }
    out += json.is_object() ? '}' : ']';
    return;
  }
  out += json.is_object() ? "{" : "[";
  const std::string pad(indent + 2, ' ');
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    const std::string name = json.is_object() ? Json(key).dump(-1, ' ', false, kReplace) + ": " : "";
    out += pad + name;
    print_readable(value, width, indent + 2, pad.size() + name.size() + 1, out);
  }
  out += "\n" + std::string(indent, ' ') + (json.is_object() ? "}" : "]");
}

// Deeper nesting is no file of ours, and walking it recursively would end in a stack overflow.
constexpr std::size_t kMaxDepth = 200;

// An input iterator that counts, so that the handler knows where the reader stands.
struct CountingIterator {
  using difference_type = std::ptrdiff_t;
  using value_type = char;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;

  const char* at = nullptr;
  std::size_t* count = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    ++*count;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

// Builds the value like the library's own handler does, but refuses a key that stands twice: the library keeps one
// of the two without a word.
class StrictBuilder {
 public:
  StrictBuilder(std::string_view text, std::string_view origin, const std::size_t& read)
      : text_(text), origin_(origin), read_(read) {}

  Json take() { return std::move(root_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }

  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    if (!keys_.back().insert(key).second) fail_at(read_, "duplicate key \"" + key + "\"");
    key_ = key;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    std::string message = error.what();
    // "[json.exception...] parse error at line 3, column 5: reason": the place is told in our own way.
    const std::size_t place = message.find("column ");
    const std::size_t colon = message.find(": ", place == std::string::npos ? message.find("] ") : place);
    if (colon != std::string::npos) message.erase(0, colon + 2);
    else if (message.find("] ") != std::string::npos) message.erase(0, message.find("] ") + 2);
    fail_at(position, message + non_finite_hint(position));
  }

 private:
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const {
    const std::string_view before = text_.substr(0, position > 0 ? position - 1 : 0);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw UserError(std::string(origin_) + ": line " + std::to_string(line) + ", column " + std::to_string(column) +
                    ": " + message);
  }

  std::string non_finite_hint(std::size_t position) const {
    std::size_t start = std::min(position, text_.size());
    while (start > 0 && (std::isalpha(static_cast<unsigned char>(text_[start - 1])) || text_[start - 1] == '-')) --start;
    for (std::string_view word : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"}) {
      if (text_.substr(start).starts_with(word)) return R"(; write non-finite numbers as "nan", "inf", "-inf")";
    }
    return "";
  }

  Json* place(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // Straight into the ordered storage: its checked insertion searches all members, and keys_ has done that.
    auto& members = parent.get_ref<Json::object_t&>();
    members.Container::emplace_back(key_, std::move(value));
    return &members.back().second;
  }

  template <typename T>
  bool add(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }

  bool open(Json value) {
    if (stack_.size() >= kMaxDepth) fail_at(read_, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    stack_.push_back(place(std::move(value)));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view text_, origin_;
  const std::size_t& read_;
  Json root_;
  // A parent's address is stable while a child is open: nothing is added to the parent meanwhile.
  std::vector<Json*> stack_;
  std::vector<std::set<std::string>> keys_;
  std::string key_;
};

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array() && value.size() > 8) return "an array of " + std::to_string(value.size());
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kShownLength = 60;
  if (text.size() > kShownLength) text = text.substr(0, kShownLength) + "...";
  return text;
}

bool fits_int64(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
  return value.is_number_integer();
}

}  // namespace

Json parse_json(std::string_view text, std::string_view origin) {
  std::size_t read = 0;
  StrictBuilder builder(text, origin, read);
  const CountingIterator begin{text.data(), &read}, end{text.data() + text.size(), &read};
  Json::sax_parse(begin, end, &builder);  // every failure has been thrown by the builder
  return builder.take();
}

Json read_json_file(const std::string& path) { return parse_json(read_file(path), path); }

JsonObject::JsonObject(const Json& value, std::string origin, std::string path)
    : value_(&value), origin_(std::move(origin)), path_(std::move(path)) {
  if (value.is_object()) return;
  throw UserError(origin_ + ": " + (path_.empty() ? "" : "field '" + path_ + "' ") + "must be an object, is " +
                  shown(value));
}

bool JsonObject::has(const std::string& key) {
  asked_.push_back(key);
  return value_->contains(key);
}

const Json& JsonObject::get(const std::string& key) {
  asked_.push_back(key);
  const auto member = value_->find(key);
  if (member == value_->end()) throw UserError(origin_ + ": field '" + field(key) + "' is missing");
  return *member;
}

std::string JsonObject::get_string(const std::string& key) {
  const Json& value = get(key);
  if (!value.is_string()) fail(key, "must be a string, is " + shown(value));
  return value.get<std::string>();
}

std::string JsonObject::get_string(const std::string& key, const std::string& fallback) {
  return has(key) ? get_string(key) : fallback;
}

std::int64_t JsonObject::get_int(const std::string& key) {
  const Json& value = get(key);
  if (!fits_int64(value)) fail(key, "must be an integer, is " + shown(value));
  return value.get<std::int64_t>();
}

std::int64_t JsonObject::get_int(const std::string& key, std::int64_t fallback) {
  return has(key) ? get_int(key) : fallback;
}

double JsonObject::get_number(const std::string& key) {
  const Json& value = get(key);
  if (!value.is_number()) fail(key, "must be a number, is " + shown(value));
  return value.get<double>();
}

double JsonObject::get_number(const std::string& key, double fallback) {
  return has(key) ? get_number(key) : fallback;
}

bool JsonObject::get_bool(const std::string& key, bool fallback) {
  if (!has(key)) return fallback;
  const Json& value = get(key);
  if (!value.is_boolean()) fail(key, "must be true or false, is " + shown(value));
  return value.get<bool>();
}

std::vector<std::int64_t> JsonObject::get_ints(const std::string& key) {
  const Json& value = get(key);
  if (!value.is_array()) fail(key, "must be an array of integers, is " + shown(value));
  std::vector<std::int64_t> result;
  result.reserve(value.size());
  for (const Json& element : value) {
    if (!fits_int64(element)) {
      fail(key + "[" + std::to_string(result.size()) + "]", "must be an integer, is " + shown(element));
    }
    result.push_back(element.get<std::int64_t>());
  }
  return result;
}

JsonObject JsonObject::get_object(const std::string& key) { return JsonObject(get(key), origin_, field(key)); }

void JsonObject::fail(const std::string& key, const std::string& complaint) const {
  throw UserError(origin_ + ": field '" + field(key) + "' " + complaint);
}

void JsonObject::finish() const {
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    std::vector<std::string> known = asked_;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    const std::string where = path_.empty() ? "" : "field '" + path_ + "': ";
    throw UserError(origin_ + ": " + where + unknown_word_message("field", key, known));
  }
}

std::string JsonObject::field(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string readable_json(const Json& json, std::size_t width) {
  std::string out;
  print_readable(json, width, 0, 0, out);
  return out + "\n";
}

std::optional<double> number_of_json(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::nan("");
  if (value == "inf") return HUGE_VAL;
  if (value == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

}  // namespace redtune
