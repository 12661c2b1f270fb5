"""Every threshold that decides something: its unit, what it is measured against, and why it has its value.

A threshold stands here if another value could change an answer: a rank, an acceptance, a warning, a refusal. Counts of
tries, sizes of pictures and coefficients of methods stay where they are used. The comment of each says its unit (1
where it is a part of something), what it is measured against, and the reason for its size.
"""

# --- Numbers and poses: space, joints, model.

# --- Rows, their rank, closing and projection: constrain, compiled, plant.

# --- Time: steppers, compiled, run.

# --- Rest and small motion: analyse.

# --- kinematics

# --- paths, control

# --- cooperation

# --- export, printing

# --- results, view, robots, cli
