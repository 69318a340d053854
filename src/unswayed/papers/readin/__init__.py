"""READIN (ACL 2023): Chinese keyboard and speech noise made by people."""
