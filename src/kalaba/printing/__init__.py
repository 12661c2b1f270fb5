"""Equations in print: short expressions as a person would write them, or named common parts where they are long.

tree           small trees: what is printed, counted and put into numbers
reading        CasADi expression → values of an algebra: trees with named parts, or polynomials
polynomial     the algebra of polynomials: an entry multiplied out
trigonometry   sines and cosines of one angle, and of sums of angles, gathered
factoring      a polynomial → the tree with the fewest operations
notation       the letter of every symbol of a machine
sheet          the fields of a machine's equations in these letters
latex_text     trees → LaTeX, cut into lines
python_text    trees → Python that SymPy reads
page           whole fields → LaTeX
plain          any expression → lines of text for a terminal
display        equations in a notebook
"""
