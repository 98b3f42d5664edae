from __future__ import annotations

from collections.abc import Sequence

from skillgit.replay import Change, without
from skillgit.skill import Edit, apply_edits, with_guidance

START = "# Rules\n\n- One.\n"


def history(*steps: Edit | str, start: str = START) -> list[Change]:
    """Changes c0, c1, ...: an edit, a person's new text, or ``@`` and new guidance."""
    changes: list[Change] = []
    text = start
    for number, step in enumerate(steps):
        if isinstance(step, Edit):
            after = apply_edits(text, [step], missing_anchor="append").text
            changes.append(Change(f"c{number}", text, after, step))
        elif step.startswith("@"):
            after = with_guidance(text, step[1:])
            changes.append(Change(f"c{number}", text, after, epoch=True))
        else:
            after = step
            changes.append(Change(f"c{number}", text, after))
        text = after
    return changes


def left(changes: Sequence[Change], *dropped: int) -> str | None:
    return without(changes, {f"c{number}" for number in dropped})


def test_neighbours_do_not_get_in_each_others_way() -> None:
    changes = history(Edit("append", "- Two."), Edit("append", "- Three."), Edit("append", "- Four."))
    assert left(changes, 0) == "# Rules\n\n- One.\n- Three.\n- Four.\n"
    assert left(changes, 1) == "# Rules\n\n- One.\n- Two.\n- Four.\n"
    assert left(changes, 2) == "# Rules\n\n- One.\n- Two.\n- Three.\n"
    assert left(changes, 0, 2) == "# Rules\n\n- One.\n- Three.\n"
    assert left(changes) == changes[-1].after


def test_an_edit_that_later_ones_rest_on_does_not_stand_alone() -> None:
    changes = history(Edit("append", "- Two."), Edit("replace", "- Too.", "- Two."))
    assert left(changes, 0) is None
    assert left(changes, 1) == "# Rules\n\n- One.\n- Two.\n"
    assert left(changes, 0, 1) == START


def test_an_anchor_that_went_is_no_reason_to_append() -> None:
    changes = history(Edit("append", "- Two."), Edit("insert_after", "- Three.", "- Two."))
    assert left(changes, 0) is None


def test_an_anchor_that_was_never_there_stays_so() -> None:
    changes = history(Edit("append", "- Two."), Edit("insert_after", "- Three.", "nowhere"))
    assert left(changes, 0) == "# Rules\n\n- One.\n- Three.\n"


def test_guidance_is_written_again() -> None:
    changes = history(Edit("append", "- Two."), "@Heed.", Edit("append", "- Three."))
    assert left(changes, 0) == with_guidance("# Rules\n\n- One.\n- Three.\n", "Heed.")
    assert left(changes, 1) == "# Rules\n\n- One.\n- Two.\n- Three.\n"


def test_a_persons_commit_is_a_patch() -> None:
    changes = history(Edit("append", "- Two."), "# My rules\n\n- One.\n- Two.\n")
    assert left(changes, 0) == "# My rules\n\n- One.\n"
    assert left(changes, 1) == "# Rules\n\n- One.\n- Two.\n"
    rests = history(Edit("append", "- Two."), "# Rules\n\n- One.\n- Two, by hand.\n")
    assert left(rests, 0) is None


def test_a_rewrite_does_not_bring_back_what_it_kept() -> None:
    changes = history(Edit("append", "- Two."), Edit("rewrite", "# New rules\n\n- One.\n- Two.\n- Three."))
    assert left(changes, 0) is None  # "- Three." was written below it
    changes = history(Edit("append", "- Two."), Edit("rewrite", "# New rules\n\n- One.\n- Two."))
    assert left(changes, 0) == "# New rules\n\n- One.\n"


def test_reminders_are_taken_back_one_by_one() -> None:
    changes = history(Edit("remind", "Mind A."), Edit("remind", "Mind B."))
    block = "<!-- APPENDIX_START -->\n- Mind B.\n<!-- APPENDIX_END -->\n"
    assert left(changes, 0) == f"# Rules\n\n- One.\n\n{block}"


def test_nothing_came_of_nothing() -> None:
    assert left([]) is None
