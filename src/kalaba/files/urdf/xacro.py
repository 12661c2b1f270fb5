"""xacro in: macros become plain URDF, by xacrodoc, which is an extra."""

from __future__ import annotations

import re
from pathlib import Path

from kalaba.errors import FileError
from kalaba.files.source import Source
from kalaba.results.places import first_line

INCLUDE = re.compile(r"(<xacro:include\s[^>]*?filename\s*=\s*[\"'])([^\"']*)([\"'])")
FIND = re.compile(r"\$\(find\s+([\w.-]+)\)")
READS = re.compile(r"load_yaml|\$\((?:env|optenv|eval|dirname)\b|__")


def expanded(source: Source) -> str:
    """The URDF that a xacro file describes. Files it includes must lie in the folders that were given."""
    try:
        from xacrodoc import XacroDoc, packages
    except ImportError as error:
        raise FileError(f"{source.path}: .xacro needs the extra xacro. Try: pip install 'kalaba[xacro]'") from error
    folders: dict[str, str] = {}
    _check_includes(source, folders)
    packages.update_package_cache(folders)
    text = INCLUDE.sub(lambda m: f"{m[1]}{_included(source, m[2]).path}{m[3]}", source.text())
    try:
        return str(XacroDoc.from_string(text, resolve_packages=False).to_urdf_string())
    except Exception as error:
        raise FileError(f"{source.path}: xacro cannot expand it: {first_line(error)}.") from error


def _check_includes(source: Source, folders: dict[str, str]) -> None:
    """Refuse what reads from outside the folders, before xacro does so; find the folders of packages."""
    text = source.text()
    if found := READS.search(text):
        raise FileError(
            f"{source.path}: expected macros alone, got {found[0]!r}, which reads from outside the model. Expand it "
            "with xacro yourself and give the .urdf."
        )
    for package in FIND.findall(text):
        folders.setdefault(package, str(_package(source, package)))
    for _, name, _ in INCLUDE.findall(text):
        _check_includes(_included(source, name), folders)


def _included(source: Source, name: str) -> Source:
    plain = FIND.sub(r"package://\1", name)
    if "$" in plain:
        raise FileError(f"{source.path}: expected plain names of included files, got {name!r}. Write the name out.")
    return source.including(plain, source.path.name)


def _package(source: Source, name: str) -> Path:
    """The folder of a package: one of that name around the file, a root, or one in a root."""
    around = [source.folder.resolve(), *source.folder.resolve().parents]
    folders = [*around, *source.roots, *(root / name for root in source.roots)]
    here = next((folder for folder in folders if folder.name == name and folder.is_dir()), None)
    if here is None:
        raise FileError(f"{source.path}: no folder of package {name!r}. Give its parent with roots= (--root).")
    return here
