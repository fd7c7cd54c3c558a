"""Our trees against scikit-learn's: python sklearn_oracle.py FIT_CSV. Status 77: no scikit-learn here."""
import subprocess
import sys

try:
    import numpy as np
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
    from sklearn.metrics import r2_score
    from sklearn.model_selection import KFold
    from sklearn.tree import DecisionTreeRegressor
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def ours(learner, trees, share, depth, seed, x, y, x_test):
    lines = [f"{learner} {trees} {share} {depth} {seed}"]
    lines += [",".join(repr(float(v)) for v in (*row, t)) for row, t in zip(x, y)]
    lines += [""] + [",".join(repr(float(v)) for v in row) for row in x_test]
    ran = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", text=True, capture_output=True, check=True)
    return np.array([float(line) for line in ran.stdout.split()])


def data(rows, columns, seed):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(rows, columns)).astype(np.float32)
    y = 4 * np.sin(2 * x[:, 0]) + 3 * x[:, 1] + 2 * x[:, 2] * x[:, 3] + 0.2 * random.normal(size=rows)
    return x, y


def main():
    failures = 0
    # A single tree has no randomness on data without ties: the very same forecasts. (Deep trees have ties: every
    # column splits two rows equally well, and scikit-learn then takes one at random.)
    for seed, depth in ((1, 3), (2, 4), (3, 5)):
        x, y = data(4000, 6, seed)
        x_test, _ = data(500, 6, seed + 100)
        theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(x, y).predict(x_test)
        mine = ours("decision_tree", 1, 1.0, depth, seed, x, y, x_test)
        # Leaves are float32 with us.
        same = np.allclose(mine, theirs, rtol=1e-6, atol=1e-7)
        print(f"decision tree, depth {depth}: {'same' if same else 'DIFFERENT'}")
        failures += not same
    # Forests: R² over the same five folds, mean of four seeds on either side, within 0.005.
    x, y = data(1000, 8, 9)
    for learner, theirs in (("random_forest", RandomForestRegressor), ("extra_trees", ExtraTreesRegressor)):
        for share in (1.0, 0.5):
            scores = {"ours": [], "scikit-learn": []}
            for seed in range(4):
                mine_out, theirs_out = np.zeros(len(y)), np.zeros(len(y))
                for train, test in KFold(5, shuffle=True, random_state=0).split(x):
                    mine_out[test] = ours(learner, 100, share, 64, seed, x[train], y[train], x[test])
                    model = theirs(n_estimators=100, max_features=share, random_state=seed)
                    theirs_out[test] = model.fit(x[train], y[train]).predict(x[test])
                scores["ours"].append(r2_score(y, mine_out))
                scores["scikit-learn"].append(r2_score(y, theirs_out))
            a, b = np.mean(scores["ours"]), np.mean(scores["scikit-learn"])
            print(f"{learner}, {share:.0%} of the features: R² ours {a:.4f}, scikit-learn {b:.4f}")
            failures += abs(a - b) > 0.005
    print(f"{failures} failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
