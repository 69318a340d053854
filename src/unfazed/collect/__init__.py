"""The web app in which people type, speak and judge: studies and their database, who gets what, pages, export."""
