# cmake --install: programs, the libraries they need, and the data.
