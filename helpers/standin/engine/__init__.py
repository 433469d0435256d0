"""CUDA C on a CPU: translate it to C++, compile that, and run its grid over raw pointers."""
