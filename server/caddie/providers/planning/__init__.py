"""How the offline provider decides: words in, one call or one sentence out. Pure: no clock, no file, no socket."""
