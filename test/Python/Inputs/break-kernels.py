"""Breaks kernels of a bundle, KEY=HOW each: `wrong` changes a constant, `hang` leaves out an arrival, `fault` stores to address 0;
of an array, `bit` changes the last one."""

import json
import re
import sys
import zipfile
from pathlib import Path


def without_arrival(ptx):
    place = ptx.index("mbarrier.arrive.expect_tx")
    begin = ptx.rindex("\n", 0, place)
    return ptx[:begin] + ptx[ptx.index("\n", place) :]


def at_start(ptx, text):
    """With instructions before the first of the first kernel: behind the declarations of its registers."""
    place = ptx.rindex(";", 0, re.compile(r"^\t(?!\.reg|\.local)[a-z@]", re.MULTILINE).search(ptx, ptx.index(".entry")).start()) + 1
    return ptx[:place] + "\n" + text + ptx[place:]


BREAKS = {
    "wrong": lambda ptx: ptx.replace("0f3E38AA3B", "0f3F000000"),
    "hang": without_arrival,
    "fault": lambda ptx: at_start(ptx, "{ .reg .b64 nowhere; mov.u64 nowhere, 0; st.global.u32 [nowhere], 1; }"),
}


def main():
    archive_path = Path(sys.argv[1], "kernels.zip")
    with zipfile.ZipFile(archive_path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for argument in sys.argv[2:]:
        key, how = argument.split("=")
        if how == "bit":
            files[key] = files[key][:-1] + bytes([files[key][-1] ^ 1])
            continue
        name = f"{key}.ptx"
        broken = BREAKS[how](files[name].decode()).encode()
        assert broken != files[name], f"{name}: {how} changes nothing"
        manifest = json.loads(files[f"{key}.json"])
        del manifest["ptx_digest"]  # which would give the change away
        files |= {name: broken, f"{key}.json": json.dumps(manifest).encode()}
    with zipfile.ZipFile(archive_path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


main()
