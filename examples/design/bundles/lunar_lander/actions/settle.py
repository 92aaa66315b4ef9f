def can_start(view):
    return view["left_leg"] > 0.5 or view["right_leg"] > 0.5


def run():
    steps = 0
    airborne = 0
    for _ in range(24):
        view = yield observe()
        touching = view["left_leg"] > 0.5 or view["right_leg"] > 0.5
        airborne = 0 if touching else airborne + 1
        if steps >= 60 or airborne >= 3 or (steps == 0 and not touching):
            return
        if view["vy"] < -0.12:
            yield [act(action="main"), act(action="nothing")]
            steps += 2
        elif max(abs(view["vx"]), abs(view["vy"]), abs(view["spin"])) > 0.05:
            yield repeat(action="nothing", steps=2)
            steps += 2
        else:
            yield repeat(action="nothing", steps=10)
            steps += 10
