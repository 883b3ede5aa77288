"""Before a test file loads numpy: one thread, as a run has. Two that wait for each other take
three times as long where the machine does other things too.
"""

import experiments  # noqa: F401
