"""The worker process: it runs an environment for another process, in another interpreter.

Python 3.8 or newer with numpy runs this package, with any version of gym or gymnasium. It is written for 3.8 and
imports nothing else. ``rlgpt.envs`` in the other process starts it as ``rlgpt_worker`` (see :data:`BOOT`), and imports
it for what both share: frames, descriptions of spaces, places in the shared memory.

A frame is four bytes of length (big endian) and a JSON object. Numbers of a fixed shape lie in shared memory; text and
sequences travel in the frame, as ``inline``.

==========  =========================================  =========================================================
order       with                                       answer
==========  =========================================  =========================================================
``make``    factory, arguments, paths, render_mode     observation, action (described), render_modes, fps
``attach``                                             (from here on both spaces lie in the shared memory)
``reset``   seed, options                              inline, info
``step``    inline                                     inline, info, reward, terminated, truncated
``render``                                             frame (shape, base64) or null
==========  =========================================  =========================================================

Every failure is answered with ``error``. This process ends when the connection closes or the other process is gone.
"""

BOOT = """
import importlib.util as u, sys
sys.path[:] = [p for p in sys.path if p]
s = u.spec_from_file_location("rlgpt_worker", sys.argv[1], submodule_search_locations=[sys.argv[1].rpartition("/")[0]])
m = sys.modules["rlgpt_worker"] = u.module_from_spec(s)
s.loader.exec_module(m)
from rlgpt_worker.program import main
main(sys.argv[2:])
"""
"""For ``python -c``, with the path of this file. Only the package is on the path, so that no other module is hidden."""
