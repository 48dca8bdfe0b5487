"""What the Office formats share: packages of XML parts, read safely and only as far as needed."""
