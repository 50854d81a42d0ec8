"""A benchmark as a data set for others: layouts, checksums, Croissant metadata, the card, and the way back."""
