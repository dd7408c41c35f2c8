"""Stage: passages in, keyword postings out."""
