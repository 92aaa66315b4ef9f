"""The skills that code may call. None depends on an achievement, and none reads anything but observations."""

from __future__ import annotations

from rlgpt_craftax.primitives.doing import DOING
from rlgpt_craftax.primitives.walking import WALKING

PRIMITIVES = (*WALKING, *DOING)
