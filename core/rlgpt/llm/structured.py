"""Asks a language model for a reply with a given schema. The value of the reply is extracted from its text and
validated. If a reply is unusable, the model is asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, overload

from pydantic import BaseModel, ValidationError

from rlgpt.errors import LLMError, UnusableReplyError
from rlgpt.llm.base import LLM, Message, Reply, Request
from rlgpt.llm.extract import REPLY_LIMIT, find
from rlgpt.llm.instructions import CODE_FIELD, format_instructions, takes_code

__all__ = ["Answer", "UnreadableError", "ask", "complaints_of", "format_instructions", "read"]

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_QUOTED = 20_000
"""Maximal number of characters of an unusable reply that are sent back to the model."""
_COMPLAINTS, _COMPLAINT = 20, 500
"""Maximal number of complaints that are sent back to the model, and their maximal length in characters."""

_REFUSALS = re.compile(
    r"\W*(i['\u2019]?m sorry|sorry|i apologi|i can(no|['\u2019])t|i am unable|i['\u2019]m unable|as an ai)", re.I
)


class Answer(NamedTuple, Generic[T]):
    """The value of the usable reply, and all replies to the request, of which the usable one is the last."""

    parsed: T
    replies: tuple[Reply, ...]


class UnreadableError(LLMError):
    """A reply cannot be used. ``complaints`` has the reasons, in words for the model.

    :ivar rest: the value of the reply with defaults instead of the faulty fields, so that the other fields can be
        checked too; None if a faulty field has no default.
    """

    def __init__(self, complaints: Sequence[str], rest: BaseModel | None = None) -> None:
        self.complaints, self.rest = tuple(complaints), rest
        super().__init__("; ".join(complaints))


@overload
def ask(llm: LLM, request: Request, schema: type[M], *, retries: int = 2) -> Answer[M]: ...
@overload
def ask(llm: LLM, request: Request, schema: type[M], accept: Callable[[M], T], retries: int = 2) -> Answer[T]: ...
def ask(
    llm: LLM, request: Request, schema: type[M], accept: Callable[[M], Any] | None = None, retries: int = 2
) -> Answer[Any]:
    """Ask the language model until a reply fits ``schema`` and ``accept`` accepts its value, at most ``1 + retries``
    times.

    An unusable reply is sent back to the model with a description of its faults. In the key of this further request,
    ``ask`` is larger by one. The prompt must describe the form of the reply with the text of
    :func:`format_instructions`.

    :param accept: a function that turns the parsed reply into the value that ``ask`` returns. By default, ``ask``
        returns the parsed reply itself. The function ``accept`` raises :class:`UnreadableError` with complaints for the
        model, for example about an unknown primitive.
    :raises UnusableReplyError: the reply of the last try was unusable. A resumed run asks the model again.
    """
    replies: list[Reply] = []
    messages = request.messages
    complaints: Sequence[str] = ()
    for number in range(retries + 1):
        key = request.key.model_copy(update={"ask": request.key.ask + number})
        reply = llm.complete(request.model_copy(update={"key": key, "messages": messages}))
        replies.append(reply)
        try:
            parsed = read(reply, schema)
            return Answer(parsed if accept is None else accept(parsed), tuple(replies))
        except UnreadableError as fault:
            complaints = (*fault.complaints, *_further(fault.rest, accept))
        messages = (*messages, *_follow_up(reply, complaints, schema))
    key = request.key
    llm.forget(key)
    who = f"{key.role}{f' on {key.sub_action!r}' if key.sub_action else ''}, iteration {key.iteration}"
    raise UnusableReplyError(
        f"no usable reply from {replies[-1].model} ({who}) in {len(replies)} tries. The last reply was refused because "
        f"{'; '.join(complaints)[:1500]}. It begins with {replies[-1].text[:120]!r}. Resume the run to ask again, "
        f"or choose another model (llm.model=...)."
    )


def read(reply: Reply, schema: type[M]) -> M:
    """Read the first JSON object in ``reply`` that fits ``schema``. If the schema has a field for code, and the object
    itself has no code, the code comes from the fenced Python block.

    :raises UnreadableError: the reply is empty, is a refusal, is too long, or contains no JSON object that fits the
        schema.
    """
    text = reply.text
    filtered = reply.finish_reason in ("content_filter", "refusal")
    if not text.strip() and not filtered:
        raise UnreadableError(
            ["it was empty" if reply.finish_reason != "length" else "it ran out of tokens before any text"]
        )
    if len(text) > REPLY_LIMIT:
        raise UnreadableError([f"it was longer than {REPLY_LIMIT:,} characters; be far briefer"])
    found = find(text)
    candidates = [c for o in found.objects for c in (o, *_wrapped(o))]
    if takes_code(schema):
        candidates = [_with_code(c, found.code) for c in candidates]
    faults: list[tuple[int, ValidationError, dict[str, Any]]] = []
    for candidate in candidates:
        try:
            return _validated(candidate, schema)
        except ValidationError as fault:
            faults.append((len(candidate.keys() & schema.model_fields.keys()), fault, candidate))
    if faults:
        _, nearest, candidate = max(faults, key=lambda found: found[0])
        raise UnreadableError(complaints_of(nearest, schema), _rest(candidate, nearest, schema))
    if filtered or _REFUSALS.match(text):
        raise UnreadableError(["it declined to answer instead of giving the JSON object"])
    if found.fault:
        raise UnreadableError([f"its JSON could not be read: {found.fault}"])
    raise UnreadableError(["there was no JSON object in it"])


def _rest(candidate: dict[str, Any], fault: ValidationError, schema: type[M]) -> M | None:
    wrong = {error["loc"][0] for error in fault.errors() if error["loc"]}
    try:
        return schema.model_validate({name: value for name, value in candidate.items() if name not in wrong})
    except ValidationError:
        return None


def _further(rest: Any, accept: Callable[[Any], Any] | None) -> Sequence[str]:
    """The faults that the function ``accept`` finds in the valid fields of a faulty reply. All faults of a reply are
    reported together, because otherwise a model would need a separate request for each fault.
    """
    if rest is None or accept is None:
        return ()
    try:
        accept(rest)
    except UnreadableError as fault:
        return fault.complaints
    return ()


def complaints_of(fault: ValidationError, schema: type[BaseModel]) -> list[str]:
    """Describe the faults of a reply's value for the language model, with one line for each field. Only the first eight
    faults of a reply are listed.

    :param schema: the schema that the reply should fit.
    """
    lines = []
    for error in fault.errors(include_url=False)[:8]:
        where = ".".join(map(str, error["loc"])) or "the object"
        given = repr(error["input"])
        if error["type"] == "extra_forbidden":
            lines.append(f"{where}: there is no such field")
        elif error["type"] == "missing" and where == CODE_FIELD and takes_code(schema):
            lines.append("the ```python block is missing or broke off")
        elif error["type"] == "missing":
            lines.append(f"{where}: this field is missing")
        else:
            message = error["msg"].removeprefix("Value error, ")
            lines.append(f"{where}: {message} (got {given if len(given) <= 80 else given[:77] + '...'})")
    if any(e["type"] in ("extra_forbidden", "missing") and len(e["loc"]) == 1 for e in fault.errors()):
        lines.append(f"the fields are {', '.join(schema.model_fields)}")
    return lines


def _wrapped(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Models often write the whole reply under a single key, such as ``plan``. The result is a list with the JSON
    object under this key; empty if ``value`` has no such form.
    """
    return [v for v in value.values() if isinstance(v, dict)] if len(value) == 1 else []


