#include "configs/kernel_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "support/error.h"
#include "support/files.h"
#include "support/hash.h"

namespace redtune {
namespace {

constexpr const char* kFolder = "kernels/";

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kLanguages{{
    {"opencl", ".cl"},
    {"cuda", ".cu"},
}};

std::string hash_of(std::string_view bytes) { return hex64(hash64(bytes)); }

std::string stem_of(const std::string& file) {
  const std::size_t begin = std::string_view(kFolder).size();
  return file.substr(begin, file.find('.', begin) - begin);
}

// A file of the store's own folder and of no other: a config may come from anywhere.
std::string get_file(JsonObject& json) {
  std::string file = json.get_string("file");
  const std::string rest = file.starts_with(kFolder) ? file.substr(std::string_view(kFolder).size()) : "";
  if (rest.empty() || rest.find('/') != std::string::npos || rest.front() == '.') {
    json.fail("file", "must be a file right below \"kernels/\"");
  }
  return file;
}

std::string get_word(JsonObject& json, const char* key, const char* what,
                     const std::vector<std::string>& known) {
  std::string word = json.get_string(key);
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    json.fail(key, "is not usable: " + unknown_word_message(what, word, known));
  }
  return word;
}

void write_once(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  // The name tells the content, but a machine that went down may have left less.
  if (std::filesystem::file_size(path, ignored) == bytes.size() && read_file(path) == bytes) return;
  write_file_atomically(path, bytes);
}

KernelImage parse_image(JsonObject json) {
  KernelImage image;
  image.architecture = json.get_string("architecture");
  image.format = get_word(json, "format", "image format", {"cubin", "ptx"});
  image.file = get_file(json);
  image.hash = json.get_string("hash");
  json.finish();
  return image;
}

}  // namespace

std::string_view name(KernelLanguage language) { return kLanguages[static_cast<std::size_t>(language)].first; }

Json to_json(const KernelFile& kernel) {
  Json json = Json::object();
  json["language"] = std::string(name(kernel.language));
  json["file"] = kernel.file;
  json["options"] = kernel.options;
  if (kernel.images.empty()) return json;
  json["images"] = Json::array();
  for (const KernelImage& image : kernel.images) {
    json["images"].push_back({{"architecture", image.architecture},
                              {"format", image.format},
                              {"file", image.file},
                              {"hash", image.hash}});
  }
  return json;
}

KernelFile parse_kernel_file(JsonObject json) {
  KernelFile kernel;
  const std::string word = get_word(json, "language", "language", {"opencl", "cuda"});
  kernel.language = word == "cuda" ? KernelLanguage::kCuda : KernelLanguage::kOpenCl;
  kernel.file = get_file(json);
  kernel.options = json.get_string("options");
  if (json.has("images")) {
    const Json& images = json.get("images");
    if (!images.is_array()) json.fail("images", "must be an array");
    for (std::size_t i = 0; i < images.size(); ++i) {
      kernel.images.push_back(
          parse_image({images[i], json.origin(), json.path() + ".images[" + std::to_string(i) + "]"}));
    }
  }
  json.finish();
  return kernel;
}

KernelFile write_kernel_text(const std::string& store, std::string_view text, KernelLanguage language,
                             const std::string& options) {
  KernelFile kernel;
  kernel.language = language;
  kernel.file = kFolder + hash_of(text) + std::string(kLanguages[static_cast<std::size_t>(language)].second);
  kernel.options = options;
  make_directories(store + "/" + kFolder);
  write_once(store + "/" + kernel.file, text);
  return kernel;
}

void write_kernel_image(const std::string& store, KernelFile& kernel, const std::string& architecture,
                        const std::string& format, std::string_view bytes) {
  const KernelImage image{architecture, format,
                          kFolder + stem_of(kernel.file) + "." + architecture + "." + format, hash_of(bytes)};
  make_directories(store + "/" + kFolder);
  write_once(store + "/" + image.file, bytes);
  std::erase_if(kernel.images, [&](const KernelImage& old) { return old.architecture == architecture; });
  kernel.images.push_back(image);
  std::sort(kernel.images.begin(), kernel.images.end(),
            [](const KernelImage& a, const KernelImage& b) { return a.architecture < b.architecture; });
}

std::string read_kernel_text(const std::string& store, const KernelFile& kernel) {
  const std::string path = store + "/" + kernel.file;
  std::string text = read_file(path);
  if (hash_of(text) != stem_of(kernel.file)) {
    throw UserError(path + ": is damaged: its content does not have the hash that its name tells; tune again "
                           "or copy it from where the store came from");
  }
  return text;
}

std::string read_kernel_image(const std::string& store, const KernelImage& image) {
  const std::string path = store + "/" + image.file;
  std::string bytes = read_file(path);
  if (hash_of(bytes) != image.hash) {
    throw UserError(path + ": is damaged: its content does not have the hash " + image.hash);
  }
  return bytes;
}

}  // namespace redtune
