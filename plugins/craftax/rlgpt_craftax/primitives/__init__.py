"""Collects the primitives that coded actions may call in Craftax. All primitives read only observations, and no
primitive is written for one particular achievement.
"""

from __future__ import annotations

from rlgpt_craftax.primitives.doing import DOING
from rlgpt_craftax.primitives.walking import WALKING

PRIMITIVES = (*WALKING, *DOING)
