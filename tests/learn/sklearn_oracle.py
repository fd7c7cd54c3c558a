"""Our learners against scikit-learn's and XGBoost's: python sklearn_oracle.py FIT_CSV. Status 77: no scikit-learn here."""
import subprocess
import sys

try:
    import numpy as np
    from sklearn.ensemble import ExtraTreesRegressor, IsolationForest, RandomForestRegressor
    from sklearn.linear_model import LinearRegression, Ridge
    from sklearn.metrics import r2_score
    from sklearn.model_selection import KFold
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeRegressor
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

failures = 0


def ours(learner, x, y, x_test, **words):
    lines = [" ".join([learner, *(f"{word}={value!r}" for word, value in words.items())])]
    lines += [",".join(repr(float(v)) for v in (*row, t)) for row, t in zip(x, y)]
    lines += [""] + [",".join(repr(float(v)) for v in row) for row in x_test]
    ran = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", text=True, capture_output=True, check=True)
    return np.array([float(line) for line in ran.stdout.split()])


def data(rows, columns, seed):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(rows, columns)).astype(np.float32)
    y = 4 * np.sin(2 * x[:, 0]) + 3 * x[:, 1] + 2 * x[:, 2] * x[:, 3] + 0.2 * random.normal(size=rows)
    return x, y


def report(what, good, found):
    global failures
    print(f"{what}: {found} {'ok' if good else 'FAILED'}")
    failures += not good


def same(what, mine, theirs, within):
    worst = np.max(np.abs(mine - theirs))
    report(what, worst <= within, f"largest difference {worst:.1e}, allowed {within:.0e}")


def folds_agree(what, x, y, mine, theirs, within=0.005, seeds=range(4)):
    """R² over the same five folds, mean over seeds on either side."""
    scores = {"ours": [], "theirs": []}
    for seed in seeds:
        mine_out, theirs_out = np.zeros(len(y)), np.zeros(len(y))
        for train, test in KFold(5, shuffle=True, random_state=0).split(x):
            mine_out[test] = mine(seed, x[train], y[train], x[test])
            theirs_out[test] = theirs(seed).fit(x[train], y[train]).predict(x[test])
        scores["ours"].append(r2_score(y, mine_out))
        scores["theirs"].append(r2_score(y, theirs_out))
    a, b = np.mean(scores["ours"]), np.mean(scores["theirs"])
    report(what, abs(a - b) <= within, f"R² ours {a:.4f}, theirs {b:.4f}")


def trees():
    # A single tree has no randomness on data without ties: the very same forecasts. (Deep trees have ties: every
    # column splits two rows equally well, and scikit-learn then takes one at random.)
    for seed, depth in ((1, 3), (2, 4), (3, 5)):
        x, y = data(4000, 6, seed)
        x_test, _ = data(500, 6, seed + 100)
        theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(x, y).predict(x_test)
        mine = ours("decision_tree", x, y, x_test, share=1.0, depth=depth, leaf=1, seed=seed)
        # Leaves are float32 with us.
        good = np.allclose(mine, theirs, rtol=1e-6, atol=1e-7)
        report(f"decision tree, depth {depth}", good, "same forecasts" if good else "other forecasts")
    x, y = data(1000, 8, 9)
    for learner, theirs in (("random_forest", RandomForestRegressor), ("extra_trees", ExtraTreesRegressor)):
        for share in (1.0, 0.5):
            folds_agree(f"{learner}, {share:.0%} of the features", x, y,
                        lambda seed, *parts: ours(learner, *parts, trees=100, share=share, seed=seed),
                        lambda seed: theirs(n_estimators=100, max_features=share, random_state=seed))


def boosted_trees():
    try:
        import xgboost
    except ImportError as missing:
        print(f"not compared with XGBoost's Python package: {missing}")
        return
    x, y = data(1000, 8, 9)
    for words, theirs in (({"depth": 6}, {"max_depth": 6}), ({"depth": 3}, {"max_depth": 3})):
        folds_agree(f"xgboost {words}", x, y,
                    lambda seed, *parts: ours("xgboost", *parts, rounds=100, rate=0.1, **words),
                    lambda seed: xgboost.XGBRegressor(n_estimators=100, learning_rate=0.1, tree_method="hist",
                                                      max_bin=64, n_jobs=1, **theirs), seeds=[0])


