"""How much longer does importing xorder take than importing scikit-learn, which it needs, and NumPy, which all need?

Processor time of fresh processes, in turns, the best of five each.
"""

from __future__ import annotations

import json
import subprocess
import sys


def seconds(module: str) -> float:
    code = f"import {module}, time; print(time.process_time())"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    taken: dict[str, list[float]] = {"numpy": [], "sklearn": [], "xorder": [], "xorder.cli": []}
    for _ in range(5):
        for module, all_taken in taken.items():
            all_taken.append(seconds(module))
    best = {module: min(all_taken) for module, all_taken in taken.items()}
    ratios = {f"{module} / numpy": round(best[module] / best["numpy"], 2) for module in best if module != "numpy"}
    print(json.dumps(ratios | {"xorder / sklearn": round(best["xorder"] / best["sklearn"], 2)}))


if __name__ == "__main__":
    main()
