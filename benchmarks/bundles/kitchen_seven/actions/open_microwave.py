def can_start(view):
    return not view["microwave_done"]


def arc(p, q, axis, radius, side, wrist="hold"):
    """follow_arc from p to the projection of q on the plane normal to axis; side 1 turns positively."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    du, dv = q[i] - p[i], q[j] - p[j]
    length = math.hypot(du, dv)
    if length < 0.03:
        return None
    radius = max(radius, 0.6 * length)
    half = math.asin(min(0.99, 0.5 * length / radius))
    c = list(p)
    reach = radius * math.cos(half)
    c[i] = 0.5 * (p[i] + q[i]) - side * dv / length * reach
    c[j] = 0.5 * (p[j] + q[j]) + side * du / length * reach
    return follow_arc(x=c[0], y=c[1], z=c[2], axis=axis, angle=side * 2.0 * half, wrist=wrist, speed=0.04)


def go(p, speed=0.04):
    """Straight to p; once more with a free wrist if that was blocked far from it."""
    outcome = yield move_to(x=p[0], y=p[1], z=p[2], speed=speed)
    if not outcome.get("reached") and (outcome.get("distance") or 0.0) > 0.03:
        outcome = yield move_to(x=p[0], y=p[1], z=p[2], speed=speed, keep_rotation=False)
    return outcome


def bar_in_hand(view):
    """Offset of the bar from the hand: along the pointing direction, and sideways (to the right)."""
    o = view["microwave_offset"]
    d = view["hand_direction"]
    n = math.hypot(d[0], d[1]) or 1.0
    return (o[0] * d[0] + o[1] * d[1]) / n, (o[0] * d[1] - o[1] * d[0]) / n


def run(yaw=0.0):
    view = yield observe()
    if view["microwave_done"]:
        return
    p = view["hand_position"]
    kx, ky, kz = view["kettle_position"]
    h = view["microwave_handle"]
    # leave another handle or the panel
    if view["gripper_closed"]:
        yield release(steps=1)
    roll, pitch, old_yaw = view["hand_rotation"]
    turn = abs(roll) > 0.2 or pitch > 0.1 or pitch < -0.75 or abs(old_yaw - yaw) > 0.2
    swing = (not turn and p[2] < 1.9 and p[1] < min(ky - 0.12, h[1] - 0.12) and p[0] > h[0] + 0.15)
    if p[1] > 0.5:
        yield move_by(dy=-0.10)
    elif p[2] < 1.98 and p[0] > kx - 0.28 and p[1] > ky - 0.15 and not swing:
        yield move_by(dz=2.0 - p[2], keep_rotation=False)
    want = max(-0.6, min(0.0, pitch))
    if turn:
        # a vertical bar can be gripped by a hand that points down: keep the pitch
        yield point(roll=0.0, pitch=want, yaw=yaw)
    for attempt in range(3):
        view = yield observe()
        if view["microwave_done"]:
            break
        p = view["hand_position"]
        d = view["hand_direction"]
        h = view["microwave_handle"]
        if attempt > 0:
            yield release(steps=1)
        if attempt == 0 and swing:
            # arcs are faster than straight moves: up and to the left before the handle ...
            yield arc(p, [h[0] - 0.012, p[1], h[2] + 0.07], "y", 0.8, 1)
            view = yield observe()
            p = view["hand_position"]
            h = view["microwave_handle"]
            if abs(p[0] - h[0]) > 0.024:
                yield move_to(x=h[0], y=p[1], z=h[2] + 0.06)
                view = yield observe()
                p = view["hand_position"]
            # ... and in, while the hand pitches up towards -0.2
            q = [p[0], h[1] - 0.006, h[2] + 0.003]
            up = max(0.0, min(0.42, -0.2 - view["hand_rotation"][1]))
            length = math.hypot(q[1] - p[1], q[2] - p[2])
            if up > 0.1:
                yield arc(p, q, "x", 0.5 * length / math.sin(0.5 * up), 1, "follow")
            else:
                yield from go(q)
        else:
            yield from go(vec.sub(h, vec.scale(d, 0.10)))
            view = yield observe()
            d = view["hand_direction"]
            yield from go(vec.sub(view["microwave_handle"], vec.scale(d, 0.005)))
        view = yield observe()
        d = view["hand_direction"]
        ahead, right = bar_in_hand(view)
        if ahead > 0.03 and abs(right) < 0.03:
            yield from go(vec.sub(view["microwave_handle"], vec.scale(d, 0.005)))
            view = yield observe()
            ahead, right = bar_in_hand(view)
        if abs(right) > 0.035 or ahead > 0.05:
            # beside or before the bar: back, turn to the left, and try again
            yield move_by(dx=-0.08 * d[0], dy=-0.08 * d[1])
            if view["hand_rotation"][2] < 0.3:
                yield point(roll=0.0, pitch=want, yaw=0.45)
            continue
        yield grasp(steps=2)
        a = view["microwave_axis_point"]
        joint = view["microwave_joint"]
        for angle in (-0.58, -0.12, -0.12, -0.12):
            yield follow_arc(x=a[0], y=a[1], z=a[2], axis="z", angle=angle, wrist="hold", speed=0.035)
            view = yield observe()
            if view["microwave_done"]:
                break
            moved = joint - view["microwave_joint"]
            joint = view["microwave_joint"]
            ahead, right = bar_in_hand(view)
            if moved < 0.03 or ahead > 0.05:
                break
    yield release(steps=1)
    yield move_by(dx=0.02, dy=-0.065)
