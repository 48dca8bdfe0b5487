"""The console: a web page for the owner of a Computer, and a read-only one for the operator of a Server."""
