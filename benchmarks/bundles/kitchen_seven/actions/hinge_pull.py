def can_start(view):
    return not view["hinge_cabinet_done"]


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


def go(x, y, z, speed=0.04):
    """Straight to a point; once more with a free wrist if that was blocked far from it."""
    outcome = yield move_to(x=x, y=y, z=z, speed=speed)
    if not outcome.get("reached") and (outcome.get("distance") or 0.0) > 0.03:
        outcome = yield move_to(x=x, y=y, z=z, speed=speed, keep_rotation=False)
    return outcome


def run(grip_z=2.49, yaw=0.0):
    view = yield observe()
    if view["hinge_cabinet_done"]:
        return
    if view["gripper_closed"] or view["gripper_opening"] < 0.05:
        yield release(steps=1)
    if view["hand_position"][1] > 0.575:
        yield move_by(dy=-0.06)
        view = yield observe()
    h = view["hinge_cabinet_handle"]
    p = view["hand_position"]
    roll, pitch, old = view["hand_rotation"]
    if (p[0] > h[0] + 0.33 and 0.5 < p[1] and abs(p[2] - grip_z) < 0.12 and 0.3 < roll < 1.8
            and abs(pitch) < 0.4 and abs(old) < 0.45):
        # from the slide cabinet: unroll on the way to the left (about y) ...
        q = [min(p[0] - 0.2, h[0] + 0.12), p[1], grip_z - 0.02]
        chord = math.hypot(q[0] - p[0], q[2] - p[2])
        back = min(1.58, roll - 0.05)
        yield arc(p, q, "y", 0.5 * chord / math.sin(0.5 * back), -1, "follow")
        view = yield observe()
        h = view["hinge_cabinet_handle"]
        p = view["hand_position"]
        roll, pitch, old = view["hand_rotation"]
        turn = yaw - old
        if 0.12 < turn < 0.5 and p[1] > h[1] - 0.09:
            # ... and turn to the left (about z) on the way to before the handle
            q = [h[0] + 0.002, h[1] - 0.108, grip_z]
            chord = math.hypot(q[0] - p[0], q[1] - p[1])
            yield arc(p, q, "z", 0.5 * chord / math.sin(0.5 * turn), 1, "follow")
            view = yield observe()
            roll, pitch, old = view["hand_rotation"]
    if abs(roll) > 0.25 or abs(pitch) > 0.3 or abs(old - yaw) > 0.25:
        yield point(roll=0.0, pitch=0.0, yaw=yaw)
        view = yield observe()
    for attempt in range(3):
        h = view["hinge_cabinet_handle"]
        d = view["hand_direction"]
        p = view["hand_position"]
        z = grip_z - 0.03 * d[2]
        pre = [h[0] - 0.095 * d[0], h[1] - 0.095 * d[1], z]
        if abs(p[0] - h[0]) > 0.022 or p[1] > h[1] - 0.05 or vec.distance(p, pre) > 0.06:
            yield from go(pre[0], pre[1], pre[2])
            view = yield observe()
            h = view["hinge_cabinet_handle"]
            d = view["hand_direction"]
        yield from go(h[0] - 0.006 * d[0], h[1] - 0.006 * d[1], z)
        view = yield observe()
        o = view["hinge_cabinet_offset"]
        if o[1] > 0.045 or abs(o[0]) > 0.045:
            # the bar is not between the fingers
            yield move_by(dy=-0.08)
            view = yield observe()
            continue
        yield grasp(steps=2)
        a = view["hinge_cabinet_axis_point"]
        wrist = "hold"
        for angle in (0.34, 0.34, 0.34, 0.3, 0.2, 0.2, 0.2):
            before = view["hinge_cabinet_joint"]
            yield follow_arc(x=a[0], y=a[1], z=a[2], axis="z", angle=angle, wrist=wrist, speed=0.04)
            view = yield observe()
            if view["hinge_cabinet_done"] or view["hinge_cabinet_joint"] - before < 0.04:
                break
            wrist = "free"
        if view["hinge_cabinet_done"]:
            break
        # slipped: off the bar and take it again where it is now
        yield release(steps=2)
        yield move_by(dy=-0.08)
        view = yield observe()
    if view["gripper_closed"]:
        yield release(steps=1)
    if view["time"] < 0.97 and len(view["remaining"]) > 0:
        yield move_by(dx=-0.02, dy=-0.06)
