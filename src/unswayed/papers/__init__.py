"""The four papers that unswayed grew from, each a guest: it uses public names and registers as a plug-in would."""
