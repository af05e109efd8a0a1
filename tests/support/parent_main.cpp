// A parent for subprocess_test.cpp: starts a child, prints its id and waits to be killed.
#include <unistd.h>

#include <iostream>

#include "support/subprocess.h"

int main() {
  redtune::Subprocess child({{"/bin/sleep", "600"}, {}, ""});
  std::cout << child.pid() << std::endl;
  ::sleep(600);
}
