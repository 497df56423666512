"""lit configuration: every gtest binary named *Tests under build/test/Unit."""

import os

import lit.formats

config.name = "attn-mlir-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = os.path.join(config.attn_binary_dir, "test", "Unit")
config.test_exec_root = config.test_source_root
