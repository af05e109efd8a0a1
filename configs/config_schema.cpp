#include "configs/config_schema.h"

#include "configs/config_schema_text.h"

#ifdef REDTUNE_HAVE_VALIJSON
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#endif

namespace redtune {

std::string_view config_schema_text() { return kConfigSchemaText; }

#ifdef REDTUNE_HAVE_VALIJSON

bool has_schema_check() { return true; }

std::string schema_complaint(const Json& json) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  static const valijson::Schema* const schema = [] {
    auto* const made = new valijson::Schema;
    const nlohmann::json text = nlohmann::json::parse(config_schema_text());
    valijson::SchemaParser().populateSchema(Adapter(text), *made);
    return made;
  }();
  // The library knows the map-ordered kind only; bytes that are no UTF-8 cannot pass through its text.
  const nlohmann::json ordered = nlohmann::json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  valijson::ValidationResults results;
  if (valijson::Validator().validate(*schema, Adapter(ordered), &results)) return "";
  // The last one is the innermost.
  valijson::ValidationResults::Error error, innermost;
  while (results.popError(error)) innermost = error;
  std::string place;
  for (const std::string& part : innermost.context) place += part == "<root>" ? "" : part;
  return (place.empty() ? "the file" : place) + ": " + innermost.description;
}

#else

bool has_schema_check() { return false; }

std::string schema_complaint(const Json&) { return ""; }

#endif

}  // namespace redtune
