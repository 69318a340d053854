"""Lines that are hard to vary, each with what must stay whole in it. Written by hand for these tests: what is listed
was not found by the code that it tests."""

from __future__ import annotations

from typing import NamedTuple


class HardLine(NamedTuple):
    language: str
    text: str
    whole: tuple[str, ...]


def line(text: str, *whole: str, language: str = "en") -> HardLine:
    assert all(thing in text for thing in whole), text
    return HardLine(language, text, whole)


LINES = (
    # chat
    line("omg I love it ❤️ so much, thank you 🙏🏽!!", "❤️", "🙏🏽"),
    line("@anna_berg can you check #release-notes before 5 pm? 👩‍💻", "@anna_berg", "#release-notes", "👩‍💻"),
    line("lol :-) see you there <3", ":-)", "<3"),
    line("the family 👨‍👩‍👧‍👦 is moving to 🇩🇪 next year", "👨‍👩‍👧‍👦", "🇩🇪"),
    line("rt @NASA: launch delayed, follow #Artemis for more", "@NASA", "#Artemis"),
    line("press 1️⃣ for yes and 2️⃣ for no", "1️⃣", "2️⃣"),
    line("🏴󠁧󠁢󠁳󠁣󠁴󠁿 won the match, what a night 🎉🎉", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🎉"),
    line("could you :thumbs_up: this message please", ":thumbs_up:"),
    # addresses
    line("Send it to anna@x.org: `git rebase -i`", "anna@x.org", "`git rebase -i`"),
    line("Please write to ANNA.BERG@EXAMPLE.CO.UK or anna.berg+news@example.co.uk", "ANNA.BERG@EXAMPLE.CO.UK",
         "anna.berg+news@example.co.uk"),
    line("See https://en.wikipedia.org/wiki/Paris_(Texas)?action=edit#History, it is short.",
         "https://en.wikipedia.org/wiki/Paris_(Texas)?action=edit#History"),
    line("The server at http://localhost:8080/api/v1/users?id=42 is down", "http://localhost:8080/api/v1/users?id=42"),
    line("go to www.example.com/help and then call the number there", "www.example.com/help"),
    line("is example.org still for sale, or only shop.example.co.uk?", "example.org", "shop.example.co.uk"),
    line("ping 192.168.0.17 and 10.0.0.1 before you restart the router", "192.168.0.17", "10.0.0.1"),
    line("clone git@github.com:user/project.git and open the folder", "git@github.com"),
    # paths and files
    line("Open src/unswayed/base/protect.py and fix the second function", "src/unswayed/base/protect.py"),
    line("Copy C:\\Users\\Anna\\report.docx to the new drive", "C:\\Users\\Anna\\report.docx"),
    line("my notes are in ~/notes/2024/todo.md, please read them", "~/notes/2024/todo.md"),
    line("delete /var/log/syslog.1 and keep ./build/output.tar.gz", "/var/log/syslog.1", "./build/output.tar.gz"),
    line("what does .gitignore do, and who reads package-lock.json?", ".gitignore", "package-lock.json"),
    # code
    line("Why does `for i in range(10): print(i)` print nine at the end?", "`for i in range(10): print(i)`"),
    line("Explain this:\n```python\ndef add(a, b):\n    return a + b\n```\nin one sentence.",
         "```python\ndef add(a, b):\n    return a + b\n```"),
    line("What is the type of ``x `y` z`` in this sentence?", "``x `y` z``"),
    line("Fix the bug.\n\ndef area(r):\n    return 3.14 * r\n\nIt must handle negative numbers.", "def area(r):"),
    line("Run the tests with --max-fail=2 and -q to see less", "--max-fail=2", "-q"),
    line("call get_user_name() before the page is shown", "get_user_name()"),
    line("the variable userIdList is never used in this file", "userIdList"),
    line("const total = items.length;\nWhat is the value of the variable?", "const total = items.length;"),
    line("Show that $x^2 + y_1 = 3$ has many solutions", "$x^2 + y_1 = 3$"),
    # JSON, HTML, SQL
    line('Return {"name": "Anna", "tags": ["a", "b"], "age": 31} as a table',
         '{"name": "Anna", "tags": ["a", "b"], "age": 31}'),
    line('Answer as JSON, such as {"answer": "yes", "why": null}.', '{"answer": "yes", "why": null}'),
    line("the config {'debug': True, 'level': 'info'} does not work", "{'debug': True, 'level': 'info'}"),
    line('sort the list [3, 1, 2] and then the list ["b", "a"] please', "[3, 1, 2]", '["b", "a"]'),
    line('<p class="intro">Welcome to the <b>new</b> shop</p>', '<p class="intro">', "<b>", "</b>", "</p>"),
    line("Tom &amp; Jerry is on at eight, said the <a href='tv.html'>guide</a>", "&amp;", "<a href='tv.html'>", "</a>"),
    line("What does SELECT name, age FROM users WHERE age >= 18 ORDER BY age; return?",
         "SELECT name, age FROM users WHERE age >= 18 ORDER BY age;"),
    line("Rewrite this query: UPDATE orders SET status = 'paid' WHERE id = 7;",
         "UPDATE orders SET status = 'paid' WHERE id = 7;"),
    line("is select * from films where year > 1990; slow on a large table", "select * from films where year > 1990;"),
    # Markdown
    line("# Summary\n\nThe **main** point is *not* here.\n\n- first item\n- second item", "# ", "**", " *", "* ", "- "),
    line("| city | people |\n|------|--------|\n| Rome | many |\nWhich city is in the table?",
         "|------|--------|", "| "),
    line("> quoted words of a friend\n\nIs that true?", "> "),
    line("1. Boil the water\n2. Add the tea\n3. Wait for a while", "1. ", "2. ", "3. "),
    line("Read [the guide](https://example.org/guide) and ![this picture](img/a.png) first",
         "](https://example.org/guide)", "](img/a.png)"),
    line("- [ ] buy some milk\n- [x] call the doctor", "- [ ] ", "- [x] "),
    # ids, fields, numbers
    line("cancel order INV-2024-0031 and flight LH454 please", "INV-2024-0031", "LH454"),
    line("the request 550e8400-e29b-41d4-a716-446655440000 failed twice", "550e8400-e29b-41d4-a716-446655440000"),
    line("revert commit 9d51a64d and then build version 2.3.1 again", "9d51a64d", "2.3.1"),
    line("call me on +1 (555) 123-4567 after lunch", "+1 (555) 123-4567"),
    line("Translate {text} into {{ language }} for the reader", "{text}", "{{ language }}"),
    line("Dear %(name)s, your ${PRODUCT} is ready in %d days", "%(name)s", "${PRODUCT}", "%d"),
    line("<|im_start|>user\nwhat is the weather like today<|im_end|>", "<|im_start|>", "<|im_end|>"),
    line("{% if user %}Hello there {{ user.name }}{% endif %}", "{% if user %}", "{{ user.name }}", "{% endif %}"),
    # other languages, and several at once
    line("schreib bitte an müller@beispiel.de, ich habe die Datei bericht.pdf", "müller@beispiel.de", "bericht.pdf",
         language="de"),
    line("ouvre https://exemple.fr/été et dis-moi ce que tu vois", "https://exemple.fr/été", language="fr"),
    line("请打开https://例子.cn/a?b=1，然后发邮件给li@example.cn。", "li@example.cn", language="zh"),
    line("我的订单号是AB-12345，请用`npm install`安装 😂", "AB-12345", "`npm install`", "😂", language="zh"),
    line("напиши на ivan@primer.ru или в чат @ivan_petrov 👍🏿",
         "ivan@primer.ru", "@ivan_petrov", "👍🏿", language="ru"),
    line("मुझे हिंदी में https://example.in/पता भेजो 🙏", "🙏", language="hi"),
    line("اكتب إلى ali@example.com من فضلك 🌙", "ali@example.com", "🌙", language="ar"),
    line("envía {nombre} a ana@ejemplo.es con el archivo datos.csv", "{nombre}", "ana@ejemplo.es", "datos.csv",
         language="es"),
    line("veja a foto em www.exemplo.com.br e responda a @joao 😊", "www.exemplo.com.br", "@joao", "😊", language="pt"),
    line("the cafe\u0301 in Zu\u0308rich is closed\r\nplease try another one", "\r\n"),
    line("bitte sag 'git push --force' nie auf dem Server srv-04.local", "--force", "srv-04.local", language="de"),
)  # fmt: skip
