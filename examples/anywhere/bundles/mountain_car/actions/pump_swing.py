BOTTOM = -math.pi / 6


def clip(value, low, high):
    return max(low, min(high, value))


def step(x, v, force):
    """One step of the documented dynamics."""
    v = clip(v + 0.0015 * force - 0.0025 * math.cos(3 * x), -0.07, 0.07)
    x = clip(x + v, -1.2, 0.6)
    if x <= -1.2 and v < 0:
        v = 0.0
    return x, v


def run(gain=12.0):
    view = yield observe()
    x, v = view["position"], view["velocity"]
    downhill = 1.0 if x <= BOTTOM else -1.0
    direction = downhill if abs(v) < 1e-5 else math.copysign(1.0, v)
    kick = 10 if abs(v) < 0.0005 and abs(x - BOTTOM) < 0.03 else 0
    if kick:
        direction = downhill
    done = 0
    moved = False
    for _ in range(8):
        forces = []
        turned = False
        while len(forces) < 12:
            force = 0.3 * direction if done < kick else clip(gain * v, -1.0, 1.0)
            forces.append(force)
            done += 1
            x, v = step(x, v, force)
            if v * direction > 1e-5:
                moved = True
            elif moved:
                turned = True
                break
        yield [act(force=f) for f in forces]
        if turned:
            return
        view = yield observe()
        x, v = view["position"], view["velocity"]
        if x >= 0.45:
            return
        if moved and v * direction <= 0:
            return
