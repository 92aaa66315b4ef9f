"""The sandbox runs coded actions in CPython inside WebAssembly, under limits. A coded action can only request
primitives of the environment; it has no other effect.

Importing this package is fast, because the WebAssembly runtime is loaded only with the first guest. A *guest* is the
running WebAssembly program. The *host* is the Python process that runs the guest.
"""

from rlgpt.sandbox.functions import Answers, Functions
from rlgpt.sandbox.host import Guest, Sandbox
from rlgpt.sandbox.library import OBSERVE, Library, Signature, ViewDoc
from rlgpt.sandbox.limits import SandboxLimits
from rlgpt.sandbox.lint import faults, lint
from rlgpt.sandbox.stub import render
from rlgpt.sandbox.turns import Ask, Done, Exhausted, Request, Turn

__all__ = [
    "OBSERVE",
    "Answers",
    "Ask",
    "Done",
    "Exhausted",
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
