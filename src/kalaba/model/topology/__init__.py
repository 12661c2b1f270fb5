"""How bodies hang together: trees, limbs that are alike, and how a machine is divided into them."""
