#include "space/operator_key.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "support/hash.h"

namespace redtune {
namespace {

// Takes a key apart from left to right; the first thing that is not as expected spoils the rest.
class KeyReader {
 public:
  explicit KeyReader(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  bool skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) { good_ = skip(word) && good_; }

  std::string_view word() {
    std::size_t size = 0;
    while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) || rest_[size] == '_'))
      ++size;
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    good_ = good_ && error == std::errc();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  template <typename Number>
  void numbers(std::vector<Number>& into) {
    do {
      into.push_back(static_cast<Number>(number()));
    } while (good_ && skip(","));
  }

  // A row of a table by its name.
  template <typename Table, typename Id>
  void row(const Table& table, Id& into) {
    const std::string_view name = word();
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.name == name; });
    good_ = good_ && found != table.end();
    if (good_) into = found->id;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::vector<std::int64_t> kept_shape(const std::vector<std::int64_t>& shape, const std::vector<int>& axes) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<int>(i))) kept.push_back(shape[i]);
  }
  return kept;
}

bool fits(const Tensor& input, const std::vector<int>& axes) {
  const auto rank = static_cast<int>(input.shape.size());
  return std::is_sorted(axes.begin(), axes.end()) && (axes.empty() || (axes.front() >= 0 && axes.back() < rank)) &&
         input.strides.size() == input.shape.size();
}

}  // namespace

std::optional<Operator> parse_operator_key(std::string_view key) {
  KeyReader reader(key);
  Operator op;
  Tensor input, output;
  ReduceStatement statement;
  reader.row(kReduceOps, statement.op);
  reader.expect("(");
  reader.row(kDTypes, input.dtype);
  reader.expect("[");
  if (!reader.skip("]")) {
    reader.numbers(input.shape);
    reader.expect("]");
  }
  reader.expect(";axes=");
  if (!reader.skip("none")) reader.numbers(statement.axes);
  if (reader.skip(";strides=")) {
    reader.numbers(input.strides);
  } else {
    input.strides = row_major_strides(input.shape);
  }
  if (reader.skip(";offset=")) input.offset = reader.number();
  if (!reader.good() || !fits(input, statement.axes)) return std::nullopt;
  statement.accumulator = default_accumulator(statement, input);
  if (reader.skip(";accumulator=")) reader.row(kDTypes, statement.accumulator);
  if (reader.skip(";ddof=")) statement.ddof = static_cast<int>(reader.number());
  if (reader.skip(";determinism=")) {
    reader.expect("run_to_run");
    op.determinism = Determinism::kRunToRun;
  }
  reader.expect(")->");
  reader.row(kDTypes, output.dtype);
  if (!reader.at_end()) return std::nullopt;
  input.name = "in";
  output.name = "out";
  output.shape = kept_shape(input.shape, statement.axes);
  output.strides = row_major_strides(output.shape);
  statement.input = input.name;
  statement.output = output.name;
  op.inputs = {std::move(input)};
  op.outputs = {std::move(output)};
  op.statements = {std::move(statement)};
  return op;
}

std::string operator_slug(const Operator& op) {
  const std::string key = op.key();
  std::string result;
  for (char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (plain)
      result += c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  constexpr std::size_t kLongest = 80;
  if (result.size() > kLongest) result = result.substr(0, kLongest - 17) + "-" + hex64(hash64(key));
  return result;
}

}  // namespace redtune
