"""The words sent to a vision-language model: one file a call site, one loader (`prompts.prompt`)."""
