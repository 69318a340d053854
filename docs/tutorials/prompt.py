# %% [markdown]
# # Test a prompt
# You have questions with answers, and a chat model behind an OpenAI-compatible URL. Here a small server stands in for the
# model, so that the notebook needs no key. It understands a question only if the word that matters is spelled right.

# %%
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import unswayed

CAPITALS = {"france": "Paris", "italy": "Rome", "japan": "Tokyo", "egypt": "Cairo", "norway": "Oslo", "peru": "Lima"}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"].lower()
        reply = next((city for country, city in CAPITALS.items() if country in asked), "I do not know.")
        body = {
            "choices": [{"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(asked.split()), "completion_tokens": len(reply.split())},
        }
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"

# %% [markdown]
# Make variants of the questions.

# %%
questions = [
    {"question": f"What is the capital of {country.title()}?", "answer": city} for country, city in CAPITALS.items()
]
suite = unswayed.make_suite(questions, "keyboard/adjacent", task="generate", draws=5, seed=3, language="en")
suite

# %% [markdown]
# Run the model. The prompt is a file with a place for each input.

# %%
Path("prompt.txt").write_text("Answer with one word.\n{question}\n")
system = unswayed.open_system(f"{url}#demo", prompt="prompt.txt")
run = unswayed.run_system(suite, system, to="run")
results = unswayed.measure_run(run, {"measure": {"sanity": False}})
server.shutdown()
server.server_close()
assert results.flip_rate.value > 0
results

# %%
results.flips()[["after", "answer_before", "answer_after"]].head(4)
