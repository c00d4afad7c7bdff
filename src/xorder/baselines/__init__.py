"""What the paper compares with."""

from xorder.baselines.post_logit import PostLogit

__all__ = ["PostLogit"]
