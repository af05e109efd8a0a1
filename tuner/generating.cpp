#include "tuner/generating.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "support/error.h"

namespace redtune {

std::vector<GenerationResult> generate_all(
    const Task& task, const std::vector<Schedule>& schedules,
    const std::function<GeneratedProgram(const Task&, const Schedule&)>& generate) {
  std::vector<GenerationResult> results(schedules.size());
  std::atomic<std::size_t> next{0};
  std::mutex bug_mutex;
  std::exception_ptr bug;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < schedules.size();) {
      try {
        results[i].program = generate(task, schedules[i]);
      } catch (const InternalError&) {
        const std::lock_guard lock(bug_mutex);
        if (!bug) bug = std::current_exception();
      } catch (const std::exception& error) {
        results[i].failure = error.what();
      }
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min(cores, schedules.size()); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();  // joins
  if (bug) std::rethrow_exception(bug);
  return results;
}

}  // namespace redtune
