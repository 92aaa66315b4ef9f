"""Parses the XML of missions from clients that are not trusted. The parser refuses document types (and therefore
entities), and limits the size and depth of a document.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from voxeldojo.malmo.errors import MissionError

MAX_ELEMENTS: Final = 20_000
"""Maximal number of elements of a mission. Each ray of the lidar is one element."""
MAX_DEPTH: Final = 32


def parse(data: bytes) -> Element:
    """Parse a document. Return the root element of the document, without the namespaces of tags and attributes.

    :raises MissionError: the data is not XML, declares a document type, or is too large or too deep.
    """
    builder, depth, count = TreeBuilder(), 0, 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MAX_DEPTH or count > MAX_ELEMENTS:
            raise MissionError(
                f"a mission of more than {MAX_ELEMENTS} elements, or {MAX_DEPTH} within each other, is refused"
            )
        builder.start(_local(tag), {_local(name): value for name, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    def doctype(*_: object) -> None:
        raise MissionError("a mission with a document type is refused; remove <!DOCTYPE ...>")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = builder.data, doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise MissionError(f"the mission is not XML: {error}") from error
    return builder.close()


def _local(name: str) -> str:
    return name.rpartition("}")[2]
