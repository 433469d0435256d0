"""The page of results: a column a GPU, sorted by a press, rows as cards on a phone."""

PAGE = "book/generated/measured.html"


def test_a_press_on_a_head_sorts_numbers_as_numbers(reader):
    page = reader().open(PAGE)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    table = page.locator("#past-the-library details table.results").first
    head = table.locator("th", has_text="H200")
    column = head.evaluate("e => e.cellIndex")

    def values():
        cells = table.locator("tbody tr").evaluate_all(
            "(rows, k) => rows.map(r => r.cells[k].innerText)", column
        )
        return [float(cell.split(", again")[0].rstrip("*").replace(",", "")) for cell in cells]

    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(values()) and len(values()) >= 4
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)


def test_an_id_is_a_tooltip_and_not_the_name(reader):
    page = reader().open(PAGE)
    first = page.locator("table.results tbody tr td span[title]").first
    assert first.get_attribute("title") == "matmul.naive_f64_vs_cublas"
    assert first.inner_text() == "a thread for each element, float64"


def test_on_a_phone_a_row_is_a_card_that_names_its_columns(reader):
    page = reader(viewport={"width": 360, "height": 740}).open(PAGE)
    row = page.locator("table.results tbody tr").first
    assert row.bounding_box()["width"] <= 344
    cells = row.locator("td")
    tops = [cells.nth(k).bounding_box()["y"] for k in range(cells.count())]
    assert tops == sorted(tops) and len(set(tops)) == cells.count()
    label = cells.last.evaluate("e => getComputedStyle(e, '::before').content")
    assert "attr" in label or "NVIDIA" in label
    assert "NVIDIA" in cells.last.get_attribute("data-label")


def test_a_chapter_shows_three_results_and_folds_the_rest(reader):
    page = reader().open(PAGE)
    for chapter in page.locator("article section section:has(table)").all()[:-1]:
        seen = [t for t in chapter.locator("table").all() if t.is_visible()]
        assert len(seen) == 1 and seen[0].locator("tbody tr").count() <= 3
