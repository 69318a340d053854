"""Input methods of others, behind the contract of `vary/keyboard/ime`: oracles for the built-in one."""
