"""Static analysis of sources: which keys of a view code can read (:mod:`rlgpt.sandbox.reads.views`), and when an answer
of ``can_start`` can change (:mod:`rlgpt.sandbox.reads.can_start`).
"""

from rlgpt.sandbox.reads.can_start import Reads, reads_of, view_reads_of
from rlgpt.sandbox.reads.keys import ViewReads

__all__ = ["Reads", "ViewReads", "reads_of", "view_reads_of"]
