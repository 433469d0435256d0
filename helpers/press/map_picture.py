"""The map of what needs what, drawn in layers: a chapter stands below all that it needs."""

from html import escape

BOX, TALL = 112, 46  # of a chapter
ACROSS, DOWN = 120, 74  # from one to the next
LANE = 20  # where an arrow passes
MOST = 4  # chapters in a layer, so that they are read on a phone
EDGE = 6
LONG = 15  # letters that fit
SWEEPS = 12  # over the layers, so that fewer arrows cross


def reduced(needs):
    """Return {number: what it needs directly} of {number: what it needs}, transitively reduced."""

    def above(number):
        return set(needs[number]).union(*(above(n) for n in needs[number]))

    return {
        number: sorted(set(wanted) - set().union(*(above(n) for n in wanted)))
        for number, wanted in needs.items()
    }


def layered(needs):
    """Return the layers, lists of chapters and of places where an arrow passes, and the arrows.

    A chapter stands in the first layer below all it needs that has room. A place is (from, to,
    layer). An arrow is a list of what it goes through, from top to bottom.
    """
    depth, layers = {}, []
    while len(depth) < len(needs):
        ready = [n for n in needs if n not in depth and depth.keys() >= set(needs[n])]
        layers.append(ready[:MOST])
        depth |= dict.fromkeys(layers[-1], len(layers) - 1)
    arrows = []
    for number, wanted in needs.items():
        for start in wanted:
            passed = [(start, number, k) for k in range(depth[start] + 1, depth[number])]
            for place in passed:
                layers[place[2]].append(place)
            arrows.append([start, *passed, number])
    return layers, arrows


def ordered(layers, arrows):
    """Order each layer by the middle of its neighbours above, then below, a few times over."""
    links = {}
    for arrow in arrows:
        for a, b in zip(arrow, arrow[1:], strict=False):
            links.setdefault(b, []).append(a)
            links.setdefault(a, []).append(b)
    best, least = layers, None
    for sweep in range(SWEEPS):
        place = {x: k - len(layer) / 2 for layer in layers for k, x in enumerate(layer)}
        sequence = range(len(layers)) if sweep % 2 == 0 else range(len(layers))[::-1]
        for k in sequence:
            near = k - 1 if sweep % 2 == 0 else k + 1
            if 0 <= near < len(layers):
                layers[k] = _by_middle(layers[k], links, layers[near], place)
                place |= {x: i - len(layers[k]) / 2 for i, x in enumerate(layers[k])}
        count = crossings(layers, arrows)
        if least is None or count < least:
            best, least = [list(layer) for layer in layers], count
    return best


def _by_middle(layer, links, beside, place):
    """Return `layer` in the order of the middles of what each is linked to in the layer beside."""

    def middle(x):
        near = [place[y] for y in links.get(x, []) if y in beside]
        return sum(near) / len(near) if near else place[x]

    return sorted(layer, key=middle)


def crossings(layers, arrows):
    """Count the pairs of arrows that cross between two layers."""
    place = {x: k for layer in layers for k, x in enumerate(layer)}
    level = {x: k for k, layer in enumerate(layers) for x in layer}
    steps = [
        (level[a], place[a], place[b])
        for arrow in arrows
        for a, b in zip(arrow, arrow[1:], strict=False)
    ]
    return sum(
        one[0] == two[0] and (one[1] - two[1]) * (one[2] - two[2]) < 0
        for k, one in enumerate(steps)
        for two in steps[:k]
    )


def alternative(known):
    """Return the map in words."""
    told = (
        f"{number} needs {' and '.join(map(str, needs))}" if needs else f"{number} needs none"
        for number, (_, _, needs, _) in known.items()
    )
    return f"What needs what: {'; '.join(told)}."


def draw(known):
    """Return the map as SVG, in the colours of the page that it stands in.

    `known` is {number: (file's name, title, what it needs, whether it is a side road)}.
    """
    needs = reduced({number: entry[2] for number, entry in known.items()})
    layers, arrows = layered(needs)
    layers = ordered(layers, arrows)
    room = [[ACROSS if x in known else LANE for x in layer] for layer in layers]
    wide = max(map(sum, room))
    at = {}
    for k, (layer, needed) in enumerate(zip(layers, room, strict=True)):
        left = EDGE + (wide - sum(needed)) / 2
        for x, own in zip(layer, needed, strict=True):
            at[x] = (left + own / 2, EDGE + k * DOWN)
            left += own
    text, line = "var(--pst-color-text-base)", "var(--pst-color-text-muted)"
    parts = []
    for arrow in arrows:
        x, y = at[arrow[0]]
        path = f"M {x:.0f} {y + TALL:.0f}"
        y += TALL
        for stop in arrow[1:]:
            to, down = at[stop]
            path += f" C {x:.0f} {y + 16:.0f} {to:.0f} {down - 16:.0f} {to:.0f} {down:.0f}"
            if stop in known:
                parts.append(
                    f'<path d="M {to - 4:.0f} {down - 7:.0f} h 8 l -4 7 z" fill="{line}"/>'
                )
            else:
                path += f" V {down + TALL:.0f}"
                down += TALL
            x, y = to, down
        parts.append(f'<path d="{path}" fill="none" stroke="{line}" stroke-width="1.5"/>')
    for number, (stem, title, wanted, side) in known.items():
        x, y = at[number]
        dashes = ' stroke-dasharray="5 4"' if side else ""
        words = stem[3:].replace("_", " ")
        narrow = f' textLength="{BOX - 8}" lengthAdjust="spacingAndGlyphs"' * (len(words) > LONG)
        needed = f", needs {', '.join(map(str, wanted))}" if wanted else ""
        parts.append(
            f'<a href="../notebooks/{stem}.html">'
            f"<title>{escape(f'{number}: {title}{needed}')}</title>"
            f'<rect x="{x - BOX / 2:.0f}" y="{y:.0f}" width="{BOX}" height="{TALL}" rx="9"'
            f' fill="var(--pst-color-surface)" stroke="var(--pst-color-primary)"'
            f' stroke-width="2"{dashes}/>'
            f'<text x="{x:.0f}" y="{y + 20:.0f}" text-anchor="middle" font-size="17"'
            f' font-weight="700" fill="{text}">{number}</text>'
            f'<text x="{x:.0f}" y="{y + 37:.0f}" text-anchor="middle" font-size="12"'
            f'{narrow} fill="{text}">{escape(words)}</text></a>'
        )
    width = 2 * EDGE + wide
    height = 2 * EDGE + (len(layers) - 1) * DOWN + TALL
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="group"'
        f' aria-label="{escape(alternative(known))}" width="{width}"'
        f' style="max-width: 100%; min-width: {2 * width // 3}px; height: auto"'
        ' font-family="system-ui, sans-serif">'
    )
    return "\n".join([head, *parts, "</svg>"])
