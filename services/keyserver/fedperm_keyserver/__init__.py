"""The key server: makes keys and releases them to enrolled clients.

Holds the secret keys and who is enrolled; never sees an update.
"""
