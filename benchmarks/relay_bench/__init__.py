"""What the relay benchmarks share: servers under test as processes, and a load generator made of prepared bytes."""
