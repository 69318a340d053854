"""What people read: tables, charts, one HTML file, JUnit."""
