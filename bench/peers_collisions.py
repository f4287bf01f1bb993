"""Times NumPy's unique for kith bench collisions --peers; see conversation.py.

What to work on is

    system PATH                 a file of int32 beads[n][3]

A count is sum k (k - 1) / 2 over the sites' numbers of beads. numpy packs a site into 64 bits first,
as sorting kith does; its unique along rows, without that, is several times slower.
"""

from conversation import Peer, converse


class Numpy(Peer):
    def __init__(self):
        import numpy

        self.module = numpy

    def call(self, threads):
        numpy, beads = self.module, self.given
        low, high = beads.min(axis=0), beads.max(axis=0)
        span = high.astype(numpy.int64) - low + 1
        x, y, z = (beads - low).astype(numpy.int64).T
        numbers = numpy.unique((x * span[1] + y) * span[2] + z, return_counts=True)[1]
        return int((numbers * (numbers - 1) // 2).sum())


def read_beads(path):
    import numpy

    return numpy.fromfile(path, numpy.int32).reshape(-1, 3)


converse({"numpy": Numpy}, "system", read_beads)
