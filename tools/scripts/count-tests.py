"""Prints 'PASSED FAILED SKIPPED' for the results that lit wrote (lit -o FILE)."""

import json
import sys
from collections import Counter

with open(sys.argv[1]) as file:
    codes = Counter(test["code"] for test in json.load(file)["tests"])
passed = codes.pop("PASS", 0) + codes.pop("XFAIL", 0) + codes.pop("FLAKYPASS", 0)
skipped = codes.pop("UNSUPPORTED", 0) + codes.pop("SKIPPED", 0) + codes.pop("EXCLUDED", 0)
failed = sum(codes.values())  # FAIL, XPASS, UNRESOLVED, TIMEOUT
if passed + failed == 0:
    sys.exit("no test was run")
print(passed, failed, skipped)
