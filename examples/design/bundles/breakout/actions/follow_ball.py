def is_ball(s):
    x, y, w, h, light = s[:5]
    return w <= 3 and h <= 5 and 8 <= y <= 82


def balls(shapes):
    return [s for s in shapes if is_ball(s)]


LEFT, RIGHT, PADDLE_Y, BRICK_Y = 5.0, 78.0, 75.0, 39.0
memory = {"paddle": 42.0, "track": [], "target": None, "remaining": 0.0, "heading": None, "action": "noop"}
DIRECTION = {"right": 1.0, "left": -1.0, "noop": 0.0}


def paddle_x(shapes):
    found = [s for s in shapes if s[1] >= 72 and 5 <= s[2] <= 18 and s[3] <= 8]
    return float(found[0][0]) if found else None


def pick(shapes, track):
    """The ball among the shapes: the one nearest to where it was, else the lowest."""
    found = balls(shapes)
    if not found:
        return None
    if track:
        x, y = track[-1]
        best = min(found, key=lambda s: abs(s[0] - x) + abs(s[1] - y))
    else:
        best = max(found, key=lambda s: s[1])
    return (float(best[0]), float(best[1]))


def velocity(track):
    """Mean move per step since the last bounce, over at most ten moves."""
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(track, track[1:])]
    used = []
    for dx, dy in reversed(moves[-10:]):
        if used and (dx * used[0][0] < 0 or dy * used[0][1] < 0):
            break
        used.append((dx, dy))
    if not used:
        return 0.0, 0.0
    return sum(m[0] for m in used) / len(used), sum(m[1] for m in used) / len(used)


def reflect(x):
    span = RIGHT - LEFT
    x = (x - LEFT) % (2 * span)
    return LEFT + (x if x <= span else 2 * span - x)


def landing(x, y, vx, vy):
    """Where, and in how many steps, the ball comes down to the paddle's height."""
    if abs(vy) < 0.3:
        return x, 20.0
    if vy > 0:
        way = max(0.0, PADDLE_Y - y)
    else:
        way = max(0.0, y - BRICK_Y) + PADDLE_Y - min(y, BRICK_Y)
    steps = min(way / abs(vy), 60.0)
    return reflect(x + vx * steps), steps


def watch(view):
    """Updates the memory from the view; whether a ball is seen."""
    now, before = view["observation_shapes"], view["observation_shapes_before"]
    track = memory["track"]
    earlier = pick(before, track)
    if earlier is None or not track or track[-1] != earlier:
        track = [earlier] if earlier is not None else []
    ball = pick(now, track)
    if ball is None:
        memory["track"], memory["heading"] = [], None
        return False
    track = (track + [ball])[-12:]
    vx, vy = velocity(track)
    target, remaining = landing(ball[0], ball[1], vx, vy)
    heading = (vx > 0, vy > 0)
    if memory["target"] is not None and memory["heading"] == heading and remaining > 4:
        target = 0.6 * memory["target"] + 0.4 * target
    memory.update(track=track, target=target, remaining=remaining, heading=heading)
    return True


def decide(view, aim):
    now, before = view["observation_shapes"], view["observation_shapes_before"]
    place, last = paddle_x(now), paddle_x(before)
    if place is None:
        place = 9.0 if memory["paddle"] < 42 else 74.0
        last = place
    memory["paddle"] = place
    if memory["target"] is None:
        return "noop"
    coast = 0.0 if last is None else max(-3.0, min(3.0, place - last))
    coming = place + coast + 1.5 * DIRECTION[memory["action"]]
    error = max(9.0, min(74.0, memory["target"] + aim)) - coming
    zone = 2.0 + min(2.5, 0.1 * memory["remaining"])
    wish = "right" if error > zone else "left" if error < -zone else "noop"
    if DIRECTION[wish] * DIRECTION[memory["action"]] < 0:
        wish = "noop"
    return wish


def run(aim=0.0):
    missing = 0
    for _ in range(24):
        view = yield observe()
        if watch(view):
            missing = 0
        else:
            missing += 1
            if missing >= 8:
                memory["target"] = None
                return
        memory["action"] = decide(view, aim)
        yield act(action=memory["action"])
