"""The accuracy table computed again from --predictions, by scikit-learn: python recompute_table.py JOULECAST MAKE_DB.

MAKE_DB writes a small database to the path it is given. Status 77: no scikit-learn here.
"""
import csv
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict

try:
    import numpy as np
    from scipy.stats import binomtest
    from sklearn.metrics import (
        max_error,
        mean_absolute_error,
        mean_absolute_percentage_error,
        median_absolute_error,
        r2_score,
    )
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def expected(rows):
    y = np.array([float(r["measured"]) for r in rows])
    p = np.array([float(r["predicted"]) for r in rows])
    both = (y > 0) & (p > 0)
    folds = defaultdict(list)
    for i, row in enumerate(rows):
        folds[row["fold"]].append(i)
    of_folds = [r2_score(y[i], p[i]) for i in folds.values() if len(i) > 1 and np.ptp(y[i]) > 0]
    result = {
        "rows": len(rows),
        "groups": len({r["group"] for r in rows}),
        "mae": mean_absolute_error(y, p),
        "medae": median_absolute_error(y, p),
        "max_error": max_error(y, p),
    }
    if (y > 0).any():
        result["mape"] = mean_absolute_percentage_error(y[y > 0], p[y > 0])
        result["median_ape"] = np.median(np.abs(p - y)[y > 0] / y[y > 0])
    if len(rows) > 1 and np.ptp(y) > 0:
        result["r2"] = r2_score(y, p)
    if both.sum() > 1 and np.ptp(y[both]) > 0:
        result["r2_log"] = r2_score(np.log(y[both]), np.log(p[both]))
    if of_folds:
        result["r2_fold_mean"] = np.mean(of_folds)
        result["r2_fold_std"] = np.std(of_folds)
    if rows[0]["low"]:
        low = np.array([float(r["low"]) for r in rows])
        high = np.array([float(r["high"]) for r in rows])
        inside = (low <= y) & (y <= high)
        result["interval_coverage"] = np.mean(inside)
        exact = binomtest(int(inside.sum()), len(rows)).proportion_ci(0.95, "exact")
        result["interval_coverage_low"], result["interval_coverage_high"] = exact.low, exact.high
        result["interval_contains_90"] = exact.low <= 0.9 <= exact.high
        if (p > 0).all():
            result["interval_width"] = np.mean((high - low) / p)
    return result


def main():
    with tempfile.TemporaryDirectory() as folder:
        database, table = f"{folder}/m.db", f"{folder}/rows.csv"
        subprocess.run([sys.argv[2], database], check=True)
        ran = subprocess.run(
            [sys.argv[1], "validate", "--db", database, "--baselines", "--format", "json", "--predictions", table],
            check=True, capture_output=True, text=True)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
    answer = json.loads(ran.stdout)
    compared = 0
    wrong = []
    for line in answer["operations"]:
        mine = [r for r in rows if r["model"] == line["model"] and r["metric"] == line["metric"]
                and line["family"] in ("all", r["family"]) and line["mode"] in ("all", r["mode"])
                and line["math"] == r["math"]]
        without = sum(1 for r in mine if not r["predicted"])
        compared += 1
        if line["rows_without_forecast"] != without:
            wrong.append(f"{line['model']} {line['metric']}: {line['rows_without_forecast']} is {without}")
        mine = [r for r in mine if r["predicted"]]
        if not mine:
            continue
        for key, value in expected(mine).items():
            compared += 1
            if line[key] is None or not math.isclose(line[key], value, rel_tol=1e-9, abs_tol=1e-12):
                wrong.append(f"{line['model']} {line['metric']} {line['family']} {key}: {line[key]} is {value}")
    print("\n".join(wrong))
    print(f"{compared} numbers compared, {len(wrong)} differ")
    return bool(wrong) or compared < 100


if __name__ == "__main__":
    sys.exit(main())
