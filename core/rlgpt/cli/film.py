"""A video of a run's best iteration: one fresh episode, the active action written on each frame."""

from __future__ import annotations

from rlgpt.domain import best_of
from rlgpt.loop import LoopContext
from rlgpt.report.video import Film

FPS = 20


def film(made: LoopContext, name: str, *, seed: int | None = None) -> str:
    """Write the video; if no frame can be rendered here, there is none and the answer says why.

    :param name: of the file, in the run's folder.
    :param seed: of the episode; default: the first of the reported ones.
    :returns: one line for the user.
    """
    best = best_of(made.run.iterations())
    if not best.kept.episodes:
        return "no video: the best iteration has neither a policy nor a coded action"
    seeds = (made.seeds.report(1)[0] if seed is None else seed,)
    try:
        with Film(made.run.files, name, fps=FPS) as shots:
            played = made.evaluate_kept(best, seeds=seeds, on_frame=shots.add)
    except Exception as error:  # rendering is a driver's affair and no reason to lose a run: tell why, and go on
        return f"no video: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return (
        f"video {made.run.folder / name} (seed {seeds[0]}, {'success' if played.episodes[0].success else 'no success'})"
    )
