"""Make training history the way the loop does, without models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from skillgit.git.history import SkillHistory
from skillgit.git.publish import Publication, publish
from skillgit.git.repo import Repo
from skillgit.git.trailers import CommitMessage
from skillgit.skill import Edit, apply_edits


class Trainer:
    """Publishes steps whose edits append lines. Scores are ``hard`` over ten tasks."""

    def __init__(self, folder: Path, name: str = "demo", *, start: str = "HEAD", run: int = 1) -> None:
        self.repo = Repo.discover(folder)
        self.history = SkillHistory(self.repo, name)
        self.run, self.number, self.epoch = run, 0, 1
        tip = self.history.tip()
        self.tip = tip or self.history.start(start)
        self.current: dict[str, Any] = self.version(self.tip, 0.5)
        self.best = self.current
        best = (self.tip, self.history.best())
        self.publish({"kind": "baseline", "epoch": 0}, "baseline", branch=(self.tip, tip), best=best)

    def version(self, commit: str, hard: float) -> dict[str, Any]:
        values = {"hard": hard, "soft": hard, "n": 10, "step": self.number}
        return {"commit": commit, "blob": self.history.blob(commit), **values}

    def publish(
        self, record: Mapping[str, Any], subject: str, files: Mapping[str, str] = MappingProxyType({}), **more: Any
    ) -> str:
        whole = {"run": self.run, "step": self.number, "action": "accept", **record}
        whole = {**whole, "current": self.current, "best": self.best}
        kept = {"record.yaml": yaml.safe_dump(whole, sort_keys=False), "config.yaml": "gate: {metric: hard}\n", **files}
        return publish(self.repo, self.history, Publication(kept, f"{self.history.name}: {subject}", **more))

    def trailers(self, **more: str) -> dict[str, str]:
        return {
            "Skill-Run": str(self.run),
            "Skill-Epoch": str(self.epoch),
            **({} if "Kind" in more else {"Skill-Step": str(self.number)}),
            **{f"Skill-{key}": value for key, value in more.items()},
        }

    def verdict(self, action: str, after: float, best: float) -> dict[str, Any]:
        return {
            "action": action,
            "policy": "strict",
            "reason": "higher" if action != "reject" else "not higher",
            "before": self.current["hard"],
            "after": after,
            "best": best,
        }

    def step(self, *lines: str, hard: float = 0.6) -> str:
        """One step that tries the lines, each an edit; accepted when ``hard`` is above the current score."""
        self.number += 1
        edits = [Edit("append", f"{line}\n", title=f"Say {line}") for line in lines]
        applied = apply_edits(self.history.text(self.tip), edits)
        rows = [{**report.edit.as_dict(), "status": report.status} for report in applied.reports]
        return self.judge(applied.texts, rows, hard)

    def judge(self, texts: Sequence[str], rows: Sequence[dict[str, Any]], hard: float) -> str:
        """Publish a step with these texts, one after each applied edit."""
        before, old_best = self.current, self.best
        action = "reject" if hard <= before["hard"] else "accept_new_best" if hard > old_best["hard"] else "accept"
        candidate = {"blob": self.repo.write_blob(texts[-1].encode()), "hard": hard, "soft": hard, "n": 10}
        record = {
            "kind": "step",
            "epoch": self.epoch,
            "action": action,
            "candidate": {**candidate, "upper_bound": False},
        }
        record["verdict"] = self.verdict(action, hard, old_best["hard"])
        rows = [dict(row) for row in rows]
        more: dict[str, Any] = {"notes": {"scores": {candidate["blob"]: f'{{"step": {self.number}}}\n'}}}
        if action == "reject":
            more["notes"]["rejected"] = {self.tip: f"---\nrun: {self.run}\nstep: {self.number}\nkind: step\n"}
        else:
            commits = self.history.edit_commits(self.tip, texts, self.messages(rows, action, hard))
            for row, commit in zip((row for row in rows if row["status"] == "applied"), commits, strict=True):
                row["commit"] = commit
            more["branch"], self.tip = (commits[-1], self.tip), commits[-1]
            self.current = self.version(self.tip, hard)
        if action == "accept_new_best":
            more["best"], self.best = (self.tip, old_best["commit"]), self.current
        return self.publish(record, f"step {self.number} {action}", self.files(texts[-1], rows), **more)

    def files(self, candidate: str, rows: Sequence[Mapping[str, Any]] = ()) -> dict[str, str]:
        return {"candidate.md": candidate, "patch.yaml": yaml.safe_dump(list(rows), sort_keys=False)}

    def messages(self, rows: Sequence[Mapping[str, Any]], action: str, hard: float) -> list[CommitMessage]:
        applied = [row for row in rows if row["status"] == "applied"]
        score = f"hard {self.current['hard']:.4f} -> {hard:.4f}, soft 0.0000 -> 0.0000 (10 tasks)"
        found = []
        for place, row in enumerate(applied, 1):
            extra = {"Score": score, "Gate": f"{action} strict"} if place == len(applied) else {}
            trailers = self.trailers(Edit=f"{place}/{len(applied)}", Op=row["op"], **extra)
            found.append(CommitMessage(row["title"], "Because it helped.", trailers))
        return found

    def end_epoch(self, text: str, hard: float = 0.7) -> str:
        """A meta-update that makes the document ``text``, accepted when ``hard`` is above the current score."""
        before, old_best = self.current, self.best
        side = self.history.edit_commits(self.tip, [text], [CommitMessage("slow update")])[-1]
        action = "reject" if hard <= before["hard"] else "accept_new_best" if hard > old_best["hard"] else "accept"
        candidate = {"blob": self.history.blob(side), "hard": hard, "soft": hard, "n": 10, "upper_bound": False}
        record = {"kind": "epoch", "epoch": self.epoch, "action": action, "candidate": candidate}
        record["verdict"] = self.verdict(action, hard, old_best["hard"])
        more: dict[str, Any] = {"epoch": (f"{self.run}-{self.epoch}", side)}
        more["notes"] = {"scores": {candidate["blob"]: f'{{"epoch": {self.epoch}}}\n'}}
        if action == "reject":
            more["notes"]["rejected"] = {self.tip: f"---\nrun: {self.run}\nstep: {self.number}\nkind: epoch\n"}
        else:
            trailers = self.trailers(Kind="epoch", Gate=f"{action} strict")
            message = CommitMessage(f"epoch {self.epoch} meta-update (squash merge)", "", trailers)
            commit = self.history.squash(self.tip, side, message)
            more["branch"], self.tip = (commit, self.tip), commit
            more["notes"]["meta"] = {commit: "Advice.\n"}
            self.current = self.version(commit, hard)
        if action == "accept_new_best":
            more["best"], self.best = (self.tip, old_best["commit"]), self.current
        entry = self.publish(record, f"epoch {self.epoch} {action}", self.files(text), **more)
        self.epoch += 1
        return entry

    def person(self, text: str, message: str = "A person's edit") -> str:
        """A commit without trailers on the branch."""
        commit = self.repo.write_commit(
            self.repo.replace_file(self.tip, self.history.path, self.repo.write_blob(text.encode())),
            [self.tip],
            message,
        )
        self.repo.git("update-ref", self.history.branch, commit, self.tip)
        self.tip = commit
        return commit
