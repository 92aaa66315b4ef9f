"""An environment, played for another process: what runs in the other interpreter.

Any Python from 3.8 with numpy runs this package, whatever gym or gymnasium its environment is made for. It imports
nothing from outside itself, and is written in the language of 3.8. ``rlgpt.envs``, at the other end, starts it as
``rlgpt_worker`` (see :data:`BOOT`) and imports it for what both must agree on: frames, descriptions of spaces, places
in the shared memory.

A frame is four bytes of length (big endian) and a JSON object. Numbers of a fixed shape lie in shared memory; text and
sequences travel in the frame, as ``inline``.

==========  =========================================  =========================================================
asked       with                                       answered with
==========  =========================================  =========================================================
``make``    factory, arguments, paths, render_mode     observation, action (described), render_modes, fps
``attach``                                             (from here on both spaces lie in the shared memory)
``reset``   seed, options                              inline, info
``step``    inline                                     inline, info, reward, terminated, truncated
``render``                                             frame (shape, base64) or null
==========  =========================================  =========================================================

Whatever goes wrong is answered with ``error``. When the other end closes, or its process is gone, this one ends.
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
"""For ``python -c``, with the path of this file: the package alone, so that no neighbour of it hides a module there."""
