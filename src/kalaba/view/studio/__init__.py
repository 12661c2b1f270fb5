"""The studio: a page in a browser on which a machine moves, is looked at and is changed."""

from kalaba.view.studio.serving import studio
from kalaba.view.studio.session import Studio

__all__ = ["Studio", "studio"]
