// redtune-baseline: other programs' reductions for `redtune bench`, one at a time, in a process of its own,
// so that neither their libraries nor their threads come near the tool. One JSON object a line, requests on
// stdin, replies on stdout:
//
//   {"do": "open", "baseline": NAME, "operator": {...}, "target": {...}, "seed": N, "cold": BOOL, "threads":
//   N}
//       {"is": "done", "version": TEXT, "implementation": TEXT, "reference": BOOL, "clock": "wall"}
//   {"do": "sample", "count": N}
//       {"is": "done", "seconds": [...], "preempted": N}    after one call that is not timed
//
// What it cannot do: {"is": "failed", "detail": WHY}. It ends with its stdin.
#include <omp.h>

#include <iostream>
#include <optional>

#include "bench/baselines/host_baseline.h"
#include "support/error.h"

namespace redtune {
namespace {

class Server {
 public:
  Json answer(const std::string& line) {
    try {
      const Json json = parse_json(line, "request");
      JsonObject request(json, "request");
      const std::string what = request.get_string("do");
      if (what == "open") return open(request);
      if (what == "sample") return sample(request);
      request.fail("do", "is unknown: " + what);
    } catch (const std::exception& error) {
      return {{"is", "failed"}, {"detail", error.what()}};
    }
  }

 private:
  Json open(JsonObject& request) {
    contestant_.reset();
    const HostBaselineEntry& entry = find_host_baseline(request.get_string("baseline"));
    const Operator op = parse_operator(request.get("operator"), "operator");
    const Task task = make_task(op, parse_target(request.get("target"), "target"));
    const int threads = static_cast<int>(request.get_int("threads"));
    omp_set_num_threads(threads);
    contestant_.emplace(entry, task, static_cast<std::uint64_t>(request.get_int("seed")),
                        request.get_bool("cold", true), threads);
    wait_for_sleeping_team();
    return {{"is", "done"},
            {"version", entry.version()},
            {"implementation", contestant_->baseline().implementation()},
            {"reference", contestant_->baseline().is_reference()},
            {"clock", "wall"}};
  }

  Json sample(JsonObject& request) {
    if (!contestant_) request.fail("do", "comes before open");
    Json seconds = Json::array();
    int preempted = 0;
    contestant_->sample();  // a warm-up, as the device has one
    for (std::int64_t i = request.get_int("count"); i > 0; --i) {
      seconds.push_back(contestant_->sample());
      preempted += contestant_->preempted() ? 1 : 0;
    }
    wait_for_sleeping_team();
    return {{"is", "done"}, {"seconds", seconds}, {"preempted", preempted}};
  }

  std::optional<HostContestant> contestant_;
};

}  // namespace
}  // namespace redtune

int main() {
  redtune::Server server;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << server.answer(line).dump(-1, ' ', false, redtune::Json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}
