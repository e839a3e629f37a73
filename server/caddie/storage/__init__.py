"""What outlives the process: settings files, sessions, grants, trust, long results. Readable formats, atomic writes."""
