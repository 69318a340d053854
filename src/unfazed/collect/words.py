"""What the pages say, in English and Chinese."""

from __future__ import annotations

LANGUAGES = {"en": "English", "zh": "中文"}

_WORDS: dict[str, tuple[str, str]] = {
    "agree": ("I have read this and agree", "我已阅读并同意"),
    "answer_kept": ("Answer saved", "答案已保存"),
    "answered": ("answered", "已完成"),
    "audio_bad": ("This is no recording that we can read. Record again.", "无法读取录音，请重新录制。"),
    "audio_fine": ("Listen to it, then send it or record it again.", "请试听，然后提交或重新录制。"),
    "audio_long": ("The recording is too long. Record again.", "录音太长，请重新录制。"),
    "audio_quiet": (
        "The recording is too quiet. Come closer and record again.",
        "录音音量太小，请靠近麦克风重新录制。",
    ),
    "audio_short": ("The recording is too short. Record again.", "录音太短，请重新录制。"),
    "audio_waits": (
        "No connection. Keep this page open: the recording will be sent by itself.",
        "网络已断开。请不要关闭页面，恢复连接后会自动发送录音。",
    ),
    "before": ("Before you begin", "开始之前"),
    "cant_tell": ("Can't tell", "无法判断"),
    "changed_back": ("What is typed can't be changed.", "已输入的内容不能修改。"),
    "choose": ("Choose an answer first.", "请先选择答案。"),
    "deleted": (
        "To have everything that you entered deleted, write to",
        "如需删除您提交的全部内容，请联系",
    ),
    "done": ("Nothing more for you now", "目前没有更多任务"),
    "done_more": (
        "Thank you! Your answers are saved. Items may come back later: look in again.",
        "谢谢！您的答案已保存。之后可能还会有新的任务，欢迎再来查看。",
    ),
    "error": ("This did not work", "出错了"),
    "excluded": ("Your part in this study has ended. Thank you.", "您在本研究中的参与已结束，谢谢。"),
    "first_text": ("First text", "文本一"),
    "go_on": ("Go on", "继续"),
    "grammatical": ("Is the second text grammatical?", "文本二是否合乎语法？"),
    "intent": ("Intent", "意图"),
    "intent_reasonable": ("Is the intent reasonable?", "意图标注是否合理？"),
    "kept_here": (
        "No connection. Your answer is kept on this device and will be sent by itself.",
        "网络已断开。您的答案已保存在本设备上，恢复连接后会自动发送。",
    ),
    "level": ("Level of your microphone", "麦克风音量"),
    "listen": ("Listen", "试听"),
    "look_again": ("Look again", "再看一次"),
    "need_link": (
        "This page is for invited people. Open the link that you were sent.",
        "本页面仅供受邀者使用，请打开您收到的链接。",
    ),
    "no": ("No", "否"),
    "no_microphone": ("The microphone can't be used.", "无法使用麦克风。"),
    "not_found": ("There is no such page.", "页面不存在。"),
    "not_set": ("not chosen yet", "尚未选择"),
    "original": ("Original", "原文"),
    "per_minute": ("characters a minute", "字/分钟"),
    "plausible": ("Which text is more plausible as what a person typed?", "哪一个更像是真人输入的？"),
    "read_aloud": ("Read this sentence aloud, as you usually speak.", "请用您平常说话的方式朗读下面的句子。"),
    "record": ("Record", "录音"),
    "record_again": ("Record again", "重新录音"),
    "record_first": ("Record the sentence first.", "请先录音。"),
    "recorded": ("What is recorded", "记录的内容"),
    "recorded_all": (
        "Your answers, when you gave them, and how long you took.",
        "您的答案、提交时间和所用时长。",
    ),
    "recorded_keys": (
        "While you type: every key and every step of your input method, with its time.",
        "输入过程中：每一次按键和输入法的每一步操作及其时间。",
    ),
    "recorded_voice": (
        "Your voice, and what your browser says of the microphone.",
        "您的声音，以及浏览器提供的麦克风信息。",
    ),
    "refused": ("The answer was not taken", "答案未被接受"),
    "retype": (
        "Type this sentence as fast as you comfortably can. What is typed can't be taken back; that is intended.",
        "请以自然的最快速度输入下面的句子。已上屏的内容不能修改，这是有意的设计。",
    ),
    "same": ("Do the two texts mean the same?", "两段文本的意思相同吗？"),
    "same_all": ("100: exactly the same", "100：完全相同"),
    "same_none": ("0: quite different", "0：完全不同"),
    "second_text": ("Second text", "文本二"),
    "seconds": ("s", "秒"),
    "send": ("Send", "提交"),
    "sending": ("Sending…", "正在提交…"),
    "set_slider": ("Move the slider first.", "请先移动滑块。"),
    "several": ("Choose all that fit.", "可多选。"),
    "skip_to": ("Skip to the task", "跳到任务"),
    "slots": ("Slots", "槽位"),
    "slots_none": ("none", "无"),
    "slots_reasonable": ("Are the slots reasonable?", "槽位标注是否合理？"),
    "stop": ("Stop", "停止"),
    "text": ("Text", "文本"),
    "too_fast": ("Too many requests. Wait a moment.", "请求过于频繁，请稍候。"),
    "type_here": ("Type here", "在此输入"),
    "type_something": ("Type the sentence first.", "请先输入句子。"),
    "utterance": ("Utterance", "语句"),
    "without_script": ("This page needs JavaScript.", "本页面需要启用 JavaScript。"),
    "yes": ("Yes", "是"),
}


def words(language: str) -> dict[str, str]:
    """Every phrase by name."""
    column = 1 if language == "zh" else 0
    return {name: both[column] for name, both in _WORDS.items()}
