// libime behind three C functions: open, candidates, and nothing that could throw across them.
#include <exception>
#include <libime/core/userlanguagemodel.h>
#include <libime/pinyin/pinyincontext.h>
#include <libime/pinyin/pinyindictionary.h>
#include <libime/pinyin/pinyinime.h>
#include <memory>
#include <string>

namespace {
struct Handle {
    std::unique_ptr<libime::PinyinIME> ime;
    std::unique_ptr<libime::PinyinContext> context;
    std::string answer;
};
} // namespace

extern "C" {

void *unswayed_open(const char *words, const char *model) {
    try {
        auto dictionary = std::make_unique<libime::PinyinDictionary>();
        dictionary->load(libime::PinyinDictionary::SystemDict, words, libime::PinyinDictFormat::Binary);
        auto handle = std::make_unique<Handle>();
        handle->ime = std::make_unique<libime::PinyinIME>(std::move(dictionary),
                                                          std::make_unique<libime::UserLanguageModel>(model));
        handle->ime->setNBest(2);
        handle->ime->setFuzzyFlags(libime::PinyinFuzzyFlags{libime::PinyinFuzzyFlag::Inner,
                                                            libime::PinyinFuzzyFlag::PartialFinal});
        handle->context = std::make_unique<libime::PinyinContext>(handle->ime.get());
        return handle.release();
    } catch (const std::exception &) {
        return nullptr;
    }
}

// One candidate a line, at most `n`. The text lives until the next call.
const char *unswayed_candidates(void *pointer, const char *keys, int n) {
    auto *handle = static_cast<Handle *>(pointer);
    handle->answer.clear();
    try {
        handle->context->clear();
        handle->context->type(keys);
        for (const auto &candidate : handle->context->candidates()) {
            if (n-- <= 0) break;
            handle->answer += candidate.toString() + "\n";
        }
    } catch (const std::exception &) {
        handle->answer.clear();
    }
    return handle->answer.c_str();
}
}