def linear_models():
    x, y = data(400, 6, 4)
    x *= np.float32([1, 10, 0.1, 3, 1, 100])
    x_test, _ = data(200, 6, 5)
    # Exactly so in float32: a copy, twice another, a constant.
    dependent = np.column_stack([x, x[:, 0], 2 * x[:, 1], np.full(len(x), 7)]).astype(np.float32)
    dependent_test = np.column_stack([x_test, x_test[:, 0], 2 * x_test[:, 1], np.full(len(x_test), 7)]).astype(np.float32)
    # All coefficients at once: at the origin and at one step along each column.
    steps = np.vstack([np.zeros(6), np.eye(6)]).astype(np.float32)
    model = LinearRegression().fit(x.astype(float), y)
    told = ours("linear", x, y, steps)
    same("linear, coefficients", told[1:] - told[0], model.coef_, 1e-6)
    same("linear, intercept", told[0], model.intercept_, 1e-6)
    for name, mine, theirs, words in (
            ("linear", "linear", LinearRegression(), {}),
            ("ridge, alpha 3", "ridge", Ridge(alpha=3), {"alpha": 3}),
            ("polynomial, alpha 0.5", "polynomial", make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(alpha=0.5)),
             {"alpha": 0.5})):
        pipeline = make_pipeline(StandardScaler(), theirs)
        same(name, ours(mine, x, y, x_test, **words), pipeline.fit(x.astype(float), y).predict(x_test.astype(float)), 1e-6)
        few, few_y = x[:5], y[:5]  # fewer rows than columns
        same(f"{name}, few rows", ours(mine, few, few_y, x_test, **words),
             pipeline.fit(few.astype(float), few_y).predict(x_test.astype(float)), 1e-6)
        if mine == "polynomial": continue
        same(f"{name}, dependent columns", ours(mine, dependent, y, dependent_test, **words),
             pipeline.fit(dependent.astype(float), y).predict(dependent_test.astype(float)), 1e-6)


def neighbours():
    x, y = data(600, 5, 6)
    x_test, _ = data(300, 5, 7)
    for k in (1, 3, 10):
        for by_distance in (0, 1):
            theirs = make_pipeline(StandardScaler(), KNeighborsRegressor(k, weights="distance" if by_distance else "uniform"))
            same(f"knn, k = {k}, {'1 / distance' if by_distance else 'uniform'}",
                 ours("knn", x, y, x_test, k=k, by_distance=by_distance),
                 theirs.fit(x.astype(float), y).predict(x_test.astype(float)), 1e-5)


def support_vectors():
    x, y = data(500, 5, 8)
    x_test, _ = data(300, 5, 9)
    for C, epsilon in ((1, 0.1), (10, 0.02)):
        # We round the standardised columns to float32; with a small epsilon the dual solution feels that.
        rounded = FunctionTransformer(lambda z: z.astype(np.float32).astype(float))
        theirs = TransformedTargetRegressor(
            make_pipeline(StandardScaler(), rounded, SVR(C=C, epsilon=epsilon, tol=1e-8)), transformer=StandardScaler())
        same(f"svr, C = {C}, epsilon = {epsilon}", ours("svr", x, y, x_test, C=C, epsilon=epsilon, tolerance=1e-8),
             theirs.fit(x.astype(float), y).predict(x_test.astype(float)), 1e-5)


def perceptrons():
    x, y = data(1000, 8, 9)
    # Both stop early, at different rows: of two good networks neither may be far behind.
    folds_agree("mlp", x, y, lambda seed, *parts: ours("mlp", *parts, seed=seed),
                lambda seed: TransformedTargetRegressor(
                    make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=300, early_stopping=True,
                                                                 n_iter_no_change=20, random_state=seed)),
                    transformer=StandardScaler()), within=0.01, seeds=range(2))


def ranks(values):
    order = np.empty(len(values))
    order[np.argsort(values, kind="stable")] = np.arange(len(values))
    return order


def isolation_forests():
    """The scores rank rows as scikit-learn's do: Spearman's correlation, and the same rows at the top."""
    random = np.random.default_rng(11)
    x = np.vstack([random.normal(size=(700, 4)), random.normal(4, 0.3, size=(280, 4)), random.uniform(-9, 9, size=(20, 4))])
    x = x.astype(np.float32)
    nothing = np.zeros(len(x))
    for trees, drawn, least in ((1000, 256, 0.99), (1000, 64, 0.99)):
        theirs = -IsolationForest(n_estimators=trees, max_samples=drawn, random_state=0).fit(x).score_samples(x)
        mine = ours("isolation_forest", x, nothing, x, trees=trees, rows=drawn)
        spearman = np.corrcoef(ranks(mine), ranks(theirs))[0, 1]
        report(f"isolation forest of {drawn} rows, order", spearman >= least, f"Spearman {spearman:.4f}")
        report(f"isolation forest of {drawn} rows, level", np.max(np.abs(mine - theirs)) < 0.03,
               f"largest difference {np.max(np.abs(mine - theirs)):.4f}")
        common = len(set(np.argsort(mine)[-20:]) & set(np.argsort(theirs)[-20:]))
        report(f"isolation forest of {drawn} rows, the oddest 20", common >= 18, f"{common} in common")


def main():
    for part in (trees, boosted_trees, linear_models, neighbours, support_vectors, perceptrons, isolation_forests):
        part()
    print(f"{failures} failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
