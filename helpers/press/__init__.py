"""The makers' room: commands that make the book from its chapters. No chapter imports it.

python -m helpers.press.notebook    the form of a chapter: check it, put it right
python -m helpers.press.record      run chapters on a GPU, store outputs and receipts
python -m helpers.press.results     headline results: list, gather a GPU's, compare two
python -m helpers.press.evidence    what was counted beside the chapters, and what of it is stale
python -m helpers.press.export      write helpers/chapters/ from cells tagged `export`
python -m helpers.press.publish     copies of the chapters for Colab
python -m helpers.press.pages       pages of the site that are made from the chapters
python -m helpers.press.site        build the site, whole or one chapter's page
"""
