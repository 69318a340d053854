"""Dialect-robust evaluation and NANO (ACL 2023): are metrics robust to dialect?"""
