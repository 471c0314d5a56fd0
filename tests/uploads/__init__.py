"""Every upload form that is registered keeps the same promises."""
