"""The sandbox: coded actions run as CPython inside WebAssembly, under limits. Requests are their only effect.

The import is light; WebAssembly's runtime is loaded with the first guest.
"""

from rlgpt.sandbox.functions import Answers, Functions
from rlgpt.sandbox.host import Guest, Sandbox
from rlgpt.sandbox.library import OBSERVE, Library, Signature, ViewDoc
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.lint import faults, lint
from rlgpt.sandbox.stub import render
from rlgpt.sandbox.turns import Ask, Done, Request, Turn

__all__ = [
    "OBSERVE",
    "Answers",
    "Ask",
    "Done",
    "Functions",
    "Guest",
    "Library",
    "Request",
    "Sandbox",
    "SandboxLimits",
    "Signature",
    "Turn",
    "ViewDoc",
    "faults",
    "lint",
    "render",
]
