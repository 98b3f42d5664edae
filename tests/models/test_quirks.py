from __future__ import annotations

import pytest

from skillgit.models.quirks import Feature, Quirks, optional
from skillgit.models.refusals import ParameterRefused

FEATURES = {
    "warmth": optional("warmth"),
    "room": Feature(("new_room", "room"), ("new_room", "room")),
}


def refused(message: str = "", parameter: str = "") -> ParameterRefused:
    return ParameterRefused(message, parameter=parameter, hint="")


@pytest.mark.parametrize(
    ("error", "learned"),
    [
        (refused(parameter="warmth"), "warmth"),
        (refused(parameter="warmth.level"), "warmth"),
        (refused("no `warmth` here"), "warmth"),
        (refused("m.warmth is unknown"), None),
        (refused("lukewarmth"), None),
        (refused(parameter="warmthy"), None),
        (refused("warmth is not known", parameter="room"), "room"),
        (refused("warmth: input should be less than 1", parameter="warmth"), None),
        (refused("something else"), None),
    ],
)
def test_what_a_refusal_is_about(error: ParameterRefused, learned: str | None) -> None:
    quirks = Quirks(FEATURES)
    attempt = quirks.attempt()
    assert (attempt.form("warmth"), attempt.form("room")) == ("warmth", "new_room")
    assert quirks.learn(attempt, error) is (learned is not None)
    forms = {feature: quirks.attempt().form(feature) for feature in FEATURES}
    assert forms == {
        "warmth": "" if learned == "warmth" else "warmth",
        "room": "room" if learned == "room" else "new_room",
    }


def test_only_what_was_sent_can_have_been_refused() -> None:
    quirks = Quirks(FEATURES)
    attempt = quirks.attempt()
    attempt.form("room")
    assert not quirks.learn(attempt, refused(parameter="warmth"))


def test_the_last_form_and_one_that_was_left_out_stay_errors() -> None:
    quirks = Quirks(FEATURES)
    for feature in FEATURES:
        for more in (True, False):
            attempt = quirks.attempt()
            attempt.form(feature)
            assert quirks.learn(attempt, refused(parameter=feature)) is more


def test_one_that_is_left_out_is_not_suspected_again() -> None:
    quirks = Quirks(FEATURES)
    for learned in ("warmth", "room"):
        attempt = quirks.attempt()
        assert attempt.form("warmth") == ("warmth" if learned == "warmth" else "")
        attempt.form("room")
        assert quirks.learn(attempt, refused("warmth or room: one is not known"))
    assert quirks.attempt().form("room") == "room"


def test_of_many_that_are_refused_at_once_the_first_teaches_and_the_others_follow(
    caplog: pytest.LogCaptureFixture,
) -> None:
    quirks = Quirks({"schema": Feature(("strict", "loose", ""), ("schema",))})
    attempts = [quirks.attempt() for _ in range(3)]
    for attempt in attempts:
        attempt.form("schema")
    assert all(quirks.learn(attempt, refused("no schema")) for attempt in attempts)
    assert quirks.attempt().form("schema") == "loose"
    assert [record.getMessage() for record in caplog.records] == ["no schema; going on with loose"]
