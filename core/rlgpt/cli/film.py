"""A video of a run's best iteration: one fresh episode, the active action written on each frame."""

from __future__ import annotations

from rlgpt.domain import best_of
from rlgpt.loop import LoopContext
from rlgpt.report.video import Film

FPS = 20


def film(context: LoopContext, name: str, *, seed: int | None = None) -> str:
    """Write the video. If no frame can be rendered here, there is none and the result says why.

    :param name: of the file, in the run's folder.
    :param seed: of the episode; default: the first of the reported ones.
    :returns: one line for the user.
    """
    best = best_of(context.run.iterations())
    if not best.kept.episodes:
        return "no video: the best iteration has neither a policy nor a coded action"
    seeds = (context.seeds.report(1)[0] if seed is None else seed,)
    try:
        with Film(context.run.files, name, fps=FPS) as shots:
            played = context.evaluate_kept(best, seeds=seeds, on_frame=shots.add)
    except Exception as error:  # rendering depends on drivers; its faults must not end the run
        return f"no video: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    (episode,) = played.episodes
    ends = ["success" if episode.success else "no success"] if played.has_success else []
    ends += [f"score {episode.score:g}"] if episode.score is not None else []
    return f"video {context.run.folder / name} ({', '.join([f'seed {seeds[0]}', *ends])})"
