"""The site builds without a warning, needs no network, and has a page for all that there is."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kalaba as kb
from docs.markdown import ROOT

DOCS = ROOT / "docs"
HAS_BROWSER = bool(shutil.which("chromium") and importlib.util.find_spec("playwright")) or bool(
    os.environ.get("KALABA_REQUIRE_BROWSER")  # there it must not be missing
)
LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?([^\" >]+)|<link[^>]*\shref=\"?([^\" >]+)")


def helper(name: str):
    """A module of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site):
    """Links that a reader may follow are his own choice; scripts, styles, fonts and pictures must be here."""
    pages = list(site.glob("*.html"))
    loaded = {(page.name, "".join(found)) for page in pages for found in LOADED.findall(page.read_text("utf-8"))}
    assert loaded
    assert [entry for entry in loaded if "//" in entry[1]] == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert "url(http" not in styles
    assert "@import" not in styles


def test_what_a_page_loads_is_in_the_site(site):
    index = (site / "index.html").read_text("utf-8")
    local = ["".join(found) for found in LOADED.findall(index)]
    assert [path for path in local if not path.startswith("data:") and not (site / path).exists()] == []


@pytest.mark.skipif(not HAS_BROWSER, reason="needs chromium and playwright")
def test_a_browser_reads_and_searches_the_site_from_the_disk(site):
    from playwright.sync_api import sync_playwright

    asked, problems = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((site / "index.html").as_uri())
        page.locator(".md-search__input").focus()
        page.keyboard.type("allocation")
        page.locator(".md-search-result__item").first.wait_for(state="attached", timeout=20_000)
        browser.close()
    assert problems == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_every_public_name_is_in_the_reference(site):
    reference = "".join(path.read_text("utf-8") for path in site.glob("reference*.html"))
    ids = {name.rpartition(".")[2] for name in re.findall(r'id="(kalaba\.[\w.]+)"', reference)}
    headings = set(re.findall(r'id="kb(\w+)"', reference))  # modules such as kb.path
    assert set(kb.__all__) - ids - headings - helper("reference_names").VALUES == set()


def test_no_block_of_names_is_left_unfilled(site):
    assert [path.name for path in site.glob("*.html") if "<!-- names" in path.read_text("utf-8")] == []


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert {page.name for page in DOCS.glob("*.md")} == named


@pytest.mark.parametrize("page", ["machines", "errata", "papers"])
def test_pages_of_the_catalogue_are_as_the_catalogue_has_it(page):
    """Otherwise: python docs/make_catalogue.py."""
    written = getattr(helper("make_catalogue"), f"{page}_page")()
    assert (DOCS / f"{page}.md").read_text("utf-8") == written


def test_the_schema_of_files_and_the_page_of_their_keys_are_current():
    """Otherwise: python docs/make_schema.py."""
    made = helper("make_schema")
    assert made.SCHEMA.read_text("utf-8") == made.schema_text()
    assert made.KEYS_PAGE.read_text("utf-8") == made.keys_page()


def test_pages_of_papers_are_as_the_papers_have_it():
    made = helper("make_catalogue")
    for paper in made.PAPERS:
        assert (DOCS / f"paper-{paper.key}.md").read_text("utf-8") == made.paper_page(paper)


def test_a_docstring_is_taken_as_plain_text():
    griffe = pytest.importorskip("griffe")
    text = "What it gives, [a; b] and `[c]` ::\n\n    x = y * [z]\n\nSee <q> and 2*3."
    own = griffe.Function("f", docstring=griffe.Docstring(text))
    helper("reference_docstrings").PlainText().on_instance(obj=own)
    assert own.docstring.value == "What it gives, \\[a; b] and `[c]` :\n\n    x = y * [z]\n\nSee \\<q> and 2\\*3."


def test_arguments_become_a_section_and_equations_do_not():
    griffe = pytest.importorskip("griffe")
    text = (
        "Solve it.\n\nFor a step::\n\n    x = *y\n\nArguments:\n    q: one [number], m\n    *parts: any\n\nAs <before>."
    )
    own = griffe.Function("f", docstring=griffe.Docstring(text))
    helper("reference_docstrings").PlainText().on_instance(obj=own)
    sections = own.docstring.parse("google", warn_unknown_params=False, warn_missing_types=False)
    assert [section.kind.value for section in sections] == ["text", "parameters", "text"]
    assert sections[0].value == "Solve it.\n\nFor a step&#58;\n\n    x = *y"
    assert [(entry.name, entry.description) for entry in sections[1].value] == [
        ("q", "one \\[number], m"),
        ("*parts", "any"),
    ]


def test_arguments_of_public_functions_are_tables_of_the_reference(site):
    page = (site / "reference-more.html").read_text("utf-8")
    entry = page[page.index('id="kalaba.view.figures.kinds.draw"') :]
    table = entry[entry.index("<table>") : entry.index("</table>")]
    assert [word for word in ("runs", "figure", "frames") if f"<code>{word}</code>" not in table] == []
