"""What language models are asked about a folder's notes: requests and prompts, stage by stage."""
