"""Code of chapters for later chapters to build on, written by `python -m helpers.press.export`."""
