#include "support/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

constexpr std::size_t kChunk = 1 << 18;
constexpr int kGzipOnly = 16 + MAX_WBITS;

class Inflater {
 public:
  explicit Inflater(const std::string& origin) : origin_(origin) {
    RT_CHECK(::inflateInit2(&stream_, kGzipOnly) == Z_OK, "zlib did not start");
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string run(std::string_view bytes) {
    std::string result, chunk(kChunk, '\0');
    while (true) {
      feed(bytes);
      stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream_.avail_out = static_cast<uInt>(chunk.size());
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      result.append(chunk, 0, chunk.size() - stream_.avail_out);
      const bool more = stream_.avail_in > 0 || !bytes.empty();
      if (code == Z_STREAM_END) {
        if (!more) return result;
        ::inflateReset(&stream_);  // several members one after the other are one file
      } else if (code != Z_OK) {
        throw UserError(origin_ + (more ? ": is no gzip file: its bytes do not unpack"
                                        : ": the gzip file ends in the middle; copy or download it again"));
      }
    }
  }

 private:
  void feed(std::string_view& bytes) {
    if (stream_.avail_in > 0) return;
    const std::size_t count = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(count);
    bytes.remove_prefix(count);
  }

  const std::string& origin_;
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gunzip(std::string_view bytes, const std::string& origin) { return Inflater(origin).run(bytes); }

std::string read_maybe_gzip(const std::string& path) {
  std::string bytes = read_file(path);
  return is_gzip(bytes) ? gunzip(bytes, path) : bytes;
}

}  // namespace redtune
