"""Makes `vary/keyboard/data/words.txt.gz`, Chinese words by pinyin, and `phrases.txt.gz`, what input methods offer too.

Words are from jieba's list with pypinyin's readings, both under the MIT licence. Phrases, such as 急着 and 又是, are what
Android's Pinyin IME has beyond them (Apache licence 2.0; Debian's rime-data-pinyin-simp). Run it with:
pip install jieba pypinyin && apt-get install rime-data-pinyin-simp && python tools/make_pinyin_words.py
"""

from __future__ import annotations

import gzip
import math
from collections import defaultdict
from pathlib import Path

import jieba
from pypinyin import Style, lazy_pinyin, pinyin

DATA = Path(__file__).parents[1] / "src/unswayed/vary/keyboard/data"
ANDROID = Path("/usr/share/rime-data/pinyin_simp.dict.yaml")
SCALE = 0.5  # jieba's counts of the words that both have, over Android's
RAREST = 4  # jieba gives words that it has not counted a frequency of 3 or less
LONGEST = 7
# Words younger than the list, with a frequency on its scale, as today's input methods know them: 花呗 after 华北.
YOUNG = {
    3500: "支付宝 淘宝 微信 新冠 疫情 二维码",
    800: "红包 还款 逾期 提现 分期 余额宝",
    400: "余额宝 支付宝 淘宝 微信 新冠 疫情 二维码 扫码 网购 快递 外卖 短信 客服 账单 转账 到账 手机号 验证码",
    150: "红包 提现 提额 还款 逾期 绑定 解绑 芝麻信用 蚂蚁 网商贷 扣款 退款 付款 收款 分期 信用卡 银行卡 余额 额度 征信",
    80: "充值 天猫 京东 拼多多 美团 饿了么 抖音 快手 直播 网红 高铁 共享单车 滴滴 打车 网约车 大数据 云计算 人工智能 互联网 "
    "新冠肺炎 新冠病毒 核酸 口罩 隔离 防疫 复工 复产 确诊 病例 特朗普 拜登 脱贫 小康 一带一路 习近平 碳中和 乡村振兴",
    40: "收钱码 付款码 刷脸 人脸识别 指纹 登录 注销 解冻 冻结 还清 结清 账户 账号 密码 客户端 小程序 公众号 朋友圈 微博 表情包 点赞 "
    "转发 关注 粉丝 主播 电商 网店 店铺 包邮 秒杀 优惠券 满减 预售 尾款 双十一 双十二 剁手",
    20: "花呗 借呗 密付 当面付 白条 微粒贷 免密 代扣 垫付 赊账 返现 专享 临额 提前还款 最低还款 自动还款 手续费 服务费 违约金",
}


Rows = dict[str, list[tuple[str, float]]]


def main() -> None:
    words = _words()
    rows: Rows = defaultdict(list)
    for word, count in words.items():
        for key, share in _readings(word):
            rows[key].append((word, count * share))
    _write("words", rows)
    _write("phrases", _phrases(words))


def _phrases(words: dict[str, int]) -> Rows:
    rows: Rows = defaultdict(list)
    for line in ANDROID.read_text(encoding="utf-8").splitlines():
        word, *rest = line.split("\t")
        if len(rest) == 2 and 1 < len(word) <= LONGEST and word not in words and _simplified(word):
            rows["'".join(_plain(s) for s in rest[0].split(" "))].append((word, int(rest[1]) * SCALE))
    return rows


def _write(name: str, rows: Rows) -> None:
    """The words of each reading ranked, each with its frequency."""
    ranked = {key: sorted(row, key=lambda pair: (-pair[1], pair[0])) for key, row in rows.items()}
    text = table({key: "".join(word + _level(count) for word, count in row) for key, row in ranked.items()})
    out = DATA / f"{name}.txt.gz"
    out.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(
        f"{sum(map(len, rows.values())):,} words, {len(rows):,} readings, {out.stat().st_size / 2**20:.2f} MiB in {out}"
    )


def table(rows: dict[str, str]) -> str:
    """As `Lexicon` reads it: the highest frequency of each length of words, then a line for each first syllable.

    A line has the syllable, all characters that its words begin with, and the rest of each reading before its words.
    """
    highest: dict[int, str] = {}
    lines: dict[str, list[str]] = defaultdict(list)
    heads: dict[str, str] = defaultdict(str)
    for key in sorted(rows):
        syllable, _, rest = key.partition("'")
        row, size = rows[key], key.count("'") + 1
        lines[syllable] += [rest, row]
        heads[syllable] = "".join(dict.fromkeys(heads[syllable] + row[:: size + 1]))
        highest[size] = max(highest.get(size, "@"), *row[size :: size + 1])
    letters = "".join(highest.get(size, "A") for size in range(1, max(highest) + 1))
    return "\n".join([letters, *("\t".join([s, heads[s], *cells]) for s, cells in lines.items())])


def _words() -> dict[str, int]:
    """Words in simplified characters (those of GB 2312) with their counts."""
    words = {}
    for line in Path(jieba.__file__).with_name("dict.txt").read_text(encoding="utf-8").splitlines():
        word, count, _ = line.split(" ")
        if _simplified(word) and (len(word) == 1 or (int(count) >= RAREST and len(word) <= LONGEST)):
            words[word] = int(count)
    for count, young in YOUNG.items():
        for word in young.split():
            words[word] = max(words.get(word, 0), count)
    return words


def _simplified(word: str) -> bool:
    try:
        return all("\u4e00" <= c <= "\u9fff" for c in word) and bool(word.encode("gb2312"))
    except UnicodeEncodeError:
        return False


def _readings(word: str) -> list[tuple[str, float]]:
    """The syllables of a word, joined by apostrophes; single characters may have several, the first the commonest."""
    if len(word) > 1:
        return [("'".join(_plain(s) for s in lazy_pinyin(word)), 1.0)]
    found = [_plain(s) for s in pinyin(word, style=Style.NORMAL, heteronym=True)[0]]
    kept = dict.fromkeys(s for s in found if s.isalpha() and s.isascii() and s not in ("n", "ng", "m", "hm", "hng"))
    return [(s, 1.0 if i == 0 else 0.05) for i, s in enumerate(kept)] or [("en", 1.0)]


def _plain(syllable: str) -> str:
    return {"lve": "lue", "nve": "nue"}.get(syllable, syllable)


def _level(count: float) -> str:
    """The frequency as one character: half a power of two a step."""
    return chr(ord("A") + max(0, min(50, round(2 * math.log2(max(count, 1))))))


if __name__ == "__main__":
    main()
