"""Code of chapters on which later chapters build, written here by `python -m helpers.export`."""
