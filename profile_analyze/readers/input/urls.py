"""Names of inputs that are URLs, such as `s3://bucket/run.json`. Nothing here needs a network."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from os import PathLike

# A scheme has two letters or more: `C://run.json` is a path of Windows. Local files need no URL.
# fsspec takes `::` for a chain of URLs. A chain can open any local file, as `zip://a::/b.zip` does.
# An address of IPv6 also has `::`; `RemotePath` refuses it, too.
_ADDRESS: Final = r"(?:[^/:@]*(?::[^/:@]*)?@)?\[[0-9A-Fa-f:.]*\]"
_URL: Final = rf"(?!(?:file|local)://)[A-Za-z][A-Za-z0-9+.-]+://(?:{_ADDRESS})?(?!.*::)"
_HTTP: Final = r"(?i:https?)://"


def is_url(name: str | PathLike[str]) -> bool:
    """Return whether the name of an input is a URL; False if a local file has this name."""
    text = os.fspath(name)
    return (
        "://" in text and re.match(_URL, text, re.DOTALL) is not None and not os.path.lexists(text)
    )


def is_http(url: str) -> bool:
    """Return whether the scheme of a URL is http or https."""
    return re.match(_HTTP, url) is not None


def is_pattern(url: str) -> bool:
    """Return whether a URL stands for all files that match it, as `s3://runs/*/run.json` does."""
    if is_http(url):  # `?` begins a query, and the name of a host may have brackets
        path, query, _ = url.partition("://")[2].partition("/")[2].partition("?")
        return not query and any(one in path for one in "*[")
    return any(one in url for one in "*?[")


def survives_fork(name: str | PathLike[str]) -> bool:
    """Return whether processes that are forked from this one can read the input `name`."""
    # The driver of HDFS starts a Java virtual machine in this process, and a fork breaks it.
    return not os.fspath(name).startswith(("hdfs://", "arrow_hdfs://"))


def url_in(folder: str, name: str) -> str:
    """Return the URL of the file `name` in a folder."""
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def folder_of(url: str) -> str:
    """Return the URL of the folder of a file, with a slash at its end."""
    path = url.partition("?")[0] if is_http(url) else url
    return path[: path.rindex("/") + 1]
