"""`python -m dgsuite` is the program."""

import subprocess
import sys

from ._program import program

sys.exit(subprocess.call([str(program()), *sys.argv[1:]]))
