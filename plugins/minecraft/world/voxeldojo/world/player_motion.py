"""Moves the player in one tick, on the ground, in the air, in water and in lava.

In a tick, the input first accelerates the player's body, then the body moves, and then gravity and drag act. The order
of the steps of the motion is that of the game (``EntityPlayerSP.onLivingUpdate``,
``EntityLivingBase.moveEntityWithHeading``, ``Entity.move``, 1.11.2; minecraft.wiki, Transportation). On the ground the
player's speed converges to ``0.098 / (1 - 0.91 * 0.6)`` = 0.2159 blocks per tick, 4.317 m/s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.blocks import LIQUID, SLIPPERINESS, WATER
from voxeldojo.world.collide import block_at, limit, overlaps, slide
from voxeldojo.world.constants import (
    AIR_ACCELERATION,
    AIR_DRAG,
    CLIMB,
    CLIMB_LIMIT,
    CURRENT,
    EAT_FACTOR,
    EDGE_STEP,
    EXHAUSTION_JUMP,
    EXHAUSTION_MOST,
    EXHAUSTION_SPRINT,
    EXHAUSTION_SPRINT_JUMP,
    EXHAUSTION_SWIM,
    FLUID_GRAVITY,
    GRAVITY,
    GROUND_DRAG,
    GROUND_FACTOR,
    INPUT_FACTOR,
    JUMP_DELAY,
    JUMP_SPEED,
    LAVA_DRAG,
    LAVA_FALL,
    LEAST_INPUT,
    LEAVE_FLUID,
    PLAYER_HEIGHT,
    PLAYER_WIDTH,
    SLOWNESS_FACTOR,
    SNEAK_FACTOR,
    SOUL_SAND,
    SPRINT_FACTOR,
    SPRINT_FOOD,
    SPRINT_INPUT,
    SPRINT_JUMP_BOOST,
    STEP_HEIGHT,
    STILL,
    SWIM_UP,
    WALK_ACCELERATION,
    WATER_DRAG,
    WEB,
    WEB_DOWN,
)
from voxeldojo.world.contact import IN_LAVA, IN_WATER, IN_WEB, ON_SOUL_SAND, climbs, head_in, touched
from voxeldojo.world.fluids import current
from voxeldojo.world.jit import jit
from voxeldojo.world.state import World

HALF = PLAYER_WIDTH / 2


@jit
def turn(world: World, yaw: float, pitch: float) -> None:
    """Turn the player's view direction by ``yaw`` and ``pitch`` degrees. The yaw after the turn is in [-180, 180), the
    pitch after the turn in [-90, 90]. NaN has no effect.
    """
    p = world.player[0]
    if math.isfinite(yaw):
        p.yaw = (p.yaw + yaw + 180.0) % 360.0 - 180.0
    if math.isfinite(pitch):
        p.pitch = min(90.0, max(-90.0, p.pitch + pitch))


@jit
def exhaust(world: World, amount: float) -> None:
    """Increase the player's exhaustion, up to ``EXHAUSTION_MOST``."""
    p = world.player[0]
    p.exhaustion = min(EXHAUSTION_MOST, p.exhaustion + amount)


@jit
def _accelerate(world: World, strafe: float, forward: float, amount: float) -> None:
    """Accelerate the player according to the movement keys, relative to the view direction
    (``Entity.moveRelative``).
    """
    p = world.player[0]
    length = strafe * strafe + forward * forward
    if length < LEAST_INPUT:
        return
    scale = amount / max(1.0, math.sqrt(length))
    sin, cos = math.sin(math.radians(p.yaw)), math.cos(math.radians(p.yaw))
    p.vx += (strafe * cos - forward * sin) * scale
    p.vz += (forward * cos + strafe * sin) * scale


@jit
def _over_edge(world: World, dx: float, dz: float) -> bool:
    """Return whether, after the move, no block would be within one block below the player's feet."""
    p = world.player[0]
    return not overlaps(world.blocks, p.x + dx, p.y - 1.0, p.z + dz, HALF, PLAYER_HEIGHT)


@jit
def _shorten(move: float) -> float:
    return 0.0 if abs(move) <= EDGE_STEP else move - EDGE_STEP if move > 0 else move + EDGE_STEP


