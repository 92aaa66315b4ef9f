"""Makes Malmo's JSON, with the keys that MineDojo reads and further keys for users of MineDojo.

The keys are those of ``Utils/JSONWorldDataHelper`` and ``ObservationFrom...Implementation`` of Malmo in MineDojo 0.1.
MineDojo reads the newest damage at the top level of the JSON, but Malmo writes the damage to ``damage_source``. This
module writes the newest damage both to the top level of the JSON and to ``damage_source``.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from voxeldojo.scalars import FLAGS, FLOATS, INTEGERS, ScalarObservation
from voxeldojo.spaces import DAMAGE, DAMAGE_KINDS
from voxeldojo.world.biomes import NAMES
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.state import World

VOXEL_KEYS = (
    *("block_name", "block_meta", "is_collidable", "is_tool_not_required", "blocks_movement", "is_liquid"),
    *("is_solid", "can_burn", "blocks_light", "cos_look_vec_angle"),
)
"""The values of a block, in Malmo's order."""
RAY_KEYS = (
    *("block_name", "block_distance", "block_meta", "harvest_level", "is_tool_not_required", "blocks_movement"),
    *("is_liquid", "is_solid", "can_burn", "entity_name", "entity_distance", "ray_pitch", "ray_yaw"),
    *("traced_block_x", "traced_block_y", "traced_block_z"),
)
"""The values of a ray, in Malmo's order."""

PLAYER_NAME = "MineDojoAgent0"
_TITLES = {number: name.replace("_", " ").title() for number, name in NAMES.items()}


def inventory(scalars: ScalarObservation) -> list[dict[str, Any]]:
    """Return the content of all 41 slots of the inventory."""
    quantities, most, left = scalars.amounts.astype(int).tolist()
    items, variants = scalars.kinds.tolist()
    return [
        {
            "name": ITEM_NAMES[item],
            "variant": variant,
            "quantity": quantity,
            "max_durability": new,
            "cur_durability": now,
            "index": index,
            "inventory": "inventory",
        }
        for index, (item, variant, quantity, new, now) in enumerate(
            zip(items, variants, quantities, most, left, strict=True)
        )
    ]


def facts(world: World, scalars: ScalarObservation) -> dict[str, Any]:
    """Return all values of Malmo's JSON except statistics, voxels and rays."""
    number = dict(zip(FLOATS, scalars.floats.tolist(), strict=True))
    flag = dict(zip(FLAGS, scalars.flags.tolist(), strict=True))
    whole = dict(zip(INTEGERS, scalars.integers.tolist(), strict=True))
    player, clock = world.player[0], world.clock[0]
    alive = bool(number["life"] > 0 and not player["dead"])
    blow: dict[str, Any] = {name: number[name] for name in DAMAGE}
    blow.update((name, flag[name]) for name in DAMAGE_KINDS)
    return {
        "life": number["life"],
        "armor": int(number["armor"]),
        "score": int(number["xp"]),
        "food": int(number["food"]),
        "saturation": number["saturation"],
        "xp": int(number["xp"]),
        "is_alive": alive,
        "is_dead": not alive,
        "air": int(number["oxygen"]),
        "name": PLAYER_NAME,
        "is_sleeping": bool(whole["is_sleeping"]),
        "xpos": float(player["x"]),
        "ypos": float(player["y"]),
        "zpos": float(player["z"]),
        "pitch": float(player["pitch"]),
        "yaw": float(player["yaw"]),
        "biome_name": _TITLES[whole["biome_id"]],
        "biome_id": whole["biome_id"],
        "biome_temperature": number["temperature"],
        "biome_rainfall": number["rainfall"],
        "sea_level": int(number["sea_level"]),
        "light_level": int(number["light_level"]),
        "is_raining": bool(whole["is_raining"]),
        "can_see_sky": bool(whole["can_see_sky"]),
        "sun_brightness": number["sun_brightness"],
        "sky_light_level": number["sky_light_level"],
        "world_time": int(clock["time"]),
        "total_time": int(clock["tick"]),
        "nearby_crafting_table": flag["table"],
        "nearby_furnace": flag["furnace"],
        "current_item_index": int(player["selected"]),
        "inventory": inventory(scalars),
        **blow,
        "damage_source": {**blow, "damage_amout": blow["damage_amount"]},  # Malmo has this spelling
    }


def flat_voxels(voxels: dict[str, Any]) -> list[Any]:
    """Return an observation's ``voxels`` as Malmo's list of blocks, in which x changes fastest, then y, then z."""
    columns = [voxels[key].ravel(order="F").tolist() for key in VOXEL_KEYS]
    return list(chain.from_iterable(zip(*columns, strict=True)))


def flat_rays(rays: dict[str, Any]) -> list[Any]:
    """Return an observation's ``rays`` as Malmo's list of rays. In Malmo's list of rays, entities have the class names
    of the game.
    """
    columns = [rays[key].tolist() for key in RAY_KEYS]
    names = columns[RAY_KEYS.index("entity_name")]
    names[:] = [name if name == "null" else f"Entity{name.capitalize()}" for name in names]
    return list(chain.from_iterable(zip(*columns, strict=True)))
