"""What a machine is: parts, joints, frames, numbers, expressions. No equations."""
