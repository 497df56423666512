"""Puts a schedule on every backward of a module.

usage: add_schedule.py FIELDS < IN.mlir > OUT.mlir, with the fields of #attn.schedule: 'kind = "small_cache", tile_m = 32'
"""

import re
import sys


def main():
    # Before the types of the op.
    pattern = r"(attention_backward.*?)( : tensor<[^:()]*->)"
    text, changes = re.subn(pattern, rf"\1 {{schedule = #attn.schedule<{sys.argv[1]}>}}\2", sys.stdin.read(), flags=re.DOTALL)
    if not changes:
        sys.exit("expected an attn.attention_backward, got none")
    print(text)


if __name__ == "__main__":
    main()
