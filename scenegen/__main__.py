"""`python -m scenegen`: the command line."""

from scenegen.cli import main

if __name__ == "__main__":
    main()
