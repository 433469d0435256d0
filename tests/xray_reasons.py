"""Why the x-ray and a GPU's tools differ where they do: words for xray_truth.py and the page."""

MERGED = (
    "the compiler unrolls the inner loop by four and reads four neighbouring words of a row at "
    "once, where a row is a multiple of 16 bytes"
)
KEPT = (
    "where a barrier is missing, a compiler may keep in a register what its thread has just "
    "written; one of the two compilers does so here, and the other reads it again"
)
# Why a chapter may have a report of racecheck, and of the x-ray.
POLLED = {
    "36_work_together": "its first exercise is a sum without barriers, which the check launches "
    "as the reader finds it",
    "39_matmul_limits": "its exercise 39.2 launches a ring of tiles as the reader finds it",
    "47_oja_on_chip": "its kernel hands states over in volatile words that carry the number of "
    "their step, and reads until that fits, an order without barriers that racecheck does not know",
}
RACING = {
    "35_indexing": "it x-rays a blur in place, to show the race",
    "36_work_together": "it x-rays a sum without barriers, to show the race, and leaves it to mend",
    "39_matmul_limits": "its exercise 39.2 leaves a ring of tiles to mend",
    "47_oja_on_chip": "it x-rays a persistent kernel whose barrier of the grid is forgotten",
}
