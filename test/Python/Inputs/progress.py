"""What a program says of its progress is passed on at once; what else it says is its diagnostics."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

from attn_mlir import tools

PROGRAM = f"""#!{sys.executable}
import sys
for text in ("before\\n", "\\rkernel: 1 of 2 clusters, 2.0 s", "\\rkernel: 2 of 2", " clusters, 2.5 s", "\\n", "k.ptx:3: error: \\xff", " here\\n"):
    sys.stderr.buffer.write(text.encode("latin1"))
    sys.stderr.flush()
sys.exit(2)
"""


class Progress(unittest.TestCase):
    def test_progress(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "attn-sim")
            program.write_text(PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            os.environ["ATTN_BIN"] = folder
            shown = io.StringIO()
            with contextlib.redirect_stderr(shown):
                status, diagnostics = tools.run_with_progress("attn-sim", ["--check"])
        self.assertEqual(status, 2)
        self.assertEqual(shown.getvalue(), "\rkernel: 1 of 2 clusters, 2.0 s\rkernel: 2 of 2 clusters, 2.5 s\n")
        self.assertEqual(diagnostics, "before\nk.ptx:3: error: \ufffd here\n")


if __name__ == "__main__":
    unittest.main()
