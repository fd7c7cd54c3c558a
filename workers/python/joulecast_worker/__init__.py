"""joulecast-python: measures operations and networks as Python issues them. docs/python.md tells what is included."""
