"""What the engines compute, and how: one topic per module, every number computed on the model that was asked for.

A topic makes an `Explanation` of `record`, which `reports.explained` prints and `reports.page.explained` draws.
"""
