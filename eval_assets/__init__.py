"""How a build is judged: questions, measures and significance, without a language model."""
