"""What the course's server asks of a request first: whom it is for, where it ends, and what the browser takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from email.message import Message
from http import HTTPStatus
from urllib.parse import urlsplit

__all__ = ["body_length", "objection", "takes_gzip"]

#: What this machine calls itself. The port may be another one: that of a tunnel which ends here.
NAMES = re.compile(r"(?:localhost\.?|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
TOKEN = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)  # what a header may be called; no space before its colon
LARGEST_BODY = 1 << 20  # bytes that come with a request, and mean nothing, before it is refused

ELSEWHERE = (
    "this course is served to its own machine only, as 127.0.0.1 or localhost; "
    "for others, put it on a web host: gradwalk learn --export DIR"
)
WEIGHED = re.compile(
    r"\s*([\w*-]+)\s*(?:;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?", re.ASCII | re.IGNORECASE
)


def objection(target: str, version: str, headers: Message) -> tuple[HTTPStatus, str] | None:
    """Why a request is not answered, as a status and a sentence; None if it may be.

    A page from elsewhere can have its own name point at this machine, and would then be served as one of ours; but its
    browser still asks for that name.

    >>> from email import message_from_string
    >>> objection("/", "HTTP/1.1", message_from_string("Host: localhost:8264")) is None
    True
    >>> objection("/", "HTTP/1.1", message_from_string("Host: evil.example"))[0].name
    'MISDIRECTED_REQUEST'
    """
    if body_length(headers) is None:
        return HTTPStatus.BAD_REQUEST, "a request without a body, please"
    asked: Sequence[str] = headers.get_all("Host", [])
    try:
        there = urlsplit(target)
    except ValueError:
        return HTTPStatus.BAD_REQUEST, "this is no address"
    if there.scheme or there.netloc:  # an address in full counts, whatever the header says
        asked = [there.netloc]
    if len(asked) > 1 or (not asked and version != "HTTP/1.0"):
        return HTTPStatus.BAD_REQUEST, "a request with one Host, please"
    if asked and not NAMES.fullmatch(asked[0].strip()):
        return HTTPStatus.MISDIRECTED_REQUEST, ELSEWHERE
    return None


def body_length(headers: Message) -> int | None:
    """How many bytes follow the headers; None if that is not clear, or too many.

    >>> from email import message_from_string
    >>> [body_length(message_from_string(text)) for text in ("", "Content-Length: 5", "Content-Length: +5")]
    [0, 5, None]
    """
    told = {length.strip() for length in headers.get_all("Content-Length", [])}
    if headers.get_all("Transfer-Encoding") or len(told) > 1 or not _clear(headers):
        return None
    length = told.pop() if told else "0"
    return int(length) if re.fullmatch(r"[0-9]{1,9}", length) and int(length) <= LARGEST_BODY else None


def _clear(headers: Message) -> bool:
    """Whether every line was a header of its own: people differ on what others mean, and behind them nobody looked."""
    sound = all(TOKEN.fullmatch(name) and "\n" not in text for name, text in headers.items())
    return sound and not headers.defects and not headers.get_payload()


def takes_gzip(headers: Message) -> bool:
    """Whether a browser takes gzip, and likes it no less than the file as it is.

    >>> from email import message_from_string
    >>> [takes_gzip(message_from_string(f"Accept-Encoding: {text}")) for text in ("br, gzip", "gzip;q=0", "*;q=0.1")]
    [True, False, True]
    """
    weights: dict[str, float] = {}
    for part in ",".join(headers.get_all("Accept-Encoding", [])).split(","):
        found = WEIGHED.fullmatch(part)
        if found:
            weights[found[1].lower()] = float(found[2] or 1)
    others = weights.get("*", 0.0)
    gzip = weights.get("gzip", weights.get("x-gzip", others))
    return gzip > 0 and gzip >= weights.get("identity", others)
