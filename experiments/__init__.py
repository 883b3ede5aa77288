"""From config.yaml to traces, tables and verdicts; a room per trade (see the README's map)."""

import os

# Before numpy is loaded: two runs with one thread each, not two with two; and the sums of one
# thread come out the same every time.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
