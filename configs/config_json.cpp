// A config as JSON and back. The field names are published in configs/config.schema.json; a test holds both
// together.
#include "configs/config_store.h"

#include "space/canonical.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

// Runs a parser of a word; its complaint is told with file and field.
template <typename Parse>
auto word(JsonObject& fields, const char* key, Parse parse) {
  const std::string text = fields.get_string(key);
  try {
    return parse(text);
  } catch (const UserError& error) {
    fields.fail(key, std::string("is not usable: ") + error.what());
  }
}

const Json& array_of(JsonObject& fields, const char* key) {
  const Json& value = fields.get(key);
  if (!value.is_array()) fields.fail(key, "must be an array");
  return value;
}

double positive(JsonObject& fields, const char* key) {
  const double value = fields.get_number(key);
  if (!(value > 0)) fields.fail(key, "must be a positive number");
  return value;
}

std::string item(const std::string& path, const char* array, std::size_t i) {
  return (path.empty() ? "" : path + ".") + array + "[" + std::to_string(i) + "]";
}

void parse_prediction(JsonObject json, Config& config) {
  Prediction prediction;
  prediction.model = json.get_string("model");
  prediction.space_size = static_cast<std::size_t>(json.get_int("space_size"));
  prediction.compiled = static_cast<std::size_t>(json.get_int("compiled"));
  prediction.dropped = static_cast<std::size_t>(json.get_int("dropped"));
  prediction.registers = static_cast<int>(json.get_int("registers"));
  json.finish();
  config.predicted = prediction;
}

void put_evidence(Json& json, const Config& config) {
  if (config.predicted) {
    const Prediction& p = *config.predicted;
    json["predicted"] = {{"model", p.model},
                         {"space_size", p.space_size},
                         {"compiled", p.compiled},
                         {"dropped", p.dropped},
                         {"registers", p.registers}};
    return;
  }
  json["seconds"] = config.seconds;
  json["low_seconds"] = config.low_seconds;
  json["high_seconds"] = config.high_seconds;
}

void parse_times(JsonObject& fields, Config& config) {
  config.seconds = positive(fields, "seconds");
  config.low_seconds = positive(fields, "low_seconds");
  config.high_seconds = positive(fields, "high_seconds");
  // The default may have failed where another schedule works: then there is no time to tell.
  if (fields.has("default_seconds")) config.default_seconds = positive(fields, "default_seconds");
}

std::vector<Transfer> parse_transfers(JsonObject& fields, const char* key) {
  std::vector<Transfer> result;
  const Json& transfers = array_of(fields, key);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    JsonObject transfer(transfers[i], fields.origin(), item(fields.path(), key, i));
    Transfer parsed;
    parsed.key = transfer.get_string("key");
    parsed.seconds = positive(transfer, "seconds");
    parsed.best_seconds = positive(transfer, "best_seconds");
    transfer.finish();
    result.push_back(std::move(parsed));
  }
  return result;
}

Json transfers_json(const std::vector<Transfer>& transfers) {
  Json json = Json::array();
  for (const Transfer& t : transfers)
    json.push_back({{"key", t.key}, {"seconds", t.seconds}, {"best_seconds", t.best_seconds}});
  return json;
}

ServedRange parse_range(JsonObject json, const Operator& op) {
  ServedRange range;
  range.portfolio = json.get_string("portfolio");
  range.low = json.get_ints("low");
  range.high = json.get_ints("high");
  const std::size_t axes = coalesce(op).groups.size();
  for (const char* key : {"low", "high"}) {
    if ((key == std::string_view("low") ? range.low : range.high).size() != axes)
      json.fail(key, "must have an extent for each of the " + std::to_string(axes) + " canonical axes");
  }
  for (std::size_t i = 0; i < axes; ++i) {
    if (range.low[i] > range.high[i]) json.fail("low", "must not be above 'high'");
  }
  range.shapes = parse_transfers(json, "shapes");
  if (range.shapes.empty()) json.fail("shapes", "must name the shapes that were measured");
  if (json.has("uncovered")) {
    for (const Json& key : array_of(json, "uncovered")) {
      if (!key.is_string()) json.fail("uncovered", "must be an array of keys");
      range.uncovered.push_back(key.get<std::string>());
    }
  }
  json.finish();
  return range;
}

