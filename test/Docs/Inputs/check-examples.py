"""Runs the commands that a Markdown page shows and compares their output.

An example is an indented block whose first line is `$ command`; the lines after
it must be the first lines that the command prints.
"""

import re
import subprocess
import sys


def get_examples(text):
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE):
        lines = [line[4:] for line in block.strip("\n").split("\n")]
        if lines[0].startswith("$ "):
            yield lines[0][2:], lines[1:]


def main():
    failures = count = 0
    with open(sys.argv[1]) as page:
        text = page.read()
    for command, expected in get_examples(text):
        count += 1
        result = subprocess.run(command, shell=True, capture_output=True, text=True)
        actual = [line.rstrip() for line in result.stdout.split("\n")]
        for want, got in zip(expected, actual):
            if want.rstrip() != got:
                print(f"{command}\n  expected: {want}\n  got:      {got}")
                failures += 1
        if len(actual) < len(expected):
            print(f"{command}\n  printed only {len(actual)} lines")
            failures += 1
    print(f"{count} examples, {failures} differences")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
