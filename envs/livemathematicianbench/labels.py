"""Which option a reply names, as the paper's code reads it and in a kinder way."""

from __future__ import annotations

import re
from collections.abc import Mapping

Options = Mapping[str, str]
"""Label -> text, in the order shown."""
TRAILING = ".):"
WRAPPED = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}")
LEAD = r"[\s(\[]*(?:(?:the|my|final|correct|best|right|answer|option|choice|label|is)\b[\s:]*)*[\s(\[]*"
AFTER = r"(?=\s*(?:$|[.,:;)\]–—-]|\b(?:and|or|as|because|since|is)\b))"
"""What may follow a label; the article of "A constant function" is none."""
MORE = r"[\s)\].]*(?:,|/|&|\band\b|\bor\b)[\s(\[]*(?:option\s+)?"


def reference_label(text: str, options: Options) -> str:
    """The label in capitals, without closing ``.):``; else that of the option it quotes; else a leading label; else the text."""
    shown = text.strip()
    label = shown.upper().rstrip(TRAILING).strip()
    if label in options:
        return label
    quoted = _quoted(shown, options)
    if quoted:
        return quoted
    first = label.split()[0].rstrip(TRAILING) if label else ""
    return first if first in options else label


def lenient_label(text: str, options: Options) -> str:
    """The one label that a text names in whatever dress, "" when it names none or two."""
    plain = text
    while WRAPPED.search(plain):
        plain = WRAPPED.sub(r"\1", plain)
    plain = plain.strip().strip("*_`$\"' \\").replace("**", "")
    labels = "".join(options)
    quoted = _quoted(plain, options)
    found = re.match(rf"{LEAD}(?P<label>[{labels}]){AFTER}", plain, re.IGNORECASE)
    if quoted or not found:
        return quoted
    label = found["label"].upper()
    other = re.match(rf"{MORE}(?P<label>[{labels}])(?![\w'])", plain[found.end() :], re.IGNORECASE)
    return label if not other or other["label"].upper() == label else ""


def _quoted(text: str, options: Options) -> str:
    wanted = text.strip().casefold()
    return next((label for label, option in options.items() if option.strip().casefold() == wanted), "")
