"""Messages in bulk: safetensors bodies of exactly known shape and length."""
