"""Stage: what is on the disk, told from its listing."""
