NAME = "top_burner"


def can_start(view):
    return not view[NAME + "_done"]


def go(x, y, z, speed=0.04):
    """Straight to a point; once more with a free wrist if that was blocked far from it."""
    outcome = yield move_to(x=x, y=y, z=z, speed=speed)
    if not outcome.get("reached") and (outcome.get("distance") or 0.0) > 0.035:
        outcome = yield move_to(x=x, y=y, z=z, speed=speed, keep_rotation=False)
    return outcome


def arc(p, q, axis, radius, side, wrist="hold"):
    """follow_arc from p to the projection of q on the plane normal to axis; side 1 turns positively."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    du, dv = q[i] - p[i], q[j] - p[j]
    length = math.hypot(du, dv)
    if length < 0.03:
        return None
    radius = max(radius, 0.52 * length)
    half = math.asin(min(0.99, 0.5 * length / radius))
    c = list(p)
    reach = radius * math.cos(half)
    c[i] = 0.5 * (p[i] + q[i]) - side * dv / length * reach
    c[j] = 0.5 * (p[j] + q[j]) + side * du / length * reach
    return follow_arc(x=c[0], y=c[1], z=c[2], axis=axis, angle=side * 2.0 * half, wrist=wrist, speed=0.04)


def run(depth=0.0):
    view = yield observe()
    if view[NAME + "_done"]:
        return
    if view["gripper_closed"] or view["gripper_opening"] < 0.05:
        yield release(steps=1)
    if view["hand_position"][1] > 0.58:
        yield move_by(dy=-0.05)
    for attempt in range(3):
        view = yield observe()
        if view[NAME + "_done"]:
            break
        # fingers on both sides of the bar, square to it
        want = min(1.3, max(0.0, -view[NAME + "_joint"]) + (0.0, 0.3, 0.5)[attempt])
        roll, pitch, yaw = view["hand_rotation"]
        low = -0.75 if attempt == 0 else -0.12
        a = view[NAME + "_axis_point"]
        d = view["hand_direction"]
        p = view["hand_position"]
        q = [a[0] - 0.03 * d[0], p[1], a[2] + 0.006]
        chord = math.hypot(q[0] - p[0], q[2] - p[2])
        if attempt == 0 and 0.3 < roll - want < 1.6 and 0.07 < chord < 0.3 and abs(p[1] - 0.55) < 0.03:
            # unroll on the way: an arc about y with the wrist following
            back = roll - want
            yield arc(p, q, "y", 0.5 * chord / math.sin(0.5 * back), -1, "follow")
            view = yield observe()
            roll, pitch, yaw = view["hand_rotation"]
        if abs(roll - want) > 0.2 or pitch < low or pitch > 0.2 or abs(yaw) > 0.35:
            level = pitch if low < pitch < 0.15 else 0.0
            yield point(roll=want, pitch=level, yaw=0.0)
            view = yield observe()
        a = view[NAME + "_axis_point"]
        d = view["hand_direction"]
        # hand_position for tips at the bar, the tips being 0.045 m along d
        x = a[0] - 0.045 * d[0]
        # a hand that points sideways has one fingertip deeper than the other: stay off the panel
        y = 0.656 + depth + 0.006 * attempt - 0.045 * d[1] - 0.045 * abs(d[0])
        z = a[2] - 0.045 * d[2]
        p = view["hand_position"]
        if vec.distance(p, [x, y - 0.065, z]) > 0.025:
            yield from go(x, y - 0.065, z)
            view = yield observe()
            p = view["hand_position"]
        if abs(x - p[0]) > 0.010 or abs(z - p[2]) > 0.016:
            yield move_by(dx=x - p[0], dy=0.0, dz=z - p[2], speed=0.02)
        yield move_to(x=x, y=y, z=z, speed=0.035)
        yield grasp(steps=2)
        view = yield observe()
        for turn in (0.82, 0.2, 0.3, 0.3):
            if view[NAME + "_done"]:
                break
            yield rotate(roll=turn)
            now = yield observe()
            gained = view[NAME + "_joint"] - now[NAME + "_joint"]
            view = now
            if gained < 0.03:
                break
        yield release(steps=1)
        # out along the turned bar: that is also the way up to the slide cabinet
        yield move_by(dx=0.02, dy=-0.05, dz=0.05)
