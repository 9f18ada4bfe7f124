"""What a run showed, for people: gathered, tabled, drawn, written as one HTML page."""
