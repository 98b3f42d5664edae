"""Images in messages: what kind of file it is, by its first bytes, and how it travels."""

from __future__ import annotations

import base64
from pathlib import Path

from skillgit.errors import TaskError

KINDS = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
"""First bytes and media type. Providers refuse an image whose type is not what its bytes say, so names do not count."""


def is_url(image: str) -> bool:
    """Whether the provider fetches the image itself."""
    return image.startswith(("http://", "https://"))


def data(image: str) -> tuple[str, str]:
    """(media type, base64) of a file or a ``data:`` URI. Raises TaskError when it is no image or cannot be read."""
    if image.startswith("data:"):
        kind, comma, encoded = image.removeprefix("data:").partition(";base64,")
        if not comma:
            raise TaskError(f"{image[:60]}... is not a data URI of the form data:image/png;base64,...")
        return kind, encoded
    try:
        content = Path(image).read_bytes()
    except OSError as error:
        raise TaskError(f"cannot read the image {image}: {error.strerror}") from None
    return _kind(content, image), base64.b64encode(content).decode("ascii")


def url(image: str) -> str:
    """A URL that a provider can read: an address as it is, a file as a data URI."""
    if is_url(image):
        return image
    return "data:{};base64,{}".format(*data(image))


def _kind(content: bytes, name: str) -> str:
    for start, kind in KINDS:
        if content.startswith(start):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    raise TaskError(f"{name} is not a PNG, JPEG, GIF or WebP image")
