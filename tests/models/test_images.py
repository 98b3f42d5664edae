from __future__ import annotations

from pathlib import Path

import pytest

from skillgit.errors import TaskError
from skillgit.models import images


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_the_kind_follows_from_the_bytes(content: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "image.bin"
    path.write_bytes(content)
    assert images.url(str(path)).startswith(f"data:{kind};base64,")


def test_addresses_and_data_pass_through() -> None:
    for address in ("https://example.org/a.png", "http://localhost/a", "data:image/png;base64,AAAA"):
        assert images.url(address) == address
    assert images.data("data:image/png;base64,AAAA") == ("image/png", "AAAA")


def test_what_is_no_image_is_named(tmp_path: Path) -> None:
    text = tmp_path / "notes.png"
    text.write_text("hello", encoding="utf-8")
    for image, said in (
        (str(text), "notes.png is not a PNG, JPEG, GIF or WebP image"),
        (str(tmp_path / "gone.png"), "cannot read the image .*gone.png: No such file"),
        ("data:text/plain,hello", "is not a data URI of the form"),
    ):
        with pytest.raises(TaskError, match=said):
            images.data(image)
