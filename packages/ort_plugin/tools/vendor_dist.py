# SPDX-License-Identifier: Apache-2.0
"""Turn the links that leave the package into real files in its source distribution.

``meson dist`` drops such links with no more than a warning. Meson runs this script on the unpacked distribution; it
copies the linked files (licence, notice) and the committed files of each project linked under ``subprojects/``, as
``meson dist`` does for the project itself.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path


def vendor(source: Path, dist: Path) -> None:
    """Replace the links of ``dist`` by what they name.

    Parameters
    ----------
    source : Path
        The project in the checkout, where the links resolve.
    dist : Path
        The unpacked distribution that meson is about to pack.
    """
    links = [entry for entry in (source / "subprojects").iterdir() if entry.is_symlink()]
    if not links:
        raise SystemExit(f"vendor_dist: no links in {source / 'subprojects'}; make the sdist from a git checkout")
    for link in sorted(links):
        out = dist / "subprojects" / link.name
        if out.is_symlink():
            out.unlink()
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        tar = subprocess.run(
            ["git", "archive", "HEAD", "."], cwd=link.resolve(), check=True, stdout=subprocess.PIPE
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            archive.extractall(out)
        # Its own siblings are found through the super-project, which holds them all.
        shutil.rmtree(out / "subprojects", ignore_errors=True)
    for link in source.iterdir():
        if link.is_symlink():
            (dist / link.name).unlink(missing_ok=True)
            shutil.copyfile(link, dist / link.name)


if __name__ == "__main__":
    vendor(Path(os.environ["MESON_PROJECT_SOURCE_ROOT"]), Path(os.environ["MESON_PROJECT_DIST_ROOT"]))
