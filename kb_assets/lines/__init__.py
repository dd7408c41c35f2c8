"""Stage line_vectors: the vectors of links and claims."""
