"""Stage retyping: better types for links of which only is known that they are related."""
