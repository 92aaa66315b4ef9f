"""Studies. A study is an experiment that consists of many runs, and whose results are tables. The section ``study`` in
the file of an experiment defines a study.
"""

from rlgpt.studies.study import Cell, Study

__all__ = ["Cell", "Study"]