@jit
def move(world: World, dx: float, dy: float, dz: float) -> None:
    """Move the player's body with collisions. The player's body climbs steps of up to 0.6 blocks. A sneaking player
    does not move over an edge.

    The function ``move`` updates ``on_ground``, ``bumped`` and ``fall``, and sets the speed along blocked axes to 0.
    """
    p = world.player[0]
    blocks = world.blocks
    if p.on_ground and p.sneaking:
        while dx != 0.0 and _over_edge(world, dx, 0.0):
            dx = _shorten(dx)
        while dz != 0.0 and _over_edge(world, 0.0, dz):
            dz = _shorten(dz)
        while dx != 0.0 and dz != 0.0 and _over_edge(world, dx, dz):
            dx, dz = _shorten(dx), _shorten(dz)
    start_x, start_y, start_z = p.x, p.y, p.z
    x, y, z = slide(blocks, start_x, start_y, start_z, HALF, PLAYER_HEIGHT, dx, dy, dz)
    landed = dy < 0 and y != start_y + dy
    if (p.on_ground or landed) and (x != start_x + dx or z != start_z + dz):
        low, high = (start_x - HALF, start_y, start_z - HALF), (start_x + HALF, start_y + PLAYER_HEIGHT, start_z + HALF)
        up = limit(blocks, 1, STEP_HEIGHT, low, high)
        step_x, step_y, step_z = slide(blocks, start_x, start_y + up, start_z, HALF, PLAYER_HEIGHT, dx, 0.0, dz)
        step_x, step_y, step_z = slide(blocks, step_x, step_y, step_z, HALF, PLAYER_HEIGHT, 0.0, min(dy, 0.0) - up, 0.0)
        if abs(step_x - start_x) + abs(step_z - start_z) > abs(x - start_x) + abs(z - start_z):
            x, y, z = step_x, step_y, step_z
    stopped_x, stopped_z = x != start_x + dx, z != start_z + dz
    stopped_y = landed or (dy != 0.0 and y != start_y + dy)
    p.bumped = stopped_x or stopped_z
    p.on_ground = stopped_y and dy < 0
    if stopped_x:
        p.vx = 0.0
    if stopped_z:
        p.vz = 0.0
    if stopped_y:
        p.vy = 0.0
    if y < start_y:
        p.fall += start_y - y
    p.x, p.y, p.z = x, y, z


@jit
def _sprint(world: World, forward: float, wanted: bool) -> None:
    """Start or end a sprint. A sprint continues without the sprint key until the player is blocked, stops or is
    hungry.
    """
    p = world.player[0]
    able = forward >= SPRINT_INPUT and p.food > SPRINT_FOOD and p.use_ticks == 0
    if p.sprinting:
        p.sprinting = able and not p.bumped
    elif wanted and able:
        p.sprinting = True


@jit
def _jump(world: World) -> None:
    p = world.player[0]
    p.vy = JUMP_SPEED
    p.jump_delay = JUMP_DELAY
    if p.sprinting:
        p.vx -= math.sin(math.radians(p.yaw)) * SPRINT_JUMP_BOOST
        p.vz += math.cos(math.radians(p.yaw)) * SPRINT_JUMP_BOOST
    exhaust(world, EXHAUSTION_SPRINT_JUMP if p.sprinting else EXHAUSTION_JUMP)


@jit
def _free(world: World, x: float, y: float, z: float) -> bool:
    """Return whether the player's body at a position would touch neither a block nor a fluid."""
    for cx in range(math.floor(x - HALF), math.ceil(x + HALF)):
        for cz in range(math.floor(z - HALF), math.ceil(z + HALF)):
            for cy in range(math.floor(y), math.ceil(y + PLAYER_HEIGHT)):
                if LIQUID[block_at(world.blocks, cx, cy, cz)]:
                    return False
    return not overlaps(world.blocks, x, y, z, HALF, PLAYER_HEIGHT)


@jit
def _swim(world: World, strafe: float, forward: float, drag: float) -> None:
    """Move for one tick in a fluid. The player is slow and sinks. If a wall is ahead, the player swims up over the edge
    of the wall.
    """
    p = world.player[0]
    before = p.y
    _accelerate(world, strafe, forward, AIR_ACCELERATION)
    move(world, p.vx, p.vy, p.vz)
    p.vx *= drag
    p.vy = p.vy * drag - FLUID_GRAVITY
    p.vz *= drag
    # Slightly higher, there is neither a block nor a fluid: the player can leave the fluid here.
    if p.bumped and _free(world, p.x + p.vx, before + p.vy + STEP_HEIGHT, p.z + p.vz):
        p.vy = LEAVE_FLUID


