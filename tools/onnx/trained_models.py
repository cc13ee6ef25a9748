# SPDX-License-Identifier: Apache-2.0
"""Models that scikit-learn, xgboost and lightgbm train in a second or less, for onnx_trained.py: by
name a function that trains one and gives it as ONNX, and the samples to run it with."""
import numpy as np
import sklearn.ensemble as ensemble
import sklearn.linear_model as linear
import sklearn.neighbors as neighbors
import sklearn.svm as svm
import sklearn.tree as tree
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.mixture import GaussianMixture
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (Binarizer, KBinsDiscretizer, MaxAbsScaler, MinMaxScaler,
                                   Normalizer, OneHotEncoder, PolynomialFeatures, RobustScaler,
                                   StandardScaler)

SAMPLES = 64


class Data:
    """Samples as fp32 and what is to be learned of them."""

    def __init__(self):
        iris, cancer = load_iris(), load_breast_cancer()
        diabetes, digits = load_diabetes(), load_digits()
        random = np.random.RandomState(0)
        self.flowers = iris.data.astype(np.float32), iris.target
        self.named = self.flowers[0], np.array(iris.target_names)[iris.target]
        self.cells = (StandardScaler().fit_transform(cancer.data).astype(np.float32),
                      cancer.target)
        self.patients = diabetes.data.astype(np.float32), diabetes.target.astype(np.float32)
        self.two = self.patients[0], np.stack([self.patients[1], self.patients[0][:, 2]], 1)
        self.digits = digits.data.astype(np.float32), digits.target
        holes = self.flowers[0].copy()
        holes[random.rand(*holes.shape) < 0.1] = np.nan
        self.holes = holes, self.flowers[1]
        counts = random.randint(0, 4, (200, 3)).astype(np.int64)
        self.counts = counts, counts.sum(1) % 2
        self.alone = self.flowers[0], None


def by_sklearn(model, samples, targets, zipmap=False):
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
    from sklearn.base import is_classifier
    model.fit(samples, targets) if targets is not None else model.fit(samples)
    kind = Int64TensorType if samples.dtype == np.int64 else FloatTensorType
    takes_zipmap = is_classifier(model) and not isinstance(model, svm.LinearSVC)
    return convert_sklearn(model, initial_types=[("X", kind([None, samples.shape[1]]))],
                           target_opset={"": 19, "ai.onnx.ml": 3},
                           options={id(model): {"zipmap": zipmap}} if takes_zipmap else None)


def by_boosting(library, model, samples, targets, **options):
    from onnxmltools import convert
    from onnxmltools.convert.common.data_types import FloatTensorType
    model.fit(samples, targets)
    return getattr(convert, f"convert_{library}")(
        model, initial_types=[("X", FloatTensorType([None, samples.shape[1]]))], **options)


