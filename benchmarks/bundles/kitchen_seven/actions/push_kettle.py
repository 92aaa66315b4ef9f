PITCH = -0.6
LOW = 1.68


def can_start(view):
    return not view["kettle_done"]


def stroke(depth):
    """Push on by `depth` m from contact; returns whether the kettle went along."""
    view = yield observe()
    hx, hy, hz = view["hand_position"]
    kx, ky, kz = view["kettle_position"]
    yield move_to(x=kx, y=max(ky - 0.16, hy) + depth, z=LOW, speed=0.04)
    after = yield observe()
    return after["kettle_position"][1] - ky > 0.012 and after["hand_position"][2] < LOW + 0.05


def run():
    view = yield observe()
    if view["kettle_done"]:
        return
    hx, hy, hz = view["hand_position"]
    kx, ky, kz = view["kettle_position"]
    # leave a handle or the panel
    if hy > 0.5 or view["gripper_closed"]:
        yield [release(steps=1), move_by(dy=-0.08)]
        view = yield observe()
        hx, hy, hz = view["hand_position"]
    # never sweep through the kettle: first come back in front of it
    if hy > ky - 0.19:
        if hz < 2.0 and abs(hx - kx) < 0.3 and hy > ky - 0.12:
            yield move_by(dz=2.02 - hz, keep_rotation=False)
        view = yield observe()
        hx, hy, hz = view["hand_position"]
        yield move_to(x=vec.lerp([hx], [kx], 0.6)[0] if hz >= 1.98 else hx, y=ky - 0.235, z=hz)
        view = yield observe()
        hx, hy, hz = view["hand_position"]
    roll, pitch, yaw = view["hand_rotation"]
    if abs(roll) < 0.2 and abs(yaw) < 0.2 and abs(pitch) < 0.15 and 1.95 < hz < 2.1 and hy < ky - 0.19:
        # down on an arc about the x axis, which pitches the hand on the way
        drop = hz - LOW
        yield follow_arc(x=hx, y=-0.4, z=hz - 0.5 * drop, axis="x", angle=PITCH - pitch, wrist="follow", speed=0.04)
    elif abs(pitch - PITCH) > 0.15 or abs(roll) > 0.2 or abs(yaw) > 0.2:
        yield point(roll=0.0, pitch=PITCH, yaw=0.0)
    view = yield observe()
    kx, ky, kz = view["kettle_position"]
    yield move_to(x=kx, y=ky - 0.215, z=LOW, speed=0.04)
    for attempt in range(3):
        for depth in ((0.11, 0.05, 0.05) if attempt == 0 else (0.07, 0.05)):
            went = yield from stroke(depth)
            view = yield observe()
            if view["kettle_done"] or not went:
                break
        if view["kettle_done"] or view["kettle_position"][1] > 0.65 or attempt == 2:
            break
        # blocked or climbed: off the kettle, down again, straight behind its middle
        kx, ky, kz = view["kettle_position"]
        yield move_by(dy=-0.06)
        if abs(view["hand_rotation"][1] - PITCH) > 0.2:
            yield point(roll=0.0, pitch=PITCH, yaw=0.0)
        yield move_to(x=kx, y=ky - 0.19, z=LOW, speed=0.04)
