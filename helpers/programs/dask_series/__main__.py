"""A file of its own: what starts Dask's workers has them import its main program first, except a
__main__.py; and they must look for GPUs only when each knows which is its own."""

from helpers.programs.dask_series import main

main()
