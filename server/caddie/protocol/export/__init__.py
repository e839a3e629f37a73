"""What is generated from the declared wire, and how to make it anew: `python -m caddie.protocol.export [--check]`."""
