"""What is known of a paper: how to cite it, its machines, and every item of it with a verdict.

An item is a system, method, equation, figure, table, claim or conclusion. It works, or it cannot be reproduced for a
reason that is said; there is nothing in between. `tests/papers` has a test for each item, by its key.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kalaba.units import counted


class Kind(Enum):
    """What an item of a paper is."""

    SYSTEM = "system"
    METHOD = "method"
    EQUATION = "equation"
    FIGURE = "figure"
    TABLE = "table"
    CLAIM = "claim"
    CONCLUSION = "conclusion"


class Verdict(Enum):
    """What came of an item."""

    WORKS = "works"
    CORRECTED = "works, corrected"  # the printed form is wrong; ours is what was meant, and the erratum is listed
    REFUTED = "refuted"  # a claim that the paper's own numbers, computed right, do not bear out
    NOT_REPRODUCIBLE = "not reproducible"  # the paper does not give what it would take


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a paper.

    Arguments:
        key: its name in the tests and in tables: "eq-12", "figure-4", "claim-cut"
        kind: what it is
        where: as the paper numbers it: "(12)", "figure 4", "section 3.1"
        says: what the paper has there, in our words
        gives: what kalaba gives, with its number if there is one
        published: the published number or curve with its unit; "" = it has none
        verdict: what came of it
        command: what shows it, on the command line or in Python
        why: of what is not reproducible or refuted, the reason
    """

    key: str
    kind: Kind
    where: str
    says: str
    gives: str
    verdict: Verdict
    command: str
    published: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        needs_reason = self.verdict in {Verdict.REFUTED, Verdict.NOT_REPRODUCIBLE}
        if needs_reason != bool(self.why):
            raise ValueError(f"{self.key}: an item says why if it is refuted or not reproducible, and only then")

    @property
    def gives_and_why(self) -> str:
        """What kalaba gives, with the reason where an item is refuted or not reproducible."""
        return f"{self.gives}: {self.why}" if self.why else self.gives


@dataclass(frozen=True, slots=True)
class Citation:
    """How a paper is cited.

    Arguments:
        key: of its BibTeX entry
        authors: as they are written in English, family name first
        title: in English
        original_title: in the language of the paper
        journal: its name in English
        original_journal: in the language of the paper
        year: "" if the paper does not say
        volume: with the issue in brackets
        pages: first to last
        doi: "" if it has none
    """

    key: str
    authors: tuple[str, ...]
    title: str
    original_title: str
    journal: str = ""
    original_journal: str = ""
    year: str = ""
    volume: str = ""
    pages: str = ""
    doi: str = ""

    @property
    def authors_in_words(self) -> str:
        """Family names, with the year if there is one."""
        families = [author.partition(",")[0] for author in self.authors]
        names = families[0] if len(families) == 1 else f"{', '.join(families[:-1])} and {families[-1]}"
        return f"{names}{f' ({self.year})' if self.year else ''}"

    @property
    def text(self) -> str:
        """On one line, both titles in it."""
        said = [self.authors_in_words, f"{self.original_title} ({self.title})"]
        if self.journal:
            said.append(" ".join(part for part in (self.journal, self.volume) if part))
        said += [self.pages] if self.pages else []
        said += [f"doi {self.doi}"] if self.doi else []
        return ", ".join(said)

    @property
    def bibtex(self) -> str:
        """As an entry of BibTeX."""
        volume, _, issue = self.volume.removesuffix(")").partition("(")
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            "titleaddon": f"{{{self.original_title}}}",
            "journal": self.journal,
            "note": self.original_journal,
            "year": self.year,
            "volume": volume,
            "number": issue,
            "pages": self.pages.replace("-", "--"),
            "doi": self.doi,
            "language": "Chinese",
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{'article' if self.journal else 'misc'}{{{self.key},\n" + ",\n".join(lines) + "\n}"


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with all that is in it.

    Arguments:
        citation: how it is cited
        topic: what it is about, in one line
        machines: names of the catalogue that are its machines
        items: everything in it, in its order
        answer: what came of its main claim, in a few sentences
        words: other words that people look for it by, such as a robot's name in print
    """

    citation: Citation
    topic: str
    machines: tuple[str, ...]
    items: tuple[Item, ...]
    answer: str
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keys = [item.key for item in self.items]
        if len(set(keys)) != len(keys):
            raise ValueError(f"{self.citation.key}: keys of items are not unique")

    @property
    def key(self) -> str:
        """Its short name, as in `kalaba papers dong2022`."""
        return self.citation.key

    def is_about(self, word: str) -> bool:
        """Whether a word of a search, in any case, is in its citation, its machines or its other words."""
        citation = self.citation
        said = (
            *citation.authors,
            citation.title,
            citation.original_title,
            citation.journal,
            citation.original_journal,
            citation.year,
            citation.doi,
            citation.key,
            self.topic,
            *self.machines,
            *self.words,
        )
        return any(_plain(word) in _plain(text) for text in said)

    def is_called(self, name: str) -> bool:
        """Whether a name is one that it is cited by, whole: its DOI, key, authors and year, or a robot's name in print.

        A part of one, or a word of the title, is a matter of a search; it names no machine.
        """
        people = {_plain(part) for author in self.citation.authors for part in author.replace(",", " ").split()}
        said = {_plain(word) for word in name.replace(",", " ").split()}
        if said & people and said <= people | {self.citation.year}:
            return True
        return _plain(name) in {_plain(text) for text in (self.citation.doi, self.key, *self.machines, *self.words)} - {
            ""
        }

    def counts(self) -> dict[Verdict, int]:
        """How many items came to each verdict."""
        return {verdict: sum(item.verdict is verdict for item in self.items) for verdict in Verdict}

    @property
    def counts_in_words(self) -> str:
        """The same on one line, verdicts that no item came to left out."""
        said = [f"{count} {verdict.value}" for verdict, count in self.counts().items() if count]
        return f"{counted(len(self.items), 'item')}: {'; '.join(said)}"


def _plain(text: str) -> str:
    """Without case, hyphens, and the address that a DOI may be written with."""
    lowered = text.lower().removeprefix("https://doi.org/").removeprefix("http://doi.org/").removeprefix("doi:")
    return lowered.replace("-", "").replace("–", "").strip()
