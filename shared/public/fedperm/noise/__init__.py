"""Integer Laplace noise that is safe in finite precision (floats are not: Mironov 2012).

law               which integers are drawn, what every sampler offers, what an inexact one costs
table_sampler     as fast as numpy, with a stated error; clients draw with it
opendp_sampler    exact and slow; needs the extra `privacy`

Other packages import only what a module lists in `__all__`.
"""
