"""Studies: experiments of many runs, which end in a table. The section ``study`` of an experiment file defines one."""

from rlgpt.studies.study import Cell, Study

__all__ = ["Cell", "Study"]
