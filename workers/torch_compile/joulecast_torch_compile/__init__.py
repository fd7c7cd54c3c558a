"""joulecast-torch-compile: measures operations and networks as torch.compile runs them (Inductor). docs/torch-compile.md tells how."""