def _with_code(value: dict[str, Any], code: str | None) -> dict[str, Any]:
    given = value.get(CODE_FIELD)
    if code is None or (isinstance(given, str) and "def " in given):
        return value
    return {**value, CODE_FIELD: code}


def _validated(value: dict[str, Any], schema: type[M]) -> M:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError) as fault:
        # pydantic accepts lone surrogates, but a UTF-8 file cannot contain them.
        raise UnreadableError(["it contains escapes that are not Unicode text"]) from fault
    return schema.model_validate(value)


def _follow_up(reply: Reply, complaints: Sequence[str], schema: type[BaseModel]) -> tuple[Message, Message]:
    shown = reply.text if len(reply.text) <= _QUOTED else f"{reply.text[:_QUOTED]}\n[... cut]"
    lines = [f"- {c if len(c) <= _COMPLAINT else c[: _COMPLAINT - 3] + '...'}" for c in complaints[:_COMPLAINTS]]
    if left_out := len(complaints) - len(lines):
        lines.append(f"- {left_out} more faults are left out here")
    listed = "\n".join(lines)
    form = "the JSON object and the ```python block" if takes_code(schema) else "the JSON object"
    return (
        Message(role="assistant", content=shown.strip() or "(empty)"),
        Message(
            role="user", content=f"Your reply cannot be used:\n{listed}\nAnswer again, whole: {form}, as asked for."
        ),
    )