def all_models():
    """{name: (function that gives a model of onnx, samples)}"""
    data = Data()
    out = {}

    def add(name, model, pair, **options):
        out[name] = (lambda: by_sklearn(model, *pair, **options), some(pair[0]))

    add("linear", linear.LinearRegression(), data.patients)
    add("ridge of two targets", linear.Ridge(), data.two)
    add("logistic, 2 classes", linear.LogisticRegression(max_iter=500), data.cells)
    add("logistic, 3 classes", linear.LogisticRegression(max_iter=500), data.flowers)
    add("logistic, text", linear.LogisticRegression(max_iter=500), data.named)
    add("logistic, maps", linear.LogisticRegression(max_iter=500), data.named, zipmap=True)
    add("logistic, one against rest", OneVsRestClassifier(linear.LogisticRegression()),
        data.flowers)
    add("linear svc", svm.LinearSVC(), data.flowers)
    for kernel in ("linear", "poly", "rbf", "sigmoid"):
        for what, pair in (("2 classes", data.cells), ("3 classes", data.flowers)):
            add(f"svc {kernel}, {what}", svm.SVC(kernel=kernel), pair)
            add(f"svc {kernel}, {what}, probabilities",
                svm.SVC(kernel=kernel, probability=True, random_state=0), pair)
        add(f"svr {kernel}", svm.SVR(kernel=kernel, C=10), data.patients)
    add("svc, 10 classes, probabilities", svm.SVC(probability=True, random_state=0), data.digits)
    add("nu svc", svm.NuSVC(probability=True, random_state=0), data.flowers)
    add("one class svm", svm.OneClassSVM(nu=0.2), data.alone)
    add("tree", tree.DecisionTreeClassifier(random_state=0), data.flowers)
    add("tree, text", tree.DecisionTreeClassifier(random_state=0), data.named)
    add("tree, integers", tree.DecisionTreeClassifier(random_state=0), data.counts)
    add("tree, missing", tree.DecisionTreeClassifier(random_state=0), data.holes)
    add("tree of two targets", tree.DecisionTreeRegressor(max_depth=5, random_state=0), data.two)
    for name, model, pair in (
            ("forest, 2 classes", ensemble.RandomForestClassifier(30, random_state=0), data.cells),
            ("forest, 10 classes", ensemble.RandomForestClassifier(20, random_state=0),
             data.digits),
            ("forest", ensemble.RandomForestRegressor(20, random_state=0), data.patients),
            ("extra trees", ensemble.ExtraTreesClassifier(20, random_state=0), data.flowers),
            ("gradient boosting, 2 classes",
             ensemble.GradientBoostingClassifier(n_estimators=20, random_state=0), data.cells),
            ("gradient boosting, 3 classes",
             ensemble.GradientBoostingClassifier(n_estimators=20, random_state=0), data.flowers),
            ("gradient boosting",
             ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0), data.patients),
            ("ada boost", ensemble.AdaBoostClassifier(n_estimators=10, random_state=0),
             data.flowers),
            ("bagging", ensemble.BaggingClassifier(n_estimators=5, random_state=0), data.flowers),
            ("isolation forest", ensemble.IsolationForest(n_estimators=20, random_state=0),
             data.alone),
            ("neighbours, classes", neighbors.KNeighborsClassifier(5), data.flowers),
            ("neighbours, text", neighbors.KNeighborsClassifier(5), data.named),
            ("neighbours", neighbors.KNeighborsRegressor(5), data.patients),
            ("outliers", neighbors.LocalOutlierFactor(novelty=True), data.alone),
            ("k means", KMeans(4, n_init=2, random_state=0), data.alone),
            ("gaussian bayes, text", GaussianNB(), data.named),
            ("multinomial bayes", MultinomialNB(), data.digits),
            ("bernoulli bayes", BernoulliNB(binarize=4.0), data.digits),
            ("network, classes", MLPClassifier((16,), max_iter=300, random_state=0), data.flowers),
            ("network", MLPRegressor(hidden_layer_sizes=(16,), max_iter=300, random_state=0),
             data.patients),
            ("quadratic discriminant", QuadraticDiscriminantAnalysis(), data.flowers),
            ("gaussian mixture", GaussianMixture(3, random_state=0), data.alone),
            ("principal components", PCA(2), data.alone),
            ("scaler, logistic", make_pipeline(StandardScaler(), linear.LogisticRegression()),
             data.flowers),
            ("imputer, scaler, forest",
             make_pipeline(SimpleImputer(), MinMaxScaler(),
                           ensemble.RandomForestClassifier(10, random_state=0)), data.holes),
            ("robust scaler, components, svc", make_pipeline(RobustScaler(), PCA(3), svm.SVC()),
             data.flowers),
            ("categories, logistic",
             make_pipeline(OneHotEncoder(handle_unknown="ignore"), linear.LogisticRegression()),
             data.counts),
            ("polynomials", make_pipeline(PolynomialFeatures(2), linear.LinearRegression()),
             data.patients),
            ("bins", KBinsDiscretizer(4, encode="onehot-dense",
                                      quantile_method="averaged_inverted_cdf"), data.alone),
            ("binarizer", Binarizer(threshold=2.0), data.alone),
            ("largest scaler", MaxAbsScaler(), data.alone)):
        add(name, model, pair)
    for norm in ("l1", "l2", "max"):
        add(f"normalizer {norm}", Normalizer(norm=norm), (data.flowers[0] - 3, None))
    return {**out, **boosted(data)}


def boosted(data):
    import lightgbm
    import xgboost
    out = {}
    for what, pair in (("2 classes", data.cells), ("3 classes", data.flowers),
                       ("missing", data.holes)):
        out[f"xgboost, {what}"] = (
            lambda pair=pair: by_boosting("xgboost", xgboost.XGBClassifier(
                n_estimators=10, max_depth=4), *pair), some(pair[0]))
        out[f"lightgbm, {what}"] = (
            lambda pair=pair: by_boosting("lightgbm", lightgbm.LGBMClassifier(
                n_estimators=10, verbose=-1), *pair), some(pair[0]))
    out["xgboost"] = (lambda: by_boosting("xgboost", xgboost.XGBRegressor(
        n_estimators=10, max_depth=4), *data.patients), some(data.patients[0]))
    out["xgboost, counts"] = (lambda: by_boosting("xgboost", xgboost.XGBRegressor(
        n_estimators=10, max_depth=3, objective="count:poisson"), *data.patients),
        some(data.patients[0]))
    out["lightgbm"] = (lambda: by_boosting("lightgbm", lightgbm.LGBMRegressor(
        n_estimators=10, verbose=-1), *data.patients), some(data.patients[0]))
    out["lightgbm, forest"] = (lambda: by_boosting("lightgbm", lightgbm.LGBMClassifier(
        boosting_type="rf", bagging_freq=1, bagging_fraction=0.8, n_estimators=10, verbose=-1),
        *data.cells, zipmap=False), some(data.cells[0]))
    return out


def some(samples):
    return samples[::max(1, len(samples) // SAMPLES)][:SAMPLES]
