MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))


def cell(grid, x, y):
    if 0 <= x < len(grid) and 0 <= y < len(grid[x]):
        return grid[x][y]
    return [2, 0, 0]


def find(grid, kind):
    for x in range(len(grid)):
        for y in range(len(grid[x])):
            if grid[x][y][0] == kind:
                return (x, y)
    return None


def free(c):
    return c[0] in (1, 8, 10) or (c[0] == 4 and c[2] == 0)


def plan(view, done):
    """Fewest actions to a state (x, y, d) for which done(x, y, d); None if there is none."""
    grid = view["image_grid"]
    agent = find(grid, 10)
    if agent is None:
        return None
    start = (agent[0], agent[1], int(view["direction"]) % 4)
    queue = collections.deque([start])
    came = {start: None}
    while queue:
        state = queue.popleft()
        x, y, d = state
        if done(x, y, d):
            path = []
            while came[state] is not None:
                state, action = came[state]
                path.append(action)
            return path[::-1]
        nexts = []
        nx, ny = x + MOVES[d][0], y + MOVES[d][1]
        if free(cell(grid, nx, ny)):
            nexts.append(((nx, ny, d), "forward"))
        nexts.append(((x, y, (d + 1) % 4), "right"))
        nexts.append(((x, y, (d + 3) % 4), "left"))
        for nxt, action in nexts:
            if nxt not in came:
                came[nxt] = (state, action)
                queue.append(nxt)
    return None


def carry_out(path):
    for i in range(0, len(path), 16):
        yield [act(action=a) for a in path[i:i + 16]]


def shut_door(grid):
    for x in range(len(grid)):
        for y in range(len(grid[x])):
            if grid[x][y][0] == 4 and grid[x][y][2] != 0:
                return (x, y)
    return None


def can_start(view):
    grid = view["image_grid"]
    return find(grid, 5) is None and shut_door(grid) is not None


def run():
    for _ in range(3):
        view = yield observe()
        grid = view["image_grid"]
        door = shut_door(grid)
        if door is None or find(grid, 5) is not None:
            return
        path = plan(view, lambda x, y, d: (x + MOVES[d][0], y + MOVES[d][1]) == door)
        if path is None:
            return
        yield from carry_out(path + ["toggle"])
