"""Accents of Mandarin: which sounds speakers of a dialect group mix up, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping

# Pairs of sounds that accents merge, either way round.
_RETROFLEX = (("zh", "z"), ("ch", "c"), ("sh", "s"))
_NASAL = (("an", "ang"), ("en", "eng"), ("in", "ing"), ("ian", "iang"), ("uan", "uang"), ("un", "ong"))
_N_L = (("n", "l"),)
_F_H = (("f", "h"),)
_R = (("r", "l"), ("r", ""))
_FRONT_NASAL = (("en", "eng"), ("in", "ing"))

# What each group does, by the strength with which it is heard against people at large. The groups are those of
# READIN's ten speakers: Harbin; Zhangjiakou and Shijiazhuang; Datong; Hefei; Changde, Guangyuan and Zigong; Loudi.
_Strong = tuple[tuple[tuple[tuple[str, str], ...], float], ...]
GROUPS: Mapping[str, tuple[float, _Strong, float]] = {
    # name: share of READIN's speakers, merged sounds, strength of tone shifts
    "northeastern": (0.1, ((_RETROFLEX, 1.6), (_R, 2.0), (_NASAL, 0.6), (_N_L, 0.3), (_F_H, 0.4)), 0.8),
    "jilu": (0.2, ((_RETROFLEX, 0.9), (_NASAL, 0.7), (_N_L, 0.4), (_F_H, 0.5)), 1.2),
    "jin": (0.1, ((_RETROFLEX, 1.4), (_NASAL, 2.0), (_N_L, 0.6), (_F_H, 0.6)), 1.3),
    "jianghuai": (0.1, ((_RETROFLEX, 1.4), (_NASAL, 1.6), (_N_L, 2.0), (_F_H, 0.6), (_R, 1.5)), 1.0),
    "southwestern": (0.3, ((_RETROFLEX, 1.6), (_FRONT_NASAL, 1.8), (_N_L, 2.0), (_F_H, 1.3)), 1.1),
    "xiang": (0.2, ((_RETROFLEX, 1.5), (_NASAL, 1.6), (_N_L, 1.8), (_F_H, 2.2)), 1.3),
}


def accented(heard: Mapping[str, float], group: str) -> dict[str, float]:
    """Chances of mishearing, as they are for a speaker of this group."""
    _, merged, tones = GROUPS[group]
    made = dict(heard)
    for pairs, strength in merged:
        for one, two in pairs:
            for pair in (f"{one}>{two}", f"{two}>{one}"):
                if pair in made:
                    made[pair] = min(0.8, made[pair] * strength)
    for pair, chance in heard.items():
        if pair[0].isdigit() and pair[0] != pair[-1]:
            made[pair] = min(0.8, chance * tones)
    return made
