"""The x-ray: what a kernel does with memory, seen by running each of its threads on the CPU."""
