"""The participant's page: HTML, CSS and ES modules that a browser runs as they are. Nothing here is Python."""
