"""The web app in which people type, speak and judge: studies, their store, who gets what, pages, agreement, export."""
