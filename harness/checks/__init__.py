"""Agreement with the reference, and identities inside one engine."""
