"""The floor plan: every room of kalaba, from the ground up. CONTRIBUTING.md draws the same plan.

A room imports from the rooms before it in this list, and from no other. A new folder or module in the root must be
placed here before it can be imported.
"""

FLOORS: dict[str, tuple[str, ...]] = {
    "words": ("door", "errors", "interruption", "hints", "boundary", "tolerances", "units"),
    "what a machine is": ("space", "joints", "model"),
    "its mechanics": ("native", "printing", "derive", "constrain", "steppers", "compiled"),
    "using it": ("plant", "results", "analyse", "run", "kinematics"),
    "what it is for": ("paths", "control", "cooperate", "studies"),
    "what people touch": ("robots", "files", "export", "view", "cli"),
}
ROOMS: tuple[str, ...] = tuple(room for floor in FLOORS.values() for room in floor)
PACKAGE = "kalaba"  # __init__.py shows the names that __init__.pyi lists, through door.py; it is no room
