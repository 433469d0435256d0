"""Programs that a chapter runs outside its notebook, and shows in full: `python -m` starts them."""
