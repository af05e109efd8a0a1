// One reduction from command-line words.
#include <charconv>

#include "space/operator.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

std::int64_t integer_of(const std::string& word, const std::string& option, const std::string& whole) {
  const std::string text = trim(word);
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    throw UserError(option + " " + whole + ": " + text + " does not fit 64 bits");
  }
  if (error != std::errc() || stopped != end || text.empty()) {
    throw UserError(option + " " + whole + ": '" + text + "' is not an integer");
  }
  return value;
}

Json integers_of(std::string text, const std::string& option) {
  const std::string whole = text;
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  for (char& c : text) {
    if (c == 'x') c = ',';
  }
  Json list = Json::array();
  if (trim(text).empty()) return list;
  for (const std::string& word : split(text, ',')) list.push_back(integer_of(word, option, whole));
  return list;
}

}  // namespace

Operator operator_from_short_form(const ShortForm& form) {
  if (trim(form.shape).empty())
    throw UserError("--shape is missing; give sizes as 4096x1024, or [] for a scalar");
  Json json = Json::object();
  json["op"] = form.op;
  json["shape"] = integers_of(form.shape, "--shape");
  if (form.axes == "none")
    json["axes"] = Json::array();
  else if (!trim(form.axes).empty())
    json["axes"] = integers_of(form.axes, "--axes");
  json["dtype"] = form.dtype;
  if (!form.out.empty()) json["out"] = form.out;
  if (!form.strides.empty()) json["strides"] = integers_of(form.strides, "--strides");
  if (form.ddof) json["ddof"] = *form.ddof;
  if (form.keepdims) json["keepdims"] = true;
  return parse_operator(json, "command line");
}

}  // namespace redtune
