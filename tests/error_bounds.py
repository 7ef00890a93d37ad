# SPDX-License-Identifier: Apache-2.0
"""How far the results of each operator may be from the exact ones: the one table, which tests and documentation use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from error_cases.case import Exact, epsilon, ulp


@dataclass(frozen=True)
class Bound:
    """The greatest error of a result.

    It is `ulps` units in the last place of the exact result, and `terms` epsilons of `what`. The halves are computed in
    float32, which has this error, and rounded to the type at the end, which adds `half` a unit.
    """

    ulps: float = 0.5
    double: float | None = None
    """The units in the last place in float64, where they are others."""
    terms: float = 0.0
    what: str = ""
    half: float = 0.5

    @staticmethod
    def computed_in(dtype: Any) -> Any:
        """Return the type that a kernel computes in."""
        return dtype if np.dtype(dtype) in (np.float32, np.float64) else np.dtype(np.float32)

    def epsilon(self, dtype: Any) -> Any:
        """Return the epsilon that counts for the terms."""
        return epsilon(self.computed_in(dtype))

    def allowed(self, exact: np.ndarray, magnitude: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a unit in the last place, what is allowed but for the terms, and all that is allowed."""
        unit = ulp(exact, dtype)
        ulps = self.double if self.double is not None and np.dtype(dtype) == np.float64 else self.ulps
        rounding = Exact(ulps) * ulp(exact, self.computed_in(dtype))
        if np.dtype(dtype).itemsize == 2:
            rounding = rounding + Exact(self.half) * unit
        if magnitude is None:
            return unit, rounding, rounding
        return unit, rounding, rounding + Exact(self.terms) * self.epsilon(dtype) * np.asarray(magnitude, Exact)


EXACT = Bound(0, half=0)
ROUNDED = Bound(0.501)  # once; the tests compare with extended precision, which is rounded itself

# What the terms are measured in.
SUM = "the root of n times the sum of the n magnitudes"
PRODUCT = "the root of n times the sum of the magnitudes of the n products, and n times the least normal number"
TILES = (
    "the root of n times the sum, over the channels, of the weights' magnitudes times the greatest element at most "
    "4 rows and columns from the window's middle, and n times the least normal number"
)
RESULT = "the root of n times the result"
DIFFERENCES = "the magnitudes that a result is the sum of"
GREATEST = "the greatest element"
EXPONENT = "the result times one and the distance to the greatest element"
GATE = "the result times one and the rounded argument of its exponent, and x times the least normal number"
ONE = "one"

