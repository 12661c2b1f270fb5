"""A strict reader of HTML: tags close in order, ids are unique, pictures have words, nothing is fetched."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}
KNOWN = {
    *("html", "head", "title", "style", "body", "header", "nav", "main", "section", "h1", "h2", "h3", "p", "a", "div"),
    *(
        "figure",
        "figcaption",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "strong",
        "span",
        "code",
    ),
    *VOID,
}
INSIDE = {
    "tr": {"thead", "tbody"},
    "td": {"tr"},
    "th": {"tr"},
    "thead": {"table"},
    "tbody": {"table"},
    "summary": {"details"},
    "figcaption": {"figure"},
    "title": {"head"},
    "style": {"head"},
    "meta": {"head"},
}
BLOCKS = {"p", "div", "table", "figure", "section", "h1", "h2", "h3", "details"}


class Strict(HTMLParser):
    """Collects what is wrong with a page, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self._check_place(tag)
        if len(given) != len(attrs):
            self.problems.append(f"{tag} has an attribute twice")
        if given.get("id") in self.ids:
            self.problems.append(f"id {given['id']} twice")
        self.ids |= {given["id"]} if "id" in given else set()
        if tag == "img" and not (given.get("alt") or "").strip():
            self.problems.append("img without words")
        for key in ("src", "href", "srcset", "data", "action"):
            if key in given:
                self.links.append(given[key] or "")
        if tag not in VOID:
            self.open.append(tag)

    def _check_place(self, tag: str) -> None:
        if tag not in KNOWN:
            self.problems.append(f"unknown tag {tag}")
        if tag in INSIDE and (not self.open or self.open[-1] not in INSIDE[tag]):
            self.problems.append(f"{tag} in {self.open[-1:]}")
        if tag in BLOCKS and "p" in self.open:
            self.problems.append(f"{tag} inside p")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"/{tag} closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def strict(text: str) -> Strict:
    """Read a page; its `problems` are empty if it is valid."""
    reader = Strict()
    reader.feed(text)
    reader.close()
    if not text.startswith("<!DOCTYPE html>"):
        reader.problems.append("no doctype")
    reader.problems += [f"{tag} is never closed" for tag in reader.open]
    reader.problems += [f"no {tag}" for tag in ("html", "head", "title", "body", "main") if tag not in reader.tags]
    inner = {link.removeprefix("#") for link in reader.links if link.startswith("#")}
    reader.problems += [f"link to {name}, which is nowhere" for name in inner - reader.ids]
    outer = [link[:60] for link in reader.links if not link.startswith(("#", "data:image/"))]
    reader.problems += [f"fetches {link}" for link in outer]
    return reader
