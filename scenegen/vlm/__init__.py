"""Asking vision-language models: what is asked, what is answered, and what the answers may do."""
