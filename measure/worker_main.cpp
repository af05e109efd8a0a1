#include "measure/worker.h"

int main(int count, char** arguments) {
  return redtune::worker_main(std::vector<std::string>(arguments + 1, arguments + count));
}