@jit
def _walk(world: World, strafe: float, forward: float, marks: int) -> None:
    """Move the player for one tick on the ground or in the air."""
    p = world.player[0]
    drag = GROUND_DRAG
    if p.on_ground:
        below = block_at(world.blocks, math.floor(p.x), math.floor(p.y - 1.0), math.floor(p.z))
        drag *= SLIPPERINESS[below]
        pace = WALK_ACCELERATION * (SPRINT_FACTOR if p.sprinting else 1.0)
        pace *= SLOWNESS_FACTOR if p.slowness > 0 else 1.0
        _accelerate(world, strafe, forward, pace * GROUND_FACTOR / (drag * drag * drag))
    else:
        # A sprint increases the acceleration in the air by 30 %, as it does on the ground.
        _accelerate(world, strafe, forward, AIR_ACCELERATION * (SPRINT_FACTOR if p.sprinting else 1.0))
    ladder = climbs(world)
    if ladder:
        p.vx = min(CLIMB_LIMIT, max(-CLIMB_LIMIT, p.vx))
        p.vz = min(CLIMB_LIMIT, max(-CLIMB_LIMIT, p.vz))
        p.fall = 0.0
        p.vy = max(p.vy, 0.0 if p.sneaking else -CLIMB_LIMIT)
    if marks & IN_WEB:
        p.fall = 0.0
        move(world, p.vx * WEB, p.vy * WEB_DOWN, p.vz * WEB)
        p.vx = p.vy = p.vz = 0.0
    else:
        move(world, p.vx, p.vy, p.vz)
    if marks & ON_SOUL_SAND:
        p.vx *= SOUL_SAND
        p.vz *= SOUL_SAND
    if ladder and p.bumped:
        p.vy = CLIMB
    p.vy = (p.vy - GRAVITY) * AIR_DRAG
    p.vx *= drag
    p.vz *= drag


@jit
def step_player(world: World, action: NDArray[np.void]) -> int:
    """Move the player for one tick. Return what the player's body touched before the move (``contact.touched``)."""
    p, a = world.player[0], action[0]
    marks = touched(world)
    p.in_water, p.in_lava = marks & IN_WATER > 0, marks & IN_LAVA > 0
    p.sneaking = a.sneak
    factor = (SNEAK_FACTOR if a.sneak else 1.0) * (EAT_FACTOR if p.use_ticks > 0 else 1.0)
    forward = min(1.0, max(-1.0, float(a.forward))) * factor
    strafe = min(1.0, max(-1.0, float(a.strafe))) * factor
    _sprint(world, forward, a.sprint)
    if p.in_water:
        p.fall = 0.0
        fx, fy, fz = current(world, math.floor(p.x), math.floor(p.y), math.floor(p.z))
        p.vx += fx * CURRENT
        p.vy += fy * CURRENT
        p.vz += fz * CURRENT
    elif p.in_lava:
        p.fall *= LAVA_FALL
    if abs(p.vx) < STILL:
        p.vx = 0.0
    if abs(p.vy) < STILL:
        p.vy = 0.0
    if abs(p.vz) < STILL:
        p.vz = 0.0
    p.jump_delay = max(0, p.jump_delay - 1) if a.jump else 0
    if a.jump:
        if p.in_water or p.in_lava:
            p.vy += SWIM_UP
        elif p.on_ground and p.jump_delay == 0:
            _jump(world)
    strafe, forward = strafe * INPUT_FACTOR, forward * INPUT_FACTOR
    x, y, z, grounded = p.x, p.y, p.z, p.on_ground
    if p.in_water:
        _swim(world, strafe, forward, WATER_DRAG)
        way = math.sqrt((p.x - x) ** 2 + (p.z - z) ** 2 + ((p.y - y) ** 2 if head_in(world, WATER) else 0.0))
        exhaust(world, EXHAUSTION_SWIM * way)
    elif p.in_lava:
        _swim(world, strafe, forward, LAVA_DRAG)
    else:
        _walk(world, strafe, forward, marks)
        if grounded and p.sprinting:
            exhaust(world, EXHAUSTION_SPRINT * math.hypot(p.x - x, p.z - z))
    return marks
