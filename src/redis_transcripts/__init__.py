"""Runs the Redis transcripts of Markdown pages on a real server and compares every shown reply."""
