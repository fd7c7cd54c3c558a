// Compiled for its precompiled header alone: see CMakeLists.txt beside it.
int main() {}
