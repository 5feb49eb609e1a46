"""Runs the flow solver dgsuite, looks at its fields while it runs, and reads its results.

    import dgsuite
    run = dgsuite.run("vortex.yaml", {"space.order": 4}, output="out/p4")
    print(run.summary["status"], run.table("error")["l2_rho"][-1])
    dgsuite.picture(run, field="Density")
"""

from ._fields import Fields, read as fields
from ._program import RunError, program
from ._results import Run
from ._commands import check, export, picture, report, run

__all__ = ["Fields", "Run", "RunError", "check", "export", "fields", "picture", "program", "report", "run"]
