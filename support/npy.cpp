#include "support/npy.h"

#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy pads the header so that the data begins at a multiple of this.
constexpr std::size_t kAlignment = 64;

// Reads the header's dictionary, which is a Python literal of a fixed form:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyArray read() {
    NpyArray array;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        array.descr = descr();
        has_descr = true;
      } else if (key == "fortran_order") {
        order();
        has_order = true;
      } else if (key == "shape") {
        array.shape = shape();
        has_shape = true;
      } else {
        fail("unknown header key '" + key + "'");
      }
      if (!accept(',') && peek() != '}') fail("header is not a dictionary");
    }
    if (!has_descr || !has_order || !has_shape) fail("header lacks descr, fortran_order or shape");
    return array;
  }

  [[noreturn]] void fail(const std::string& what) const { throw UserError(path_ + ": " + what); }

 private:
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("header is damaged: no '") + wanted + "' where one belongs");
  }
  bool accept_word(std::string_view word) {
    peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::string quoted() {
    const char quote = peek() == '"' ? '"' : '\'';
    expect(quote);
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("header is damaged: open string");
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  std::string descr() {
    if (peek() == '[') fail("structured types are not supported; save one plain array");
    const std::string word = quoted();
    if (npy_item_size(word) != 0) return word;
    if (word.starts_with('>')) fail("type '" + word + "' is big-endian; save it little-endian");
    if (word.find('O') != std::string::npos) fail("object arrays are not supported; save one plain array");
    fail("type '" + word + "' is not supported");
  }
  void order() {
    if (accept_word("False")) return;
    if (!accept_word("True")) fail("header is damaged: fortran_order is neither True nor False");
    fail("is in Fortran order; save np.ascontiguousarray(array)");
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      std::int64_t size = 0;
      peek();
      const char* begin = text_.data() + at_;
      const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (code != std::errc() || size < 0) fail("header is damaged: shape holds no size");
      at_ += static_cast<std::size_t>(end - begin);
      accept_word("L");  // Python 2 wrote long integers so
      sizes.push_back(size);
      if (!accept(',') && peek() != ')') fail("header is damaged: shape is not a tuple");
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> product(const std::vector<std::int64_t>& sizes, std::int64_t value) {
  for (std::int64_t size : sizes) {
    if (size == 0) return 0;
  }
  for (std::int64_t size : sizes) {
    if (__builtin_mul_overflow(value, size, &value)) return std::nullopt;
  }
  return value;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string header_text(const NpyArray& array) {
  std::string text = "{'descr': '" + array.descr + "', 'fortran_order': False, 'shape': (";
  for (std::int64_t size : array.shape) text += std::to_string(size) + ", ";
  if (array.shape.size() > 1) text.resize(text.size() - 2);
  if (array.shape.size() == 1) text.pop_back();
  return text + "), }";
}

}  // namespace

std::int64_t NpyArray::elements() const {
  const std::optional<std::int64_t> count = product(shape, 1);
  RT_CHECK(count.has_value(), "shape of a .npy array overflows");
  return *count;
}

std::int64_t npy_item_size(const std::string& descr) {
  if (descr.size() < 3) return 0;
  const std::string_view kind_and_size = std::string_view(descr).substr(1);
  const bool one_byte = descr[0] == '|' || descr[0] == '<';
  for (std::string_view known : {"b1", "i1", "u1"}) {
    if (one_byte && kind_and_size == known) return 1;
  }
  if (descr == "|V2") return 2;
  if (descr[0] != '<') return 0;
  for (std::string_view known : {"f2", "i2", "u2", "V2", "f4", "i4", "u4", "f8", "i8", "u8"}) {
    if (kind_and_size == known) return known[1] - '0';
  }
  return 0;
}

NpyArray read_npy(const std::string& path) {
  const std::string content = read_file(path);
  const std::string_view text = content;
  if (!text.starts_with(kMagic) || text.size() < 10) throw UserError(path + ": is not a .npy file");
  const int version = text[6];
  if (version < 1 || version > 3) throw UserError(path + ": .npy version " + std::to_string(version) + " is unknown");
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  const std::size_t length = little_endian(text.substr(8, length_bytes));
  if (text.size() < start || length > text.size() - start) throw UserError(path + ": ends within its header");
  HeaderReader reader(text.substr(start, length), path);
  NpyArray array = reader.read();
  const std::string_view data = text.substr(start + length);
  const std::optional<std::int64_t> needed = product(array.shape, npy_item_size(array.descr));
  if (!needed) reader.fail("shape overflows 64 bits");
  if (static_cast<std::uint64_t>(*needed) != data.size()) {
    reader.fail("shape and type need " + std::to_string(*needed) + " bytes of data, the file has " +
                std::to_string(data.size()));
  }
  array.data.resize(data.size());
  if (!data.empty()) std::memcpy(array.data.data(), data.data(), data.size());
  return array;
}

void write_npy(const std::string& path, const NpyArray& array) {
  const std::int64_t item = npy_item_size(array.descr);
  RT_CHECK(item > 0, "no .npy type '" + array.descr + "'");
  RT_CHECK(static_cast<std::int64_t>(array.data.size()) == array.elements() * item, "data does not fill the shape");
  std::string header = header_text(array);
  const std::size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  RT_CHECK(header.size() < 65536, "header of a .npy file is too long for version 1");
  std::string content(kMagic);
  content += '\x01';
  content += '\0';
  content += static_cast<char>(header.size() & 0xff);
  content += static_cast<char>(header.size() >> 8);
  content += header;
  content.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  write_file_atomically(path, content);
}

}  // namespace redtune
