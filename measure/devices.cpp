#include <algorithm>
#include <cstdlib>
#include <exception>

#include "measure/device.h"
#include "measure/device_kinds.h"
#include "measure/evidence.h"
#include "measure/worker_process.h"
#include "support/error.h"
#include "support/subprocess.h"
#include "support/text.h"

namespace redtune {
namespace {

constexpr double kListSeconds = 30;

// The last line: a driver may have written to stdout before the worker took it away.
std::string last_line(const std::string& output) {
  const std::vector<std::string> lines = split(trim(output), '\n');
  return lines.empty() ? "" : lines.back();
}

std::vector<DeviceInfo> list_kind(const std::string& word, std::string& note) {
  const Evidence evidence;
  SubprocessOptions options;
  options.command = {worker_path(), "--list", word};
  options.extra_environment = {compiler_cache_variable()};
  options.stderr_path = evidence.path("list.stderr");
  const CapturedRun run = run_captured(options, kListSeconds);
  if (!run.status || !run.status->ok()) {
    note =
        word + ": listing devices " + (run.status ? "ended by " + run.status->describe() : "took too long");
    const std::string said = tail_of(options.stderr_path);
    if (!said.empty()) note += ": " + said;
    return {};
  }
  const Json reply = parse_json(last_line(run.output), "worker's reply");
  JsonObject object(reply, "worker's reply");
  note = object.get_string("note");
  std::vector<DeviceInfo> devices;
  for (const Json& device : object.get("devices"))
    devices.push_back(parse_device_info({device, "worker's reply"}));
  return devices;
}

}  // namespace

std::vector<DeviceInfo> list_devices(std::vector<std::string>* notes) {
  std::vector<DeviceInfo> devices;
  for (const DeviceKind& kind : device_kinds()) {
    std::string note;
    try {
      for (DeviceInfo& device : list_kind(std::string(kind.word), note)) devices.push_back(std::move(device));
    } catch (const std::exception& error) {
      note = std::string(kind.word) + ": " + error.what();
    }
    if (!note.empty() && notes != nullptr) notes->push_back(note);
  }
  return devices;
}

DeviceInfo pick_device(const std::string& id) {
  std::vector<std::string> notes, known;
  const std::vector<DeviceInfo> devices = list_devices(&notes);
  if (devices.empty()) {
    throw NoDevice("no device to measure on: " + join(notes, "; "));
  }
  if (id.empty() || id == "best") return devices.front();
  for (const DeviceInfo& device : devices) {
    if (device.id == id || device.facts.value("uuid", "") == id) return device;
    known.push_back(device.id);
  }
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (id.starts_with("cuda:") || id.starts_with("GPU-"))) {
    throw UserError("device '" + id + "' is not present: CUDA_VISIBLE_DEVICES='" + visible +
                    "' leaves, counted anew from 0: " + join(known, ", "));
  }
  // Where there is no GPU at all its name is no misspelling: the notes say what is missing.
  const bool gpus = std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& d) { return d.id.starts_with("cuda"); });
  if (!gpus && (id.starts_with("cuda") || id.starts_with("GPU-"))) {
    throw NoDevice("no device '" + id + "': " + join(notes, "; "));
  }
  throw UserError(unknown_word_message("device", id, known));
}

}  // namespace redtune