BOUNDS: dict[str, Bound] = {
    # Signs, integers, choices.
    **dict.fromkeys(("Abs", "Ceil", "Clip", "Floor", "Max", "Min", "Mod", "Neg", "Relu", "Round", "Sign"), EXACT),
    **dict.fromkeys(("GlobalMaxPool", "MaxPool", "ReduceMax", "ReduceMin", "ThresholdedRelu"), EXACT),
    # One operation.
    **dict.fromkeys(("Add", "Div", "LeakyRelu", "Mul", "PRelu", "Reciprocal", "Shrink", "Sqrt", "Sub"), ROUNDED),
    "DequantizeLinear": ROUNDED,
    # Functions.
    "Acos": Bound(1.2, 1),
    "Acosh": Bound(0.501, 2),
    "Asin": Bound(2.4, 1),
    "Asinh": Bound(0.501, 2),
    "Atan": Bound(1.6, 1),
    "Atanh": Bound(0.501, 2),
    "Celu": Bound(2, 1.5),
    "Cos": Bound(1.65, 1),
    "Cosh": Bound(0.501, 1.5),
    "Elu": Bound(1.5, 1.5),
    "Erf": Bound(1.5, 1.5),
    "Exp": Bound(1, 1),
    "Log": Bound(1, 1),
    "Pow": Bound(1.5, 1),
    "Selu": Bound(3, 2.5),
    "Sigmoid": Bound(2.5, 2.5),
    "Sin": Bound(1.65, 1),
    "Sinh": Bound(0.501, 2.5),
    "Softplus": Bound(2.8, 2),
    "Softsign": Bound(1.5, 1.5),
    "Tan": Bound(2.6, 1.5),
    "Tanh": Bound(2.6, 2.5),
    "Gelu": Bound(1, terms=1.5, what=GATE),
    "Gelu, tanh": Bound(1, terms=3, what=GATE),
    "HardSigmoid": Bound(0.5, terms=0.5, what=ONE),
    "HardSwish": Bound(0.5, terms=0.5, what="x, at most 3"),
    "Mish": Bound(1, terms=2.5, what=GATE),
    "Swish": Bound(1, terms=2, what=GATE),
    "SwiGLU": Bound(0.5, terms=3, what="the result"),
    # Sums.
    **dict.fromkeys(("Mean", "Sum"), Bound(terms=1, what=DIFFERENCES)),
    **dict.fromkeys(("AveragePool", "CumSum", "GlobalAveragePool", "ReduceL1", "ReduceMean", "ReduceSum"),
                    Bound(terms=1, what=SUM)),
    "NegativeLogLikelihoodLoss": Bound(terms=1, what=SUM),
    **dict.fromkeys(("CumProd", "ReduceL2", "ReduceProd", "ReduceSumSquare"), Bound(terms=1, what=RESULT)),
    **dict.fromkeys(("GlobalLpPool", "LpPool"), Bound(terms=2, what="the result")),
    **dict.fromkeys(("ReduceLogSum", "ReduceLogSumExp"), Bound(terms=1, what="the root of n and the result")),
    **dict.fromkeys(("Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"), Bound(terms=1, what=PRODUCT)),
    "Conv, Winograd": Bound(terms=2, what=TILES),
    **dict.fromkeys(("CausalConvWithState", "Col2Im", "LinearRegressor", "Range", "RotaryEmbedding",
                     "Scaler"), Bound(terms=1, what=DIFFERENCES)),
    "LinearAttention": Bound(terms=1.5, what=DIFFERENCES),
    "DFT": Bound(terms=1, what="log2 of n times the root of the sum of squares"),
    "STFT": Bound(terms=1, what="log2 of n times the root of the sum of squares"),
    "DeformConv": Bound(terms=1, what="the sum of the weights' magnitudes times the greatest element and the rows"),
    "Det": Bound(terms=1, what="the product over the rows of the sum of their magnitudes"),
    # Normalizations.
    **dict.fromkeys(("BatchNormalization", "GroupNormalization", "InstanceNormalization", "LayerNormalization"),
                    Bound(terms=2.5, what=DIFFERENCES)),
    "MeanVarianceNormalization": Bound(terms=2.5, what=DIFFERENCES),
    "LpNormalization": Bound(terms=6, what="the result"),
    "LRN": Bound(terms=2, what="the result"),
    "Normalizer": Bound(terms=2, what="the result"),
    # The normalized number is one of the type before it is scaled.
    "RMSNormalization": Bound(1.5, terms=3, what="the result", half=1.5),
    "Softmax": Bound(terms=6, what=EXPONENT),
    "LogSoftmax": Bound(terms=3, what="one and the result"),
    "SoftmaxCrossEntropyLoss": Bound(terms=3, what="one and the result"),
    # Layers.
    "Attention": Bound(terms=3, what="the values' magnitudes with their weights, times one and the scores' terms"),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), Bound(terms=6, what=ONE)),
    # Interpolation, whose positions are rounded too.
    "AffineGrid": Bound(terms=1.5, what=DIFFERENCES),
    "GridSample": Bound(terms=1.5, what="the greatest element times the greatest extent"),
    "Resize": Bound(terms=16, what=DIFFERENCES),
    "RoiAlign": Bound(terms=4, what=GREATEST),
    "Upsample": Bound(terms=8, what=DIFFERENCES),
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), Bound(terms=4, what=ONE)),
}  # fmt: skip

# Operators without a bound here, by what their results are.
WITHOUT_BOUND = {
    "moved, chosen, compared or counted: exact, and tested for equality": (
        "And", "ArgMax", "ArgMin", "ArrayFeatureExtractor", "Binarizer", "BitCast", "BitShift", "BitwiseAnd",
        "BitwiseNot", "BitwiseOr", "BitwiseXor", "CenterCropPad", "Compress", "Concat", "ConcatFromSequence",
        "Constant", "ConstantOfShape", "DepthToSpace", "Equal", "Expand", "EyeLike", "FeatureVectorizer", "Flatten",
        "Gather", "GatherElements", "GatherND", "Greater", "GreaterOrEqual", "Hardmax", "Identity", "Imputer", "IsInf",
        "IsNaN", "LabelEncoder", "Less", "LessOrEqual", "MaxRoiPool", "MaxUnpool", "NonMaxSuppression", "NonZero",
        "Not", "OneHot", "OneHotEncoder", "Optional", "OptionalGetElement", "OptionalHasElement", "Or", "Pad",
        "Reshape", "ReverseSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
        "SequenceInsert", "SequenceLength", "Shape", "Size", "Slice", "SpaceToDepth", "Split", "SplitToSequence",
        "Squeeze", "StringConcat", "StringNormalizer", "StringSplit", "TensorScatter", "TfIdfVectorizer", "Tile",
        "TopK", "Transpose", "Trilu", "Unique", "Unsqueeze", "Where", "Xor",
    ),
    "rounded once to the type, ties to even": ("Cast", "CastLike"),
    "integers: exact sums, rounded once with ties to even where they are scaled": (
        "ConvInteger", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul", "QuantizeLinear",
    ),
    "one rounding for each element that is added, multiplied or scaled": (
        "Dropout", "Scatter", "ScatterElements", "ScatterND",
    ),
    "drawn, as numpy draws with the same seed": (
        "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
    ),
    "what their bodies compute": ("If", "Loop", "Scan", "SequenceMap"),
    "models, held to some millionths of the result by tests/runtime/kernels/test_ml_models.py": (
        "LinearClassifier", "SVMClassifier", "SVMRegressor", "TreeEnsemble", "TreeEnsembleClassifier",
        "TreeEnsembleRegressor",
    ),
    "weights in float64, rounded to the type: tests/runtime/kernels/test_signal.py": ("MelWeightMatrix",),
}  # fmt: skip
