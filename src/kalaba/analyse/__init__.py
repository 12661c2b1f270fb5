"""What is asked of a machine as a whole: mobility, equilibrium, linear model, frequencies."""
