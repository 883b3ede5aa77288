"""From config.yaml to traces, tables and verdicts; one module an arrow (see the README's map)."""
