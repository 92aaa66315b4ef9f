"""The worker process, which runs an environment in its own interpreter for another process.

The package ``rlgpt.envs.worker`` runs in Python 3.8 or newer with numpy and any version of gym or gymnasium. The
package imports nothing else. The main process starts this package as ``rlgpt_worker`` (see :data:`BOOT`). The main
process also imports the package, because both processes share the code for frames, descriptions of spaces, and
positions in the shared memory.

A message between the processes (*frame*) consists of four bytes, which contain its length (big endian), and a JSON
object. Arrays of a fixed shape are in the shared memory. Text and sequences are in the message, under the key
``inline``.

==========  =========================================  =========================================================
order       with                                       answer
==========  =========================================  =========================================================
``make``    factory, arguments, paths, render_mode     observation, action (described), render_modes, fps
``attach`` (from here on both spaces are in the shared memory)
``reset``   seed, options                              inline, info
``step``    inline                                     inline, info, reward, terminated, truncated
``render``                                             frame (shape, base64) or null
==========  =========================================  =========================================================

The answer to an order that fails has the key ``error``. The worker process ends when the connection closes, or when the
main process has ended.
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
"""The text of the program for ``python -c``. Its first argument is the path of this file; the other arguments are those
of :func:`rlgpt.envs.worker.program.main`. The program imports only this package and adds no folder to ``sys.path``, so
that it cannot hide other modules.
"""
