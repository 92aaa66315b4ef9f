"""Studies. A study is an experiment of many runs whose results are a table. The section ``study`` of an experiment file
defines a study.
"""

from rlgpt.studies.study import Cell, Study

__all__ = ["Cell", "Study"]
