"""What starts runs by itself: changes of the vault, new builds, the week's sweep; and alerts."""
