"""The names of the benchmark's blocks, items, mobs and actions, in the order of their numeric codes. This module
repeats the names of ``craftax``, because ``craftax`` cannot be imported without JAX. A test compares the names in this
module with the enumerations of ``craftax``.
"""

from __future__ import annotations

HEIGHT, WIDTH = 9, 11
"""Size of the visible part of the map, in cells. The player is in the middle."""

DARK = 0
"""Code of a cell that cannot be seen because it is dark."""

BLOCKS = (
    *("dark", "out_of_bounds", "grass", "water", "stone", "tree", "wood", "path", "coal", "iron", "diamond", "table"),
    *("furnace", "sand", "lava", "plant", "ripe_plant", "wall", "darkness", "wall_moss", "stalagmite", "sapphire"),
    *("ruby", "chest", "fountain", "fire_grass", "ice_grass", "gravel", "fire_tree", "ice_shrub"),
    *("enchantment_table_fire", "enchantment_table_ice", "necromancer", "grave", "grave2", "grave3"),
    "necromancer_vulnerable",
)

PASSABLE = frozenset(
    (
        *("grass", "wood", "path", "sand", "darkness", "fire_grass", "ice_grass", "gravel", "ice_shrub"),
        "necromancer_vulnerable",
    )
)
"""Blocks that a player can walk on. Water and lava are not solid, but nobody can walk into them."""

PLAIN = PASSABLE - {"ice_shrub"} | {"dark", "out_of_bounds", "stone", "wall", "wall_moss"}
"""Blocks that the view does not list among the things, because they are the ground and the walls."""

ITEMS = ("none", "torch", "ladder_down", "ladder_up", "ladder_down_blocked")

SIGNS = {
    "dark": "?",
    "out_of_bounds": "X",
    "grass": ".",
    "water": "~",
    "stone": "#",
    "tree": "T",
    "wood": "=",
    "path": "_",
    "coal": "c",
    "iron": "i",
    "diamond": "d",
    "table": "B",
    "furnace": "F",
    "sand": ",",
    "lava": "L",
    "plant": "p",
    "ripe_plant": "P",
    "wall": "W",
    "darkness": " ",
    "wall_moss": "W",
    "stalagmite": "^",
    "sapphire": "s",
    "ruby": "r",
    "chest": "C",
    "fountain": "O",
    "fire_grass": ";",
    "ice_grass": ":",
    "gravel": "g",
    "fire_tree": "Y",
    "ice_shrub": "y",
    "enchantment_table_fire": "E",
    "enchantment_table_ice": "e",
    "necromancer": "N",
    "grave": "G",
    "grave2": "G",
    "grave3": "G",
    "necromancer_vulnerable": "n",
    "torch": "t",
    "ladder_down": ">",
    "ladder_up": "<",
    "ladder_down_blocked": ">",
}
"""Block or item -> the character of the view's map."""

MELEE = ("zombie", "gnome_warrior", "orc_soldier", "lizard", "knight", "troll", "pigman", "frost_troll")
PASSIVE = ("cow", "bat", "snail")
RANGED = (
    *("skeleton", "gnome_archer", "orc_mage", "kobold", "knight_archer", "deep_thing", "fire_elemental"),
    "ice_elemental",
)
MOBS = ("none", *MELEE, *PASSIVE, *(f"passive_{i}" for i in range(3, 8)), *RANGED)
"""The names of the codes in the part ``mob`` of the observation. The game does not use five of these codes."""

SHOTS = (
    "none",
    "arrow",
    "dagger",
    "fireball",
    "iceball",
    "heavy_arrow",
    "slimeball",
    "large_fireball",
    "large_iceball",
)

MONSTERS = frozenset((*MELEE, *RANGED))

INVENTORY = (
    *("wood", "stone", "coal", "iron", "diamond", "sapphire", "ruby", "sapling", "torch", "arrow", "book", "pickaxe"),
    *("sword", "sword_enchantment", "bow_enchantment", "bow"),
)
POTIONS = ("red", "green", "blue", "pink", "cyan", "yellow")
ARMOUR = ("helmet", "chestplate", "leggings", "boots")
BODY = ("health", "food", "drink", "energy", "mana", "xp", "dexterity", "strength", "intelligence")
FLAGS = ("sleeping", "resting", "knows_fireball", "knows_iceball", "ladder_open", "boss_vulnerable")
FLOORS = (
    *("overworld", "dungeon", "gnomish_mines", "sewers", "vault", "troll_mines", "fire_realm", "ice_realm"),
    "graveyard",
)

DIRECTIONS = ("left", "right", "up", "down")
OFFSETS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""The cell next to the player in each direction: right, down."""

ACTIONS = (
    *("noop", "left", "right", "up", "down", "do", "sleep", "place_stone", "place_table", "place_furnace"),
    *("place_plant", "make_wood_pickaxe", "make_stone_pickaxe", "make_iron_pickaxe", "make_wood_sword"),
    *("make_stone_sword", "make_iron_sword", "rest", "descend", "ascend", "make_diamond_pickaxe"),
    *("make_diamond_sword", "make_iron_armour", "make_diamond_armour", "shoot_arrow", "make_arrow", "cast_fireball"),
    *("cast_iceball", "place_torch", "drink_potion_red", "drink_potion_green", "drink_potion_blue"),
    *("drink_potion_pink", "drink_potion_cyan", "drink_potion_yellow", "read_book", "enchant_sword"),
    *("enchant_armour", "make_torch", "level_up_dexterity", "level_up_strength", "level_up_intelligence"),
    "enchant_bow",
)
ACTION = {name: code for code, name in enumerate(ACTIONS)}

ACHIEVEMENTS = (
    *("collect_wood", "place_table", "eat_cow", "collect_sapling", "collect_drink", "make_wood_pickaxe"),
    *("make_wood_sword", "place_plant", "defeat_zombie", "collect_stone", "place_stone", "eat_plant"),
    *("defeat_skeleton", "make_stone_pickaxe", "make_stone_sword", "wake_up", "place_furnace", "collect_coal"),
    *("collect_iron", "collect_diamond", "make_iron_pickaxe", "make_iron_sword", "make_arrow", "make_torch"),
    *("place_torch", "make_diamond_sword", "make_iron_armour", "make_diamond_armour", "enter_gnomish_mines"),
    *("enter_dungeon", "enter_sewers", "enter_vault", "enter_troll_mines", "enter_fire_realm", "enter_ice_realm"),
    *("enter_graveyard", "defeat_gnome_warrior", "defeat_gnome_archer", "defeat_orc_solider", "defeat_orc_mage"),
    *("defeat_lizard", "defeat_kobold", "defeat_troll", "defeat_deep_thing", "defeat_pigman"),
    *("defeat_fire_elemental", "defeat_frost_troll", "defeat_ice_elemental", "damage_necromancer"),
    *("defeat_necromancer", "eat_bat", "eat_snail", "find_bow", "fire_bow", "collect_sapphire", "learn_fireball"),
    *("cast_fireball", "learn_iceball", "cast_iceball", "collect_ruby", "make_diamond_pickaxe", "open_chest"),
    *("drink_potion", "enchant_sword", "enchant_armour", "defeat_knight", "defeat_archer"),
)
"""Spelled as the benchmark spells them."""

MOST_RETURN = 226
"""The sum of the rewards of all achievements: the benchmark's published results are percentages of it."""
