"""The parameter search finds values for the parameters of coded actions. The parameter values that the search tries
stay the same for a whole episode.

A policy that draws parameters anew at each decision explores little, because the effects of many small changes cancel
within an episode. The parameter search explores with whole episodes. In each episode of the search, the plan's choices
are taken with constant parameters. The result of the episode is one observation of an unknown function of these
parameters. The posterior of the unknown function is that of Bayesian linear regression on the parameters, their squares
and random Fourier features. Random Fourier features (Rahimi and Recht 2007) approximate a Gaussian process. The prior
of the search expects that the defaults, which a language model chose, are good, and that results decline with the
distance from the defaults. The parameters of the next episode are drawn by Thompson sampling (Thompson 1933), so they
maximise a function that is drawn from the posterior. Each candidate changes some of the parameters of the defaults, or
of the best episode so far. At the end of the search, the parameters with the largest lower confidence bound become the
policy's initial parameters, and reinforcement learning begins with these parameters. After the training, code with
these parameters is a candidate of the selection (:meth:`rlgpt.domain.SearchRecord.tuned`).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Sequence

import torch

from rlgpt.domain import SearchRecord, Value
from rlgpt.options import ActionLayout, Head
from rlgpt.rl.network import Batch, PolicyNetwork
from rlgpt.rl.rollout import Rollout

FIRST = 10
"""Number of episodes before the first fit of the posterior. Every fifth of these episodes has the default parameters;
the other episodes have random parameters. As long as all results are equal, later episodes are played in the same way.
"""

FEWEST = 30
"""Minimal number of episodes of a search. With fewer episodes, the parameters keep their defaults."""

FOR_EACH = 20
"""Number of episodes, in addition to :data:`FEWEST`, that a search may have for each parameter. On a wet road with
three parameters, 40 episodes found values as good as 250 episodes did.
"""

FEATURES = 128
"""Number of random Fourier features."""

CANDIDATES = 400
"""Number of candidates for the parameters of an episode that are random changes of the defaults. Half as many further
candidates are smaller changes of the best parameters so far.
"""

SMALLER = 0.3
"""Size of the changes of the best parameters so far, relative to the size of the changes of the defaults."""

WIGGLE = 0.5
"""Scale of the random Fourier features, relative to the scale of the parameters and of their squares."""

CURVATURE = 1.0
"""Prior mean of the weights of the squares, by which results decline with the distance from the defaults."""

CONFIDENCE = 1.0
"""Number of standard deviations between the posterior mean and the lower confidence bound."""

LENGTHS = (0.7, 1.2, 2.0, 4.0)
"""The length scales of the kernel among which the fit chooses. The unit is a typical distance of two candidates."""

NOISES = (0.3, 1.0, 3.0, 10.0)
"""The ratios between the variance of the noise and the variance of the function among which the fit chooses."""


class SearchState(Value):
    """The part of a :class:`ParameterSearch` that a checkpoint stores.

    :ivar points: the parameters of each finished episode of the search, as differences from the defaults in units of
        ``initial_std``.
    :ivar successes: for each finished episode of the search, whether the episode succeeded.
    :ivar returns: for each finished episode of the search, the sum of the rewards.
    :ivar shortest: number of primitive steps of the shortest finished episode of the search; None if there is none.
    :ivar ended: number of primitive steps of the training at the end of the search; None while the search is in
        progress.
    :ivar found: the policy's initial parameters in the order of the layout. Each initial parameter is scaled so that
        its range is [-1, 1]. ``found`` is empty while the search is in progress, and if the parameters keep their
        defaults.
    """

    points: tuple[tuple[float, ...], ...] = ()
    successes: tuple[bool, ...] = ()
    returns: tuple[float, ...] = ()
    shortest: int | None = None
    ended: int | None = None
    found: tuple[float, ...] = ()

    def record(self, layout: ActionLayout) -> SearchRecord:
        """The result of the parameter search, in the units of the parameters."""
        found: dict[str, float] = {}
        values = iter(self.found)
        for head in _heads(layout):
            low, high = head.space.low.ravel(), head.space.high.ravel()  # type: ignore[attr-defined]
            for name, least, most, value in zip(head.names, low, high, values, strict=False):
                found[name] = float(least + (value + 1) / 2 * (most - least))
        return SearchRecord(episodes=len(self.points), successes=sum(self.successes), ended=self.ended, found=found)


Playing = tuple[tuple[tuple[float, ...], ...], ...]
"""For each environment, the parameters of its episodes whose results a :class:`ParameterSearch` does not have yet."""


class ParameterSearch:
    """Chooses the actions during the parameter search, and learns from the finished episodes.

    :param network: the policy whose initial parameters are searched. During the search, the policy ``network`` chooses
        the base actions.
    :param initial_std: standard deviation of the changes that the search makes to the defaults. The unit of
        ``initial_std`` is half the range of a parameter, because each range is scaled to [-1, 1].
    :param elsewhere: number of further episodes in progress, in environments that another object plays.
    """

    def __init__(self, network: PolicyNetwork, initial_std: float, state: SearchState, elsewhere: int = 0) -> None:
        self._network, self.initial_std, self._elsewhere = network, initial_std, elsewhere
        layout = network.layout
        self._default = torch.tensor(_initial(layout), dtype=torch.float64)
        self._columns = {role: _columns(layout, role) for role in ("parameters", "residual")}
        self._points, self._successes = [list(p) for p in state.points], list(state.successes)
        self._returns, self._found = list(state.returns), state.found
        self._playing: defaultdict[int, deque[torch.Tensor]] = defaultdict(deque)
        self._posterior = _Posterior(len(self._default))
        self._shortest = state.shortest

    @staticmethod
    def possible(layout: ActionLayout, plan_prior: float) -> bool:
        """Whether a search is possible. A parameter search needs coded actions with parameters and a policy that begins
        as the plan.
        """
        return bool(_initial(layout)) and (plan_prior > 0 or not layout.choices)

    @property
    def state(self) -> SearchState:
        return SearchState(
            points=tuple(map(tuple, self._points)),
            successes=tuple(self._successes),
            returns=tuple(self._returns),
            shortest=self._shortest,
            found=self._found,
        )

    def playing(self, slots: Sequence[int]) -> Playing:
        """The parameters of the episodes in progress in the environments ``slots``."""
        return tuple(tuple(tuple(offsets.tolist()) for offsets in self._playing[slot]) for slot in slots)

    def set_playing(self, slots: Sequence[int], playing: Playing) -> None:
        """Set what :meth:`playing` returns for the environments ``slots``."""
        for slot, episodes in zip(slots, playing, strict=True):
            self._playing[slot] = deque(torch.tensor(offsets, dtype=torch.float64) for offsets in episodes)

    @torch.no_grad()
    def choose(self, inputs: Batch, slots: Sequence[int], generator: torch.Generator) -> torch.Tensor:
        """The flat actions ``[B, action_size]`` with the plan's choices and the constant parameters of each episode.

        :param inputs: the observations of the environments ``slots``, as entries ``[B, ...]``.
        """
        flat = self._network.act(inputs, generator)
        for row, slot in enumerate(slots):
            if inputs["duration"][row] == 0 or not self._playing[slot]:
                self._playing[slot].append(self._draw(generator))
        flat[:, self._columns["residual"]] = 0.0
        offsets = torch.stack([self._playing[slot][-1] for slot in slots])
        flat[:, self._columns["parameters"]] = self._values(offsets).to(flat.dtype)
        if self._network.layout.choices:
            plan = self._network.plan.cpu()
            marks = inputs["obs"][:, plan] * (plan >= 0) * inputs["action_mask"]
            planned = marks.amax(1) > 0
            flat[planned, 0] = marks.argmax(1)[planned].to(flat.dtype)
        return flat

    def add(self, rollout: Rollout) -> None:
        """Add the results of the episodes that ended in ``rollout``."""
        for slot, ends in enumerate(rollout.ends):
            for end in ends:
                playing = self._playing[slot]
                if not playing:
                    continue
                self._points.append(playing.popleft().tolist())
                self._shortest = end.steps if self._shortest is None else min(self._shortest, end.steps)
                self._successes.append(end.success)
                self._returns.append(end.total_reward if math.isfinite(end.total_reward) else 0.0)

    def is_over(self, end: int) -> bool:
        """Whether the search has had enough episodes for its number of parameters, or can never have enough. A search
        of ``end`` primitive steps can be too short for :data:`FEWEST` episodes that are as long as the shortest episode
        so far. This is decided after :data:`FIRST` episodes.
        """
        played = len(self._points)
        enough = played >= FEWEST + FOR_EACH * len(self._default)
        return enough or (played >= FIRST and self._shortest is not None and self._shortest * FEWEST > end)

    def finish(self, generator: torch.Generator) -> None:
        """End the search. The best parameters of the search become the network's initial parameters."""
        if len(self._points) < FEWEST:
            return
        self._posterior.fit(*self._data())
        bound = self._posterior.bound
        tried = self._tried()
        around = tried[bound(tried).argmax()]
        more = (self._changes(5 * CANDIDATES, generator), self._changes(2 * CANDIDATES, generator, around))
        candidates = torch.cat([*more, tried, self._zero()])
        best = self._values(candidates[bound(candidates).argmax()])
        self._found = tuple(best.tolist())
        self._network.start_from(best.float())

    def _draw(self, generator: torch.Generator) -> torch.Tensor:
        """The parameters of the next episode, as differences from the defaults, within the ranges of the parameters."""
        started = len(self._points) + sum(map(len, self._playing.values())) + self._elsewhere
        alike = len(set(self._successes)) < 2 and len(set(self._returns)) < 2
        if len(self._points) < FIRST or alike:
            drawn = torch.randn(1, len(self._default), generator=generator, dtype=torch.float64)
            return (self._inside(drawn) if started % 5 else self._zero())[0]
        self._posterior.fit(*self._data())
        tried = self._tried()
        around = tried[self._posterior.mean(tried).argmax()]
        more = (self._changes(CANDIDATES, generator), self._changes(CANDIDATES // 2, generator, around))
        candidates = torch.cat([*more, tried[-50:], self._zero()])
        return candidates[self._posterior.draw(candidates, generator).argmax()]

    def _changes(self, count: int, generator: torch.Generator, around: torch.Tensor | None = None) -> torch.Tensor:
        """Candidates with random changes of some parameters, ``[count, d]``. The share of the parameters that a
        candidate changes is random.

        :param around: the parameters that are changed by small amounts. If ``around`` is None, the defaults are
            changed.
        """
        shape = (count, len(self._default))
        drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
        share = torch.rand(count, 1, generator=generator, dtype=torch.float64)
        drawn *= torch.rand(shape, generator=generator, dtype=torch.float64) < share
        offsets = drawn if around is None else around + SMALLER * drawn
        return self._inside(offsets)

    def _inside(self, offsets: torch.Tensor) -> torch.Tensor:
        """Limit ``offsets`` (differences from the defaults) to the ranges of the parameters."""
        return (self._values(offsets) - self._default) / self.initial_std

    def _tried(self) -> torch.Tensor:
        return torch.tensor(self._points, dtype=torch.float64).view(-1, len(self._default))

    def _zero(self) -> torch.Tensor:
        return torch.zeros(1, len(self._default), dtype=torch.float64)

    def _values(self, offsets: torch.Tensor) -> torch.Tensor:
        return (self._default + self.initial_std * offsets).clamp(-1.0, 1.0)

    def _data(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The points ``[n, d]`` of the search and their results ``[n]``. The result of a point is the sum of success
        and return, each in units of its standard deviation.
        """
        results = [
            _standardised(torch.tensor(values, dtype=torch.float64))
            for values in ([float(s) for s in self._successes], self._returns)
        ]
        return self._tried(), _standardised(torch.stack(results).sum(0))


class _Posterior:
    """Bayesian linear regression on the parameters, their squares and random Fourier features.

    :param size: number of parameters.
    """

    def __init__(self, size: int) -> None:
        fixed = torch.Generator().manual_seed(0)
        self._directions = torch.randn(size, FEATURES, generator=fixed, dtype=torch.float64) * math.sqrt(2 / size)
        self._phases = 2 * math.pi * torch.rand(FEATURES, generator=fixed, dtype=torch.float64)
        self._length = 1.0
        self._prior = torch.zeros(FEATURES + 2 * size, dtype=torch.float64)
        self._prior[-size:] = CURVATURE
        self._weights, self._root = self._prior, torch.eye(len(self._prior), dtype=torch.float64)

    def fit(self, points: torch.Tensor, results: torch.Tensor) -> None:
        """Fit the weights of the regression. The length scale and the noise of the regression are those with the
        largest marginal likelihood.
        """
        best: float | None = None
        for length in LENGTHS:
            features = self._features(points, length)
            rest = results - features @ self._prior
            gram, product = features.T @ features, features.T @ rest
            for ratio in NOISES:
                signal, noise = 1 / (1 + ratio), ratio / (1 + ratio)
                precision = gram / noise + torch.eye(len(gram), dtype=torch.float64) / signal
                root = torch.linalg.cholesky(precision)
                weights = torch.cholesky_solve(product[:, None] / noise, root)[:, 0]
                evidence = weights @ product / noise - rest @ rest / noise
                evidence = evidence - len(results) * math.log(noise) - len(gram) * math.log(signal)
                likelihood = float(evidence - 2 * root.diagonal().log().sum()) / 2
                if best is None or likelihood > best:
                    best, self._length, self._weights, self._root = likelihood, length, self._prior + weights, root

    def mean(self, points: torch.Tensor) -> torch.Tensor:
        """The posterior mean of the regression at ``points``."""
        mean: torch.Tensor = self._features(points, self._length) @ self._weights
        return mean

    def bound(self, points: torch.Tensor) -> torch.Tensor:
        """The lower confidence bound of the regression at ``points``."""
        features = self._features(points, self._length)
        deviation = torch.linalg.solve_triangular(self._root, features.T, upper=False).norm(dim=0)
        bound: torch.Tensor = features @ self._weights - CONFIDENCE * deviation
        return bound

    def draw(self, points: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Draw a function from the posterior and return its values at ``points``."""
        noise = torch.randn(len(self._weights), 1, generator=generator, dtype=torch.float64)
        drawn = self._weights + torch.linalg.solve_triangular(self._root.T, noise, upper=True)[:, 0]
        values: torch.Tensor = self._features(points, self._length) @ drawn
        return values

    def _features(self, points: torch.Tensor, length: float) -> torch.Tensor:
        size = points.shape[1]
        waves = WIGGLE * math.sqrt(2 / FEATURES) * torch.cos(points @ self._directions / length + self._phases)
        squares = (1 - points**2) / (2 * math.sqrt(size))
        return torch.cat([waves, points / math.sqrt(2 * size), squares], dim=1)


def _standardised(values: torch.Tensor) -> torch.Tensor:
    return (values - values.mean()) / (values.std(correction=0) + 1e-9)


def _initial(layout: ActionLayout) -> list[float]:
    """The default of each parameter of the coded actions, scaled so that its range is [-1, 1]."""
    return list(itertools.chain.from_iterable(head.initial or (0.0,) * head.size for head in _heads(layout)))


def _heads(layout: ActionLayout) -> list[Head]:
    return [head for head in layout.heads if head.role == "parameters" and head.kind == "box"]


def _columns(layout: ActionLayout, role: str) -> list[int]:
    """The positions in a flat action at which the numbers of all Box heads with the role ``role`` are."""
    at, found = int(bool(layout.choices)), list[int]()
    for head in layout.heads:
        if head.role == role and head.kind == "box":
            found += range(at, at + head.components)
        at += head.components
    return found
