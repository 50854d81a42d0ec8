"""Ways to learn scores from features: two-layer heads, ridge regression, support vectors."""
