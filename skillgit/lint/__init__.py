"""Checks of a skill document, one function a rule, all in one table."""

from __future__ import annotations

from collections.abc import Collection

from skillgit.lint import characters, form, hazards
from skillgit.lint.finding import Document, Finding, Rule, printable

RULES = (
    Rule("frontmatter", "the file begins with frontmatter in YAML", form.frontmatter),
    Rule("name", "1 to 64 lower-case letters, digits, single inner hyphens; the folder's name", form.name),
    Rule("description", "1 to 1,024 characters", form.description),
    Rule("fields", "only the fields that Agent Skills have", form.fields),
    Rule("markers", "training markers pair up, each alone on its line", form.markers),
    Rule("size", "not empty; under 500 lines and 20 kB (warning)", form.size),
    Rule("invisible", "no zero-width, control, tag or filler characters", characters.invisible),
    Rule("bidi", "no characters that change the order in which text is shown", characters.bidirectional),
    Rule("secret", "no keys, tokens or passwords", hazards.secrets),
    Rule("link", "links out (warning); no active or local links", hazards.links),
    Rule("pipe", "no download goes straight into an interpreter", hazards.pipes),
    Rule("comment", "no instructions in comments and hidden elements", hazards.comments),
)
NAMES = tuple(rule.name for rule in RULES)


def check(doc: Document, ignore: Collection[str] = ()) -> list[Finding]:
    """What is wrong with a document, by line, then in the order of the rules. One that is far too large gets one finding."""
    rules = RULES if len(doc.text) <= form.MOST_BYTES else [rule for rule in RULES if rule.name == "size"]
    found = [
        Finding(doc.path, one.line, rule.name, one.severity, printable(one.message))
        for rule in rules
        if rule.name not in ignore
        for one in rule.check(doc)
    ]
    return sorted(dict.fromkeys(found), key=lambda finding: finding.line)
