"""The contract with the editors, declared once. Imports pydantic and nothing of ours."""
