"""Numbers of the land generator.

The numbers of the land generator are in ``data/land.csv``, each with its source. The last numbers in ``data/land.csv``
were chosen for this world, because the game has no such number or uses a different rule; the column ``source`` of the
file says so. Kernels (compiled functions) contain the numbers of ``data/land.csv`` as constants.
"""

from __future__ import annotations

from typing import Final

from voxeldojo.names import rows

_VALUES: Final = {row["name"]: float(row["value"]) for row in rows("land.csv")}

FREEZES: Final = _VALUES["freezes"]
COOLS_ABOVE: Final = int(_VALUES["cools_above"])
COOLS_BY: Final = _VALUES["cools_by"]
COOLS_EVERY: Final = _VALUES["cools_every"]
VEIN_LENGTH: Final = _VALUES["vein_length"]
VEIN_THICKNESS: Final = _VALUES["vein_thickness"]
VEIN_TILT: Final = _VALUES["vein_tilt"]
EMERALD_LEAST: Final = int(_VALUES["emerald_least"])
EMERALD_MORE: Final = int(_VALUES["emerald_more"])
EMERALD_LOW: Final = int(_VALUES["emerald_low"])
EMERALD_LAYERS: Final = int(_VALUES["emerald_layers"])
CAVE_BESIDES: Final = _VALUES["cave_besides"]
TUNNEL_SLOPE: Final = _VALUES["tunnel_slope"]
TUNNEL_KEEPS: Final = _VALUES["tunnel_keeps"]
STEEP_KEEPS: Final = _VALUES["steep_keeps"]
TUNNEL_BENDS: Final = _VALUES["tunnel_bends"]
CLIMB_KEEPS: Final = _VALUES["climb_keeps"]
CLIMB_MORE: Final = _VALUES["climb_more"]
TURN_KEEPS: Final = _VALUES["turn_keeps"]
TURN_MORE: Final = _VALUES["turn_more"]
CAVE_FLOOR: Final = _VALUES["cave_floor"]
MOUNTAINS: Final = _VALUES["mountains"]
TREE_LINE: Final = int(_VALUES["tree_line"])
TREE_ROOM: Final = int(_VALUES["tree_room"])
VEIN_SINK: Final = _VALUES["vein_sink"]
VEIN_BALLS: Final = int(_VALUES["vein_balls"])
TUNNEL_LENGTH: Final = int(_VALUES["tunnel_length"])
TUNNEL_RADIUS: Final = _VALUES["tunnel_radius"]
TUNNEL_ENDS: Final = _VALUES["tunnel_ends"]
TUNNEL_WIDER: Final = _VALUES["tunnel_wider"]
TUNNEL_WIDENS: Final = _VALUES["tunnel_widens"]
TUNNEL_WIDEST: Final = _VALUES["tunnel_widest"]
STEEP_SHARE: Final = _VALUES["steep_share"]
CAVE_CHUNKS: Final = _VALUES["cave_chunks"]
CAVE_MORE: Final = _VALUES["cave_more"]
CAVE_CROWD: Final = int(_VALUES["cave_crowd"])
CAVE_CROWD_SHARE: Final = _VALUES["cave_crowd_share"]
CAVE_LOW: Final = _VALUES["cave_low"]
CAVE_LAYERS: Final = _VALUES["cave_layers"]
CAVE_FORKS: Final = _VALUES["cave_forks"]
ROOM_SHARE: Final = _VALUES["room_share"]
ROOM_RADIUS: Final = _VALUES["room_radius"]
ROOM_WIDER: Final = _VALUES["room_wider"]
ROOM_HEIGHT: Final = _VALUES["room_height"]
CAVE_ROOF: Final = int(_VALUES["cave_roof"])
MOUTH_SCALE: Final = _VALUES["mouth_scale"]
MOUTH_ABOVE: Final = _VALUES["mouth_above"]
POOL_SHARE: Final = _VALUES["pool_share"]
POOL_WATER: Final = _VALUES["pool_water"]
POOL_RADIUS: Final = int(_VALUES["pool_radius"])
POOL_WIDER: Final = _VALUES["pool_wider"]
POOL_FIRST: Final = int(_VALUES["pool_first"])
POOL_PLACES: Final = _VALUES["pool_places"]
POOL_TILT: Final = int(_VALUES["pool_tilt"])
POOL_DRY: Final = _VALUES["pool_dry"]
POOL_BRIM: Final = _VALUES["pool_brim"]
POOL_JAG: Final = _VALUES["pool_jag"]
POOL_JAG_OUT: Final = _VALUES["pool_jag_out"]
POOL_DEPTH: Final = _VALUES["pool_depth"]
POOL_WALL: Final = int(_VALUES["pool_wall"])
