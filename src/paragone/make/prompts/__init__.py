"""Pictures from words: a keyword grammar's prompts, and the diffusion pipelines that paint them."""
