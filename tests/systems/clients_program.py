"""Asks a chat server through every client of other libraries, and prints what became of it as JSON.

It runs in an environment of its own that has these libraries: `python clients_program.py URL`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anthropic
import huggingface_hub
import langchain_core.language_models
import langchain_core.output_parsers
import langchain_core.prompts
import langchain_core.runnables
import langchain_openai
import litellm
import openai

import unswayed

KEY = "sk-of-the-client-123456"
ROWS = [
    {"text": "turn on the light", "label": "lights"},
    {"text": "play some jazz", "label": "music"},
    {"text": "dim the light in the hall", "label": "lights"},
    {"text": "put on a song", "label": "music"},
]


def clients(url: str) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each with the options that it needs."""
    chat = langchain_openai.ChatOpenAI(model="m", api_key=KEY, base_url=url, temperature=0)
    prompt = langchain_core.prompts.ChatPromptTemplate.from_messages(
        [("system", "Say lights or music."), ("user", "{text}")]
    )
    parsed = prompt | chat | langchain_core.output_parsers.StrOutputParser()
    own = openai.AsyncOpenAI(api_key=KEY, base_url=url)

    async def answer(text: str) -> Any:
        return await own.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])

    def lite(text: str) -> Any:
        message = {"role": "user", "content": text}
        return litellm.completion(model="openai/m", messages=[message], api_base=url, api_key=KEY)

    def lower(text: str) -> str:
        return text.lower()

    body = {"api_base": url, "api_key": KEY}
    return {
        "openai": (openai.OpenAI(api_key=KEY, base_url=url), {"model": "m"}),
        "openai, async": (openai.AsyncOpenAI(api_key=KEY, base_url=url), {"model": "m"}),
        "azure": (
            openai.AzureOpenAI(api_key=KEY, azure_endpoint=url.removesuffix("/v1"), api_version="2026-01-01"),
            {"model": "m"},
        ),
        "anthropic": (anthropic.Anthropic(api_key=KEY, base_url=url.removesuffix("/v1")), {"model": "m"}),
        "anthropic, async": (anthropic.AsyncAnthropic(api_key=KEY, base_url=url.removesuffix("/v1")), {"model": "m"}),
        "litellm": (litellm.completion, {"model": "openai/m", "body": body}),
        "litellm, async": (litellm.acompletion, {"model": "openai/m", "body": body}),
        "litellm, module": (litellm, {"model": "openai/m", "body": body}),
        "hugging face": (huggingface_hub.InferenceClient(base_url=url, api_key=KEY), {"model": "m"}),
        "langchain, model": (chat, {}),
        "langchain, chain": (parsed, {}),
        "langchain, messages": (prompt | chat, {}),
        "langchain, function": (langchain_core.runnables.RunnableLambda(lower) | chat, {}),
        "async def": (answer, {}),
        "function of litellm": (lite, {}),
    }


def main(url: str) -> None:
    found = {}
    for name, (client, options) in clients(url).items():
        system = unswayed.open_system(client, **options, price_in=1.0, price_out=2.0)
        suite = unswayed.make_suite(ROWS, "surface/case", language="en")
        run = unswayed.run_system(suite, system)
        results = unswayed.measure_run(run)
        found[name] = {
            "clean": results.clean.value,
            "asked": run.session.asked,
            "used": run.used(),
            "identity": system.identity,
            "name": system.name,
            "at once": max(system.concurrency, system.threads_if_waiting),
            "again": unswayed.open_system(client, **options).identity == system.identity,
        }
    try:
        unswayed.open_system(openai.OpenAI(api_key=KEY, base_url=url))
    except unswayed.UnswayedError as error:
        found["no model"] = str(error)
    found["url"] = unswayed.open_system(url, model="m").identity
    wrong = openai.OpenAI(api_key=KEY, base_url=url + "/nowhere", max_retries=0)
    try:
        plan = {"run": {"options": {"model": "m"}}, "data": {"language": "en"}}
        unswayed.check(wrong, ROWS, "surface/case", plan=plan)
    except unswayed.UnswayedError as error:
        found["wrong address"] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
