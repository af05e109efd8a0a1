#include "deploy/lookup.h"

#include <functional>

#include "deploy/failure.h"

namespace redtune::deploy {
namespace {

Answer find_serving(const ConfigIndex& store, const Operator& op, const std::string& key,
                    const std::string& device, Grade lowest,
                    const std::function<std::string(const Config&)>& why_not) {
  std::string refused;
  LookupOptions options;
  options.lowest = lowest;
  options.same_function = true;
  options.refuse = [&](const Config& config) {
    std::string why = why_not(config);
    if (!why.empty()) refused = "; a config of " + config.device + " does not fit: " + why;
    return why;
  };
  Answer answer = store.find(op, key, device, options);
  if (answer.config) return answer;
  std::string message = store.directory() + ": no kernel for " + key + " on " + device + refused;
  options = {};
  const Answer near = store.find(op, key, device, options);
  if (near.config) {
    message += "; there is " + near.config->op.key() + " on " + near.config->device + " (" +
               std::string(name(near.grade)) + ")";
  }
  throw Failure(REDTUNE_NOT_FOUND, message + "; `redtune tune` makes one");
}

}  // namespace

Answer find_opencl(const ConfigIndex& store, const Operator& op, const std::string& key, cl_device_id device,
                   Grade lowest) {
  return find_serving(store, op, key, device_name_of(device), lowest,
                      [&](const Config& config) { return why_not_on(device, config); });
}

Answer find_cuda(const ConfigIndex& store, const Operator& op, const std::string& key, const CudaPlace& place,
                 Grade lowest) {
  return find_serving(store, op, key, place.name, lowest,
                      [&](const Config& config) { return why_not_on(place, config); });
}

}  // namespace redtune::deploy
