"""What changed and how sure that is: averages, worst cases, flips, intervals, comparisons."""
