"""Writes docs/generated from the ODS files.

    update-generated-docs.py           update the files
    update-generated-docs.py --check   fail if one of them would change
"""

import argparse
import difflib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "docs" / "generated"

# File in docs/generated: (ODS file below include/attn, mlir-tblgen options).
PAGES = {
    "AttnDialect.md": ("Dialect/Attn/IR/AttnOps.td", ["-gen-dialect-doc", "-dialect=attn"]),
    "HeadOps.md": ("Dialect/Attn/IR/HeadOps.td", ["-gen-op-doc"]),
    "RowOps.md": ("Dialect/Attn/IR/RowOps.td", ["-gen-op-doc"]),
    "OutputOps.md": ("Dialect/Attn/IR/OutputOps.td", ["-gen-op-doc"]),
    "LinearAttentionOps.md": ("Dialect/Attn/IR/LinearAttentionOps.td", ["-gen-op-doc"]),
    "AttnPasses.md": ("Dialect/Attn/Transforms/Passes.td", ["-gen-pass-doc"]),
    "AttnLaunchDialect.md": ("Dialect/Launch/IR/LaunchOps.td", ["-gen-dialect-doc", "-dialect=attn_launch"]),
    "AttnPTXDialect.md": ("Dialect/PTX/IR/PTXOps.td", ["-gen-dialect-doc", "-dialect=attn_ptx"]),
    "AttnTileDialect.md": ("Dialect/Tile/IR/TileOps.td", ["-gen-dialect-doc", "-dialect=attn_tile"]),
    "AttnTilePasses.md": ("Dialect/Tile/Transforms/Passes.td", ["-gen-pass-doc"]),
    "PipelinePasses.md": ("Pipelines/Passes.td", ["-gen-pass-doc"]),
    "TransformOps.md": ("Pipelines/TransformOps.td", ["-gen-op-doc"]),
    "ConversionPasses.md": ("Conversion/Passes.td", ["-gen-pass-doc"]),
}


def llvm_tool(*arguments):
    result = subprocess.run([ROOT / "tools/scripts/find-llvm-tool.sh", "mlir-tblgen"],
                            capture_output=True, text=True, check=True)
    tool = Path(result.stdout.strip())
    # Debian keeps the headers beside the tools: /usr/lib/llvm-22/{bin,include}.
    include = tool.resolve().parents[1] / "include"
    command = [tool, "-I", include, "-I", ROOT / "include", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def generate(source, options):
    text = llvm_tool(*options, ROOT / "include" / "attn" / source)
    # No trailing white space, one final newline, no absolute path.
    lines = [line.rstrip() for line in text.replace(str(ROOT) + "/", "").split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, fail on a difference")
    check = parser.parse_args().check

    differs = False
    for name, (source, options) in PAGES.items():
        if not (ROOT / "include" / "attn" / source).exists():
            continue
        page = OUTPUT / name
        old = page.read_text() if page.exists() else ""
        new = generate(source, options)
        if old == new:
            continue
        differs = True
        if check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), f"docs/generated/{name}", source, n=1))
        else:
            OUTPUT.mkdir(exist_ok=True)
            page.write_text(new)
            print(f"docs/generated/{name}: updated")
    if check and differs:
        sys.exit("docs/generated is out of date: run tools/scripts/update-generated-docs.py")


if __name__ == "__main__":
    main()
