"""Results in words: what a headline is called, and its number with two or three digits."""

import functools
import tomllib

from helpers.press import notebook

CHAPTERS = notebook.BOOK / "book" / "chapters.toml"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@functools.cache
def plan():
    """Return book/chapters.toml: parts, chapters, labels, units and better, each a dictionary."""
    return tomllib.loads(CHAPTERS.read_text(encoding="utf-8"))


def label(entry):
    """Return what the result `entry` (name and label) is called; its name where nobody said."""
    return entry.get("label") or plan()["labels"].get(entry["name"], entry["name"])


def digits(value):
    """Write a result with three significant digits; a whole number below ten million, in full."""
    if 1000 <= abs(value) < 1e7:
        rounded = value if value == int(value) else float(f"{value:.3g}")
        return f"{rounded:,.0f}"
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    return mantissa + (f" × 10{str(int(exponent)).translate(SUPERSCRIPTS)}" if exponent else "")


def quantity(value, unit):
    """Return (number, unit) as a person writes them: a share of something is in per cent."""
    if unit.startswith("of its "):
        return digits(100 * value), f"% {unit}"
    return digits(value), "" if unit == "ratio" else unit


def unit(entry):
    """Return the unit of the result `entry`; for a bare ratio what book/chapters.toml says."""
    return plan()["units"].get(entry["name"], entry["unit"])


def better(entry):
    """Say which is better of the result `entry`, "higher" or "lower"; None where nobody said."""
    sides = plan()["better"]
    return next((side for side in sides if unit(entry) in sides[side]), None)


def number(entry):
    """Return the number of the result `entry` as a person writes it, for example "6.53"."""
    return quantity(entry["value"], unit(entry))[0]


def short(entry):
    """Return the number of the result `entry` with its unit, for example "6.53 % of its speed"."""
    return " ".join(filter(None, quantity(entry["value"], unit(entry))))


def sentence(entry):
    """Return the result `entry` in words: what, how much, and against what."""
    text, against = f"{label(entry)}: {short(entry)}", entry.get("against")
    if not against:
        return text
    if unit(entry).startswith("of its "):
        return text.replace(" of its ", " of the ") + f" of {against}"
    if unit(entry).startswith("times as "):
        return f"{text} as {against}"
    return f"{text} ({against})"
