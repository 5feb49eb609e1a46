"""Runs the flow solver dgsuite and reads its results.

    import dgsuite
    run = dgsuite.run("vortex.yaml", {"space.order": 4}, output="out/p4")
    print(run.summary["status"], run.table("error")["l2_rho"][-1])
"""

from ._program import RunError, program, run
from ._results import Run

__all__ = ["Run", "RunError", "program", "run"]
