"""``runtime`` and ``driver``: the modules that ``cupy.cuda`` has under these names."""

from __future__ import annotations

import sys

from cupy.cuda import driver, runtime

for _name, _module in (("driver", driver), ("runtime", runtime)):
    sys.modules[f"{__name__}.{_name}"] = _module