Json range_json(const ServedRange& range) {
  Json json = {{"portfolio", range.portfolio}, {"low", range.low}, {"high", range.high}};
  json["shapes"] = transfers_json(range.shapes);
  if (!range.uncovered.empty()) json["uncovered"] = range.uncovered;
  return json;
}

}  // namespace

bool ServedRange::holds(const std::vector<std::int64_t>& extents) const {
  if (extents.size() != low.size() || low.size() != high.size()) return false;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] < low[i] || extents[i] > high[i]) return false;
  }
  return true;
}

std::string ServedRange::text() const {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < low.size(); ++i) {
    axes.push_back(std::to_string(low[i]));
    if (high[i] != low[i]) axes.back() += ".." + std::to_string(high[i]);
  }
  return join(axes, " x ");
}

ConfigKey key_of(const Config& config) { return {config.device, config.op.key(), config.range.has_value()}; }

void check_config_version(std::int64_t version, const std::string& path) {
  if (version > kConfigVersion) {
    throw UserError(path + ": config version " + std::to_string(version) + " is newer than version " +
                    std::to_string(kConfigVersion) + ", the newest that this redtune reads; use a newer redtune");
  }
  if (version < 1) throw UserError(path + ": field '" + kConfigFormat + "' must be a positive version");
}

Json to_json(const Config& config) {
  Json json = Json::object();
  json["key"] = config.op.key();
  json["operator"] = to_json(config.op);
  json["device"] = config.device;
  json["driver"] = config.driver;
  json["target"] = config.target;
  json["determinism"] = std::string(name(config.determinism));
  json["schedule"] = config.schedule.text();
  json["mapping"] = config.schedule.mapping();
  put_evidence(json, config);
  json["default_schedule"] = config.default_schedule.text();
  if (config.default_seconds > 0) json["default_seconds"] = config.default_seconds;
  json["launches"] = Json::array();
  for (const KernelLaunch& launch : config.launches) json["launches"].push_back(to_json(launch));
  json["buffers"] = Json::array();
  for (const BufferSpec& buffer : config.buffers) json["buffers"].push_back(to_json(buffer));
  json["program_hash"] = config.program_hash;
  if (!config.predicted) json["log_hash"] = config.log_hash;
  if (!config.transfers.empty()) json["transfers"] = transfers_json(config.transfers);
  if (config.range) json["range"] = range_json(*config.range);
  if (config.kernel) json["kernel"] = to_json(*config.kernel);
  json["time"] = config.time;
  json["version"] = config.version;
  return json;
}

Config parse_config(const Json& json, const std::string& origin, const std::string& path) {
  JsonObject fields(json, origin, path);
  Config config;
  config.op =
      parse_operator(fields.get("operator"), origin + ": " + (path.empty() ? "" : path + ".") + "operator");
  if (fields.get_string("key") != config.op.key()) {
    fields.fail("key", "does not agree with the operator, whose key is \"" + config.op.key() + "\"");
  }
  config.device = fields.get_string("device");
  config.driver = fields.get_string("driver");
  config.target = fields.get_string("target");
  config.determinism = word(fields, "determinism", parse_determinism);
  config.schedule = word(fields, "schedule", parse_schedule);
  config.default_schedule = word(fields, "default_schedule", parse_schedule);
  if (fields.get_string("mapping") != config.schedule.mapping()) {
    fields.fail("mapping", "does not agree with the schedule, whose mapping is " + config.schedule.mapping());
  }
  if (fields.has("predicted")) {
    parse_prediction(fields.get_object("predicted"), config);
  } else {
    parse_times(fields, config);
  }
  const Json& buffers = array_of(fields, "buffers");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    config.buffers.push_back(parse_buffer(JsonObject(buffers[i], origin, item(path, "buffers", i))));
  }
  const Json& launches = array_of(fields, "launches");
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const JsonObject launch(launches[i], origin, item(path, "launches", i));
    config.launches.push_back(parse_launch(launch, buffers.size()));
  }
  config.program_hash = fields.get_string("program_hash");
  if (!config.predicted) config.log_hash = fields.get_string("log_hash");
  if (fields.has("transfers")) config.transfers = parse_transfers(fields, "transfers");
  if (fields.has("range")) config.range = parse_range(fields.get_object("range"), config.op);
  if (fields.has("kernel")) config.kernel = parse_kernel_file(fields.get_object("kernel"));
  config.time = fields.get_string("time");
  config.version = fields.get_string("version");
  fields.finish();
  return config;
}

}  // namespace redtune
