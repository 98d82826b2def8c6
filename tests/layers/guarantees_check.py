#!/usr/bin/env python3
"""Every test that docs/guarantees.md names exists in the sources of the tests: `Suite`,
`Suite.Name`, or `.Name` of the suite before it. Prints what does not, and fails then."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
known = {}
for source in (root / "tests").rglob("*.cpp"):
    for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", source.read_text(), re.M):
        known.setdefault(suite, set()).add(name)

missing, named, suite = [], 0, ""
for quoted in re.findall(r"`([^`\n]+)`", (root / "docs/guarantees.md").read_text()):
    match = re.fullmatch(r"(\w*Test)?(?:\.(\w+))?", quoted)
    if not match or not any(match.groups()):
        continue
    named += 1
    suite = match[1] or suite
    if suite not in known or (match[2] and match[2] not in known[suite]):
        missing.append(quoted)
print(f"{named} tests named, missing: {missing or 'none'}")
sys.exit(bool(missing) or named < 26)
