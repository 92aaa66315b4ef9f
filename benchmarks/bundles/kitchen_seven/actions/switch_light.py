def can_start(view):
    return not view["light_switch_done"]


def go(x, y, z, speed=0.04):
    """Straight to a point; once more with a free wrist if that was blocked far from it."""
    outcome = yield move_to(x=x, y=y, z=z, speed=speed)
    if not outcome.get("reached") and (outcome.get("distance") or 0.0) > 0.035:
        outcome = yield move_to(x=x, y=y, z=z, speed=speed, keep_rotation=False)
    return outcome


def run():
    view = yield observe()
    if view["light_switch_done"]:
        return
    hx, hy, hz = view["hand_position"]
    if view["gripper_closed"] or view["gripper_opening"] < 0.04:
        yield release(steps=1)
    if hy > 0.52:
        yield move_by(dy=-0.09)
    # roll and yaw must be small, a pitch down to -0.7 does not matter
    view = yield observe()
    roll, pitch, yaw = view["hand_rotation"]
    if abs(roll) > 0.25 or abs(yaw) > 0.25 or pitch < -0.75 or pitch > 0.3:
        yield point(roll=0.0, pitch=max(-0.6, min(0.0, pitch)), yaw=0.0)
    deeper = 0.0
    for attempt in range(3):
        view = yield observe()
        if view["light_switch_done"]:
            break
        h = view["light_switch_handle"]
        d = view["hand_direction"]
        # the tips are 0.045 m beyond the hand: put them beside the lever, its bar in between
        x = h[0] + 0.002 - 0.045 * d[0]
        y = h[1] + 0.014 + deeper - 0.045 * d[1]
        z = max(2.265, h[2]) - 0.045 * d[2]
        yield from go(x, y - 0.045, z)
        yield from go(x, y, z)
        for dx in (-0.065, -0.025, -0.025, -0.03):
            yield move_by(dx=dx, speed=0.04)
            view = yield observe()
            if view["light_switch_done"]:
                break
        if view["light_switch_done"]:
            break
        deeper += 0.015
        yield move_by(dy=-0.08)
    yield move_by(dy=-0.035)
