"""The loud channels of the model's activations, and how much quieter each is made. Pure.

Measured once by `python -m benchmarks.calibrate_e5`, which prints this table. A channel is loud
by how far its extreme lies above a percentile of all channels' extremes. Factors are powers of
two, so that to divide an activation by one changes none of its digits.
"""

from collections.abc import Mapping

import numpy as np

from resources.e5.graph import SITES
from resources.e5.weights import Floats

# By product: channel to the power of two that it is divided by.
LOUD: Mapping[str, Mapping[int, int]] = {
    "l0.qkv": {15: 1, 87: 1},
    "l0.fi": {60: 1, 321: 1},
    "l0.fo": {91: 1, 318: 3, 368: 1, 489: 1, 779: 1, 953: 1, 1333: 1, 1503: 1},
    "l1.qkv": {15: 1, 321: 1},
    "l1.fi": {15: 3, 321: 2},
    "l1.fo": {20: 1, 36: 1, 120: 1, 633: 1, 1026: 1, 1374: 1, 1462: 2, 1535: 1},
    "l2.qkv": {15: 1, 321: 1},
    "l2.fi": {15: 3, 321: 1},
    "l2.fo": {354: 2, 597: 1, 768: 1, 1241: 1, 1259: 1, 1431: 1, 1475: 1, 1480: 1},
    "l3.qkv": {15: 1, 146: 1},
    "l3.fi": {15: 3, 321: 1},
    "l3.fo": {385: 1, 408: 1, 479: 1, 857: 1, 913: 1, 984: 1, 1136: 1, 1157: 1},
    "l4.qkv": {15: 1, 345: 1},
    "l4.fi": {15: 2, 321: 1},
    "l4.fo": {8: 1, 29: 1, 63: 1, 226: 1, 778: 4, 880: 1, 1031: 1, 1481: 1},
    "l5.qkv": {35: 1, 345: 1},
    "l5.fi": {15: 1, 35: 2},
    "l5.fo": {137: 1, 401: 1, 432: 1, 658: 3, 671: 1, 807: 1, 835: 1, 949: 1},
    "l6.qkv": {35: 1, 345: 1},
    "l6.fi": {15: 1, 35: 3},
    "l6.fo": {218: 1, 482: 1, 607: 1, 1119: 1, 1152: 2, 1161: 1, 1186: 1, 1219: 1},
    "l7.qkv": {35: 1, 146: 1},
    "l7.fi": {15: 1, 35: 3},
    "l7.fo": {1: 1, 413: 2, 565: 1, 626: 1, 760: 1, 860: 1, 1189: 1, 1428: 1},
    "l8.qkv": {15: 1, 35: 1},
    "l8.fi": {15: 1, 35: 3},
    "l8.fo": {61: 1, 469: 1, 563: 1, 916: 1, 1066: 1, 1068: 1, 1196: 1, 1362: 1},
    "l9.qkv": {15: 1, 35: 1},
    "l9.fi": {15: 1, 35: 2},
    "l9.fo": {63: 1, 361: 1, 364: 1, 669: 1, 1031: 1, 1139: 1, 1264: 1, 1513: 1},
    "l10.qkv": {15: 1, 35: 1},
    "l10.fi": {35: 2, 351: 1},
    "l10.fo": {635: 1, 683: 1, 837: 1, 1114: 1, 1128: 1, 1247: 1, 1329: 1, 1451: 1},
    "l11.qkv": {3: 1, 35: 2},
    "l11.fi": {35: 2, 146: 1},
    "l11.fo": {119: 2, 370: 1, 522: 1, 554: 2, 712: 1, 934: 1, 1332: 1, 1371: 2},
}


def smoothing(loud: Mapping[str, Mapping[int, int]] = LOUD) -> dict[str, Floats]:
    """Return the factor of every input channel of each product that has a loud one."""
    return {name: _factors(name, powers) for name, powers in loud.items()}


def _factors(name: str, powers: Mapping[int, int]) -> Floats:
    factors = np.ones(SITES[name.partition(".")[2]], np.float32)
    for channel, power in powers.items():
        factors[channel] = 2.0**power
    return factors
