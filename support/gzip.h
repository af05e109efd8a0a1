// Packed files: gzip members in, bytes out.
#pragma once

#include <string>
#include <string_view>

namespace redtune {

/// Whether the bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);

/// The unpacked content. Throws UserError "ORIGIN: ..." when the bytes are torn or no gzip at all.
std::string gunzip(std::string_view bytes, const std::string& origin);

/// read_file, unpacked when the content is gzip (whatever the name says).
std::string read_maybe_gzip(const std::string& path);

}  // namespace redtune
