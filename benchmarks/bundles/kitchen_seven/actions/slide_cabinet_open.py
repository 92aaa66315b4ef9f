def can_start(view):
    return not view["slide_cabinet_done"]


def go(x, y, z, speed=0.04):
    """Straight to a point; once more with a free wrist if that was blocked far from it."""
    outcome = yield move_to(x=x, y=y, z=z, speed=speed)
    if not outcome.get("reached") and (outcome.get("distance") or 0.0) > 0.035:
        outcome = yield move_to(x=x, y=y, z=z, speed=speed, keep_rotation=False)
    return outcome


def run():
    view = yield observe()
    if view["slide_cabinet_done"]:
        return
    if view["gripper_closed"] and view["gripper_opening"] > 0.012:
        yield release(steps=2)
    if view["hand_position"][1] > 0.575:
        yield move_by(dy=-0.05)
    # any roll and pitch will do for a sideways push; only a large yaw is turned back
    view = yield observe()
    if abs(view["hand_rotation"][2]) > 0.5:
        yield point(roll=0.0, pitch=0.0, yaw=0.0)
    for attempt in range(3):
        view = yield observe()
        if view["slide_cabinet_done"]:
            break
        h = view["slide_cabinet_handle"]
        d = view["hand_direction"]
        # half width of hand and fingers along x: more when the fingers open left and right
        half = 0.035 + 0.035 * abs(math.cos(view["hand_rotation"][0]))
        x = h[0] - 0.02 - half - 0.015 - 0.02 * attempt
        y = h[1] + 0.042 + 0.01 * attempt - 0.045 * d[1]
        z = 2.52 - 0.045 * d[2]
        # up to a point left of the bar, a little before it
        yield from go(x, min(y - 0.04, 0.565), z)
        yield from go(x, y, z)
        for dx in (0.13, 0.06, 0.06):
            before = view["slide_cabinet_joint"]
            yield move_by(dx=dx, speed=0.04)
            view = yield observe()
            if view["slide_cabinet_done"] or view["slide_cabinet_joint"] - before < 0.01:
                break
        if view["slide_cabinet_done"]:
            break
        yield move_by(dx=-0.03, dy=-0.06)
    yield move_by(dx=-0.03, dy=-0.06)
