"""The paper's sentences, judged: measures, verdicts, variants of the setting."""
