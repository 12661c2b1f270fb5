"""xacro in: macros become plain URDF, by xacrodoc, which is an extra."""

from __future__ import annotations

import re

from kalaba.errors import FileError
from kalaba.files.source import Source
from kalaba.results.places import first_line

INCLUDE = re.compile(r"<xacro:include\s[^>]*?filename\s*=\s*[\"']([^\"']*)[\"']")
FIND = re.compile(r"\$\(find\s+([\w.-]+)\)")
READS = re.compile(r"load_yaml|\$\((?:env|optenv|eval|dirname)\b")


def expanded(source: Source) -> str:
    """The URDF that a xacro file describes. Files it includes must lie in the folders that were given."""
    try:
        from xacrodoc import XacroDoc, packages
    except ImportError as error:
        raise FileError(f"{source.path}: .xacro needs the extra xacro. Try: pip install 'kalaba[xacro]'") from error
    _check_includes(source)
    packages.look_in([str(folder) for folder in (source.folder, *source.roots, *source.folder.parents[:2])])
    try:
        return str(XacroDoc.from_file(str(source.path), resolve_packages=False).to_urdf_string())
    except Exception as error:
        raise FileError(f"{source.path}: xacro cannot expand it: {first_line(error)}.") from error


def _check_includes(source: Source) -> None:
    """Refuse includes that lead out of the folders, before xacro follows them."""
    text = source.text()
    if READS.search(text):
        raise FileError(
            f"{source.path}: expected macros alone, got load_yaml or $(env …), which read from outside the model. "
            "Expand it with xacro yourself and give the .urdf."
        )
    for name in INCLUDE.findall(text):
        plain = FIND.sub(r"package://\1", name)
        if "$" in plain:
            raise FileError(f"{source.path}: expected plain names of included files, got {name!r}. Write the name out.")
        _check_includes(source.including(plain, source.path.name))
