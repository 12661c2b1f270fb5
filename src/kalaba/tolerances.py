"""Every threshold that decides something: its unit, what it is measured against, and why it has its value."""
