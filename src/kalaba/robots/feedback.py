"""Control laws of the scenarios, as expressions."""

from __future__ import annotations


def follow(displacement: str, target: str, stiffness: float, damping: float) -> str:
    """Pull a displacement d to its target like a spring and a damper: k (target − d) − c ḋ."""
    return f"{stiffness:g}*({target} - {displacement}) - {damping:g}*rate({displacement})"
