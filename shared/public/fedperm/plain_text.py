"""Texts of others, made harmless where people read them: in terminals and in logs.

A terminal obeys what it is shown. Escape sequences move its cursor, set its title and clipboard;
bidirectional controls show a line in another order than the one it has; a line break begins a line
that looks like ours. So whatever does not print is written out: ESC as \\x1b.
"""

LONGEST = 2000
"""Characters of one text of others: whoever is told more reads none of it."""

_LAYOUT = "\n\t"


def visible(text: str) -> str:
    """Line breaks and tabs stay: for texts whose lines are ours."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in _LAYOUT or char.isprintable() else _written_out(char) for char in text
    )


def one_line(text: str, most: int = LONGEST) -> str:
    """Without any line break, and cut."""
    text = cut(text, most)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _written_out(char) for char in text)


def cut(text: str, most: int = LONGEST) -> str:
    """Its beginning and its end, which in reports of errors says most."""
    left_out = len(text) - most
    if left_out <= 0:
        return text
    return f"{text[: most // 2]} [{left_out:,} characters] {text[-(most - most // 2) :]}"


def visible_json(text: str) -> str:
    """The same JSON in other words: what does not print can only stand in its strings."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in _LAYOUT or char.isprintable() else _for_json(char) for char in text
    )


def _written_out(char: str) -> str:
    return char.encode("unicode_escape").decode()


def _for_json(char: str) -> str:
    """As UTF-16, which JSON's escapes are in."""
    octets = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{octets[i : i + 2].hex()}" for i in range(0, len(octets), 2))
