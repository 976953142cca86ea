"""What spark-submit runs: ``howdah audit`` on a cluster, with the options that follow.

spark-submit --master spark://HOST:7077 --jars postgresql.jar --py-files howdah-VERSION-py3-none-any.whl submit.py
--dsn DSN --output DIRECTORY. The driver's Python needs Howdah's dependencies; the executors' needs none of them.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python searches a program's folder first, and a module here has the name of one of Python's.
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]

    from howdah.cli.main import main

    main(["audit", *sys.argv[1:]])
