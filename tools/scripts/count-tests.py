"""Prints the names of what failed, and then 'PASSED FAILED SKIPPED', of the results that lit wrote (lit -o FILE)."""

import json
import sys
from collections import Counter

with open(sys.argv[1]) as file:
    tests = json.load(file)["tests"]
codes = Counter(test["code"] for test in tests)
passed = codes.pop("PASS", 0) + codes.pop("XFAIL", 0) + codes.pop("FLAKYPASS", 0)
skipped = codes.pop("UNSUPPORTED", 0) + codes.pop("SKIPPED", 0) + codes.pop("EXCLUDED", 0)
failed = sum(codes.values())  # FAIL, XPASS, UNRESOLVED, TIMEOUT
if passed + failed == 0:
    sys.exit("no test was run")
good = {"PASS", "XFAIL", "FLAKYPASS", "UNSUPPORTED", "SKIPPED", "EXCLUDED"}
for test in tests:
    if test["code"] not in good:
        print(f"{test['name']} ({test['code']})")
print(passed, failed, skipped)
