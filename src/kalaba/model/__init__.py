"""What a machine is: parts, System, the flat Machine, solids, beams, expressions, topology. No equations."""
