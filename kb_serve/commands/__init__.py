"""The kb commands, one file each; each loads what it needs when it is called."""
