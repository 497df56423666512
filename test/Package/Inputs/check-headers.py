"""Checks that every header of the include folders given first is in the last one."""

import sys
from pathlib import Path

*sources, installed = map(Path, sys.argv[1:])
names = {
    path.relative_to(source)
    for source in sources
    for path in source.rglob("*")
    if path.suffix in (".h", ".td", ".inc") and "CMakeFiles" not in path.parts
}
missing = sorted(str(name) for name in names if not (installed / name).is_file())
print("\n".join(missing + [f"{len(names)} headers, {len(missing)} not installed"]))
sys.exit(1 if missing or not names else 0)
