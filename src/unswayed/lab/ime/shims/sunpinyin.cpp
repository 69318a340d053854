// SunPinyin behind two C functions. One session a process; learning stays in a user folder that is thrown away.
#include <string>
#include <sunpinyin.h>

namespace {
struct Window : public CIMIWinHandler {
    void commit(const TWCHAR *) override {}
    void updatePreedit(const IPreeditString *) override {}
    void updateCandidates(const ICandidateList *) override {}
    void updateStatus(int, int) override {}
};

CIMIView *view = nullptr;
Window window;
std::string answer;

void append(std::string &out, unsigned c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 63));
    } else {
        if (c < 0x10000) {
            out += static_cast<char>(0xE0 | c >> 12);
        } else {
            out += static_cast<char>(0xF0 | c >> 18);
            out += static_cast<char>(0x80 | (c >> 12 & 63));
        }
        out += static_cast<char>(0x80 | (c >> 6 & 63));
        out += static_cast<char>(0x80 | (c & 63));
    }
}
} // namespace

extern "C" {

int unswayed_open(const char *user_folder) {
    ASimplifiedChinesePolicy::instance().setUserDataDir(user_folder);
    auto &factory = CSunpinyinSessionFactory::getFactory();
    factory.setPinyinScheme(CSunpinyinSessionFactory::QUANPIN);
    factory.setInputStyle(CSunpinyinSessionFactory::CLASSIC_STYLE);
    factory.setCandiWindowSize(10);
    view = factory.createSession();
    if (!view) return 0;
    view->attachWinHandler(&window);
    view->setHotkeyProfile(new CHotkeyProfile());
    view->getIC()->setNonCompleteSyllable(true);
    return 1;
}

// One candidate a line, at most `n`. The text lives until the next call.
const char *unswayed_candidates(const char *keys, int n) {
    view->clearIC();
    view->setStatusAttrValue(0, 1);
    for (const char *key = keys; *key; ++key) {
        CKeyEvent event(*key, *key, 0);
        view->onKeyEvent(event);
    }
    CCandidateList list;
    view->getCandidateList(list, 0, n);
    answer.clear();
    for (int i = 0; i < list.size() && i < n; ++i) {
        for (const TWCHAR *c = list.candiString(i); *c; ++c) append(answer, *c);
        answer += '\n';
    }
    return answer.c_str();
}
}
