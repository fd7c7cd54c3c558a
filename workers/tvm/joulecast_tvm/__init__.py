"""joulecast-tvm: measures operations and networks as TVM compiles them (Relax, LLVM). docs/tvm.md tells how."""
