"""Every scheme that is registered keeps the same promises."""
