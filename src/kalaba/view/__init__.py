"""Views: pictures of what happened."""
