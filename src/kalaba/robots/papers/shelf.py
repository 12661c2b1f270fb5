"""All papers, and how one is found: by author, word of its title, DOI, machine or a robot's name in print."""

from __future__ import annotations

from kalaba.errors import ModelError, near
from kalaba.robots.papers import dong2022, dou2014, han2020, liao2010, sun
from kalaba.robots.papers.paper import Paper

PAPERS: tuple[Paper, ...] = (dong2022.PAPER, sun.PAPER, liao2010.PAPER, dou2014.PAPER, han2020.PAPER)


def papers_about(words: str) -> tuple[Paper, ...]:
    """Papers that every one of some words speaks of; all of them for no word."""
    return tuple(paper for paper in PAPERS if all(paper.is_about(word) for word in words.split()))


def papers_called(name: str) -> tuple[Paper, ...]:
    """Papers that are cited by a name."""
    return tuple(paper for paper in PAPERS if paper.is_called(name))


def find_papers(words: str) -> tuple[Paper, ...]:
    """The same, or say which names are near."""
    if found := papers_about(words):
        return found
    known = [author.partition(",")[0] for paper in PAPERS for author in paper.citation.authors]
    raise ModelError(f"no paper about {words!r}; {near(words, known)}")


def paper_of(machine: str) -> Paper | None:
    """The paper that a machine of the catalogue is from; None: it is from elsewhere."""
    return next((paper for paper in PAPERS if machine in paper.machines), None)
