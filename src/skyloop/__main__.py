"""`python -m skyloop` is the command `skyloop`."""

from skyloop.cli import main

if __name__ == "__main__":
    main()
