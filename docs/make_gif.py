"""Converts the video of a run to the GIF of the README.

    rlgpt train task=kitchen/sequence_a iterations=1 video=true folder=runs/picture llm.model=openai/gpt-5
    python docs/make_gif.py runs/picture docs/assets/run.gif

The video of a run shows the name of the active option on each frame. GIF files are large, so the script keeps every
third frame of the video, at a smaller size and with 64 colours.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from imageio_ffmpeg import get_ffmpeg_exe


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("run", type=Path, help="a run's folder with a video")
    parser.add_argument("gif", type=Path)
    parser.add_argument("--every", type=int, default=3, help="keep each N-th frame")
    parser.add_argument("--side", type=int, default=320, help="pixels")
    parser.add_argument("--fps", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1.5, help="how long the last frame stays")
    options = parser.parse_args()
    videos = sorted((options.run / "videos").glob("*.mp4"))
    if not videos:
        parser.error(f"{options.run} has no video. Run the task with video=true, where frames can be rendered.")
    steps = [
        f"select=not(mod(n\\,{options.every}))",
        f"setpts=N/{options.fps}/TB",
        f"scale={options.side}:-1:flags=lanczos",
        f"tpad=stop_mode=clone:stop_duration={options.seconds}",
    ]
    palette = "split[a][b];[a]palettegen=max_colors=64:stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=5"
    command = [get_ffmpeg_exe(), "-y", "-loglevel", "error", "-i", str(videos[0])]
    command += ["-vf", f"{','.join(steps)},{palette}", "-r", str(options.fps), str(options.gif)]
    subprocess.run(command, check=True)
    print(f"{options.gif}: {options.gif.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
