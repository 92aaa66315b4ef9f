"""Plugins: environments and what agents may know of them."""
