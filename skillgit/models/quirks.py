"""What a model turned out not to take: worked around, remembered, and said once in a warning.

A *feature* of a request (its temperature, its schema, ...) has one or more forms, best first. When a provider refuses the form
that was sent, the next one is used from then on; a refusal of the last form stays an error.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from skillgit.models.refusals import ParameterRefused

log = logging.getLogger("skillgit")

WRONG_VALUE = re.compile(r"input should be|supported values are|(less|greater) than")
"""What is said of a value that the user chose out of range: a mistake to be told, not a quirk."""

LEFT_OUT = ""
"""The last form of a feature that a request can do without."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Forms, best first, and the names by which providers speak of the feature in a refusal."""

    forms: tuple[str, ...]
    names: tuple[str, ...]


def optional(*names: str) -> Feature:
    """A feature that is sent under its first name or not at all."""
    return Feature((names[0], LEFT_OUT), names)


class Quirks:
    """The form in use of each feature, for one model."""

    def __init__(self, features: Mapping[str, Feature]) -> None:
        self._features = features
        self._form = {name: feature.forms[0] for name, feature in features.items()}

    def attempt(self) -> Attempt:
        """For one request: asks for forms, and remembers which it was given."""
        return Attempt(self._form)

    def learn(self, attempt: Attempt, error: ParameterRefused) -> bool:
        """Whether it makes sense to send the request again, in another form.

        Many requests may be refused at once: the first teaches, the others follow.
        """
        feature = self._meant(attempt, error)
        if feature is None or WRONG_VALUE.search(error.message.lower()):
            return False
        if attempt.forms[feature] == self._form[feature]:
            forms = self._features[feature].forms
            following = forms[forms.index(self._form[feature]) + 1 :]
            if not following:
                return False
            log.warning("%s; going on %s", error.message, f"with {following[0]}" if following[0] else "without it")
            self._form[feature] = following[0]
        return True

    def _meant(self, attempt: Attempt, error: ParameterRefused) -> str | None:
        for matches in (_named, _mentioned):
            for feature, form in attempt.forms.items():
                if form and any(matches(error, name) for name in self._features[feature].names):
                    return feature
        return None


class Attempt:
    """``forms`` are the features of one request, in the form in which they are sent."""

    def __init__(self, current: Mapping[str, str]) -> None:
        self._current = dict(current)
        self.forms: dict[str, str] = {}

    def form(self, feature: str) -> str:
        """The form to send a feature in; empty when it is left out."""
        return self.forms.setdefault(feature, self._current[feature])


def _named(error: ParameterRefused, name: str) -> bool:
    return error.parameter == name or error.parameter.startswith(f"{name}.")


def _mentioned(error: ParameterRefused, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", error.message) is not None
