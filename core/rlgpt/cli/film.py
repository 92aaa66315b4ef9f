"""Makes a video of an episode that the best iteration or the kept graph of a run plays. Each frame shows the name of
the action in progress.
"""

from __future__ import annotations

from rlgpt.domain import best_of
from rlgpt.loop import LoopContext
from rlgpt.planner.context import planned
from rlgpt.planner.kept import player_of
from rlgpt.planner.stored import kept_of
from rlgpt.report.video import Film

FPS = 20


def film(context: LoopContext, name: str, *, seed: int | None = None) -> str:
    """Write the video. If no frame can be rendered, the function writes no video and returns a line with the reason.

    :param name: path of the video file, relative to the run's folder.
    :param seed: seed of the episode. If ``seed`` is None, the video shows the first seed of the report.
    :returns: one line of text for the user.
    """
    kept, history = kept_of(context.run), context.run.iterations()
    if kept is None and not best_of(history).kept.episodes:
        return "no video: the best iteration has neither a policy nor a coded action"
    seeds = (context.seeds.report(1)[0] if seed is None else seed,)
    try:
        with Film(context.run.files, name, fps=FPS) as shots:
            if kept is None:
                played = context.evaluate_kept(best_of(history), seeds=seeds, on_frame=shots.add)
            else:
                with player_of(planned(context), kept, on_frame=shots.add) as player:
                    played = player.evaluate(seeds).evaluation
    except Exception as error:  # Rendering depends on drivers; a failure must not end the run.
        return f"no video: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    (episode,) = played.episodes
    ends = ["success" if episode.success else "no success"] if played.has_success else []
    ends += [f"score {episode.score:g}"] if episode.score is not None else []
    return f"video {context.run.folder / name} ({', '.join([f'seed {seeds[0]}', *ends])})"
