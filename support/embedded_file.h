// A file that the build put into the program (cmake/RedtuneEmbed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace redtune {

struct EmbeddedFile {
  std::string_view name;  // path below the folder that the build names
  std::string_view text;
};

/// The text of one; "" when there is none of that name.
constexpr std::string_view text_of_file(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace redtune
