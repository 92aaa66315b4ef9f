"""Numbers of the game that are no property of a block, an item or a mob.

Read from ``data/constants.csv``, each with its source there: blocks, blocks a tick, ticks. Kernels take them in as
constants.
"""

from __future__ import annotations

from typing import Final

from rlgpt_minecraft.names import rows

_VALUES: Final = {row["name"]: float(row["value"]) for row in rows("constants.csv")}

GRAVITY: Final = _VALUES["gravity"]
AIR_DRAG: Final = _VALUES["air_drag"]
ITEM_GRAVITY: Final = _VALUES["item_gravity"]
GROUND_DRAG: Final = _VALUES["ground_drag"]
WALK_ACCELERATION: Final = _VALUES["walk_acceleration"]
GROUND_FACTOR: Final = _VALUES["ground_factor"]
AIR_ACCELERATION: Final = _VALUES["air_acceleration"]
SPRINT_FACTOR: Final = _VALUES["sprint_factor"]
SNEAK_FACTOR: Final = _VALUES["sneak_factor"]
INPUT_FACTOR: Final = _VALUES["input_factor"]
JUMP_SPEED: Final = _VALUES["jump_speed"]
SPRINT_JUMP_BOOST: Final = _VALUES["sprint_jump_boost"]
JUMP_DELAY: Final = int(_VALUES["jump_delay"])
WATER_DRAG: Final = _VALUES["water_drag"]
LAVA_DRAG: Final = _VALUES["lava_drag"]
FLUID_GRAVITY: Final = _VALUES["fluid_gravity"]
SWIM_UP: Final = _VALUES["swim_up"]
STEP_HEIGHT: Final = _VALUES["step_height"]
PLAYER_WIDTH: Final = _VALUES["player_width"]
PLAYER_HEIGHT: Final = _VALUES["player_height"]
EYE_HEIGHT: Final = _VALUES["eye_height"]
SNEAKING_EYE_HEIGHT: Final = _VALUES["sneaking_eye_height"]
BLOCK_REACH: Final = _VALUES["block_reach"]
ENTITY_REACH: Final = _VALUES["entity_reach"]
MAX_LIFE: Final = int(_VALUES["max_life"])
MAX_FOOD: Final = int(_VALUES["max_food"])
START_SATURATION: Final = int(_VALUES["start_saturation"])
FALL_FREE: Final = int(_VALUES["fall_free"])
MAX_AIR: Final = int(_VALUES["max_air"])
DROWN_EVERY: Final = int(_VALUES["drown_every"])
DROWN_DAMAGE: Final = int(_VALUES["drown_damage"])
LAVA_DAMAGE: Final = int(_VALUES["lava_damage"])
FIRE_DAMAGE: Final = int(_VALUES["fire_damage"])
LAVA_BURN: Final = int(_VALUES["lava_burn"])
FIRE_BURN: Final = int(_VALUES["fire_burn"])
CACTUS_DAMAGE: Final = int(_VALUES["cactus_damage"])
SUFFOCATION_DAMAGE: Final = int(_VALUES["suffocation_damage"])
HURT_INVULNERABLE: Final = int(_VALUES["hurt_invulnerable"])
EXHAUSTION_LIMIT: Final = int(_VALUES["exhaustion_limit"])
EXHAUSTION_SPRINT: Final = _VALUES["exhaustion_sprint"]
EXHAUSTION_JUMP: Final = _VALUES["exhaustion_jump"]
EXHAUSTION_SPRINT_JUMP: Final = _VALUES["exhaustion_sprint_jump"]
EXHAUSTION_SWIM: Final = _VALUES["exhaustion_swim"]
EXHAUSTION_DIG: Final = _VALUES["exhaustion_dig"]
EXHAUSTION_ATTACK: Final = _VALUES["exhaustion_attack"]
EXHAUSTION_DAMAGE: Final = _VALUES["exhaustion_damage"]
EXHAUSTION_HEAL: Final = int(_VALUES["exhaustion_heal"])
HEAL_FOOD: Final = int(_VALUES["heal_food"])
HEAL_EVERY: Final = int(_VALUES["heal_every"])
HEAL_FAST_EVERY: Final = int(_VALUES["heal_fast_every"])
STARVE_EVERY: Final = int(_VALUES["starve_every"])
SPRINT_FOOD: Final = int(_VALUES["sprint_food"])
EAT_TICKS: Final = int(_VALUES["eat_ticks"])
USE_DELAY: Final = int(_VALUES["use_delay"])
DIG_DELAY: Final = int(_VALUES["dig_delay"])
DIG_REQUIRED: Final = int(_VALUES["dig_required"])
DIG_WRONG: Final = int(_VALUES["dig_wrong"])
DIG_WATER: Final = int(_VALUES["dig_water"])
DIG_AIR: Final = int(_VALUES["dig_air"])
SHEARS_LEAVES: Final = int(_VALUES["shears_leaves"])
DAY_TICKS: Final = int(_VALUES["day_ticks"])
ITEM_LIFETIME: Final = int(_VALUES["item_lifetime"])
ITEM_PICKUP_DELAY: Final = int(_VALUES["item_pickup_delay"])
ITEM_THROW_DELAY: Final = int(_VALUES["item_throw_delay"])
ITEM_REACH: Final = _VALUES["item_reach"]
SMELT_TICKS: Final = int(_VALUES["smelt_ticks"])
SEA_LEVEL: Final = int(_VALUES["sea_level"])
LAVA_LEVEL: Final = int(_VALUES["lava_level"])
WATER_DELAY: Final = int(_VALUES["water_delay"])
LAVA_DELAY: Final = int(_VALUES["lava_delay"])
FALL_DELAY: Final = int(_VALUES["fall_delay"])
CURRENT: Final = _VALUES["current"]
LEAVE_FLUID: Final = _VALUES["leave_fluid"]
CLIMB: Final = _VALUES["climb"]
CLIMB_LIMIT: Final = _VALUES["climb_limit"]
WEB: Final = _VALUES["web"]
WEB_DOWN: Final = _VALUES["web_down"]
SOUL_SAND: Final = _VALUES["soul_sand"]
EAT_FACTOR: Final = _VALUES["eat_factor"]
SPRINT_INPUT: Final = _VALUES["sprint_input"]
STILL: Final = _VALUES["still"]
KNOCK: Final = _VALUES["knock"]
SPRINT_KNOCK: Final = _VALUES["sprint_knock"]
SWEEP_KNOCK: Final = _VALUES["sweep_knock"]
STRONG: Final = _VALUES["strong"]
CRITICAL: Final = _VALUES["critical"]
SWEEP_DAMAGE: Final = _VALUES["sweep_damage"]
MOST_ARMOUR: Final = int(_VALUES["most_armour"])
BURN_EVERY: Final = int(_VALUES["burn_every"])
EGG_TICKS: Final = int(_VALUES["egg_ticks"])
