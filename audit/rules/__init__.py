"""The rules of an audit, a file for each subject; ``rule`` says what a rule is, ``..checks`` runs them all."""
