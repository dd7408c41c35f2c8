"""The loud channels of the model's activations, and how much quieter each is made. Pure.

Measured once by `python -m benchmarks.calibrate_e5`, which prints this table. A channel is loud
by how far its extreme lies above a percentile of all channels' extremes. Factors are powers of
two, so that to divide an activation by one changes none of its digits.
"""

import numpy as np

from resources.e5.graph import SITES
from resources.e5.weights import Floats

# Of each product: channels, each with the power of two that it is divided by.
TABLE = """
l0.qkv 15:1 87:1 269:1 321:1
l0.fi 15:1 60:1 87:1 321:2
l0.fo 91:1 318:3 368:1 489:1 684:1 779:1 861:1 909:1 950:1 953:1 970:1 1030:1 1273:1 1333:1
    1408:1 1503:1
l1.qkv 15:2 87:1 146:1 321:1
l1.fi 15:3 87:1 146:1 321:2
l1.fo 20:1 36:1 120:1 126:1 199:1 204:1 512:1 560:1 633:1 698:1 1026:1 1328:1 1358:1 1374:1
    1462:2 1535:1
l2.qkv 15:1 146:1 321:1 345:1
l2.fi 15:3 146:1 297:1 321:2
l2.fo 59:1 84:1 354:2 597:1 768:1 868:1 1021:1 1064:1 1122:1 1153:1 1241:1 1259:1 1289:1 1431:1
    1475:1 1480:1
l3.qkv 15:1 146:1 268:1 345:1
l3.fi 15:3 146:1 297:1 321:1
l3.fo 122:1 221:1 385:1 408:1 479:1 499:1 622:1 733:1 857:1 913:1 923:1 984:1 1136:1 1157:1
    1252:1 1491:1
l4.qkv 15:1 146:1 268:1 345:1
l4.fi 15:2 146:1 297:1 321:1
l4.fo 8:1 20:1 29:1 226:1 332:1 433:1 596:1 628:1 639:1 778:4 880:1 955:1 992:1 1031:1 1074:1
    1481:1
l5.qkv 35:1 146:1 268:1 345:1
l5.fi 15:1 35:3 146:1 321:1
l5.fo 137:1 157:1 251:1 351:1 401:1 658:3 671:1 807:1 818:1 835:1 857:1 867:1 875:1 949:1 1069:1
    1439:1
l6.qkv 15:1 35:1 297:1 345:1
l6.fi 15:2 35:4 146:1 321:1
l6.fo 128:1 218:1 295:1 346:1 482:1 511:1 607:1 620:1 759:1 903:1 1093:1 1152:2 1161:1 1186:1
    1219:1 1420:1
l7.qkv 15:1 35:1 146:1 345:1
l7.fi 15:1 35:3 146:1 297:1
l7.fo 75:1 82:1 149:1 413:2 511:1 565:1 613:1 626:1 760:1 780:1 782:1 860:1 1017:1 1189:1 1428:1
    1473:1
l8.qkv 15:1 35:1 146:1 268:1
l8.fi 15:2 35:3 146:1 297:1
l8.fo 61:1 155:1 215:1 469:1 563:1 620:1 668:1 916:1 998:1 1039:1 1066:1 1068:1 1196:1 1362:1
    1470:1 1486:1
l9.qkv 15:1 35:1 146:1 297:1
l9.fi 15:2 35:3 146:1 351:1
l9.fo 63:1 216:1 265:1 342:1 359:1 361:1 364:1 669:1 900:1 984:1 1031:1 1139:1 1170:1 1264:1
    1365:1 1513:1
l10.qkv 15:1 35:2 146:1 347:1
l10.fi 15:2 35:3 321:1 351:2
l10.fo 99:1 161:1 284:1 348:1 364:1 402:1 635:1 683:1 750:1 837:1 1114:1 1128:1 1247:1 1291:1
    1329:1 1451:1
l11.qkv 3:1 35:2 62:1 119:1
l11.fi 35:3 142:1 146:2 351:1
l11.fo 119:2 147:1 256:1 329:1 370:1 522:1 554:2 607:1 712:2 731:1 905:1 934:1 956:1 1278:1
    1332:1 1371:2
"""


def smoothing(table: str = TABLE) -> dict[str, Floats]:
    """Return the factor of every input channel of each product that has a loud one.

    >>> smoothing("l0.qkv 0:3 2:1")["l0.qkv"][:4].tolist()
    [8.0, 1.0, 2.0, 1.0]
    """
    factors: dict[str, Floats] = {}
    product = ""
    for word in table.split():
        channel, _, power = word.partition(":")
        if power:
            factors[product][int(channel)] = 2.0 ** int(power)
        else:
            product = word
            factors[product] = np.ones(SITES[product.partition(".")[2]], np.float32)
    return factors
