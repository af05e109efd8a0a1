#include "tuner/logged_task.h"

#include "space/operator.h"
#include "space/target.h"

namespace redtune {

Task task_of_run(const Json& run, const std::string& path) {
  JsonObject fields(run, path);
  const Operator op = parse_operator(fields.get("operator"), path + ": operator");
  const Target target = fields.has("target_facts")
                            ? parse_target(fields.get("target_facts"), path + ": target_facts")
                            : load_target(fields.get_string("target"));
  return make_task(op, target);
}

}  // namespace redtune
