"""A plugin of pytest's: an empty module for one of CuPy's that is refused."""

import importlib
import os
import sys
import types

if name := os.environ.get("PROJECT_WITHOUT"):
    package, _, last = name.rpartition(".")
    sys.modules[name] = types.ModuleType(name)
    setattr(importlib.import_module(package), last, sys.modules[name])
