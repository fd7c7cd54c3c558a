"""What scripts of this folder share: commands of joulecast, and tables of text."""
import subprocess
import sys


def run(command, **more):
    """What the command prints; ends this program where it fails. Status 3 is a forecast with operations that are not known."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-800:]}")
    return done.stdout


def print_table(names, lines, align="<"):
    """Columns as wide as they need to be; the first one to the left, the others to the left or, with ">", to the right."""
    widths = [max(len(line[column]) for line in [names, *lines]) for column in range(len(names))]
    for line in [names, ["─" * width for width in widths], *lines]:
        rest = [f"{cell:{align}{width}}" for cell, width in zip(line[1:], widths[1:])]
        print("  ".join([f"{line[0]:{widths[0]}}", *rest]).rstrip())
