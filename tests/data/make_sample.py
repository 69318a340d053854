"""Writes the sample that ships with the package: `python tests/data/make_sample.py`. The same bytes every time.

All text is ours. A template's `{slot}` is filled from VALUES, `{slot:name}` from the values of that name or, if there
are none, with the name itself. A template that begins with `~` is used for testing only, so that a model meets ways
of asking that it was not shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

SAMPLES = Path(__file__).resolve().parents[2] / "src" / "unswayed" / "data" / "samples"
TRAIN_EACH, TEST_EACH = 55, 14  # of each intent

VALUES = {
    "artist": "the paper kites|nina alvarez|low tide|marcus bell|the copper wolves|anika rao|old harbour|juno|"
    "the night buses|samuel okoro|velvet static|clara winter|the brass monkeys|dj pale|lena and the lakes",
    "track": "silver morning|run to the river|paper moons|home by seven|the long way down|ten minutes more|"
    "hold the line|dancing in the kitchen|cold water|call me sunday|lights out|rain on the roof",
    "genre": "jazz|rock|folk|hip hop|classical music|soul|disco|reggae|ambient music|country|eighties pop|blues",
    "playlist": "sunday morning|gym|road trip|dinner party|focus|rainy day|cooking|sleep|summer",
    "room": "kitchen|living room|bedroom|hallway|bathroom|garage|office|dining room|nursery|pantry|attic|basement",
    "color": "red|blue|warm white|green|soft yellow|purple|orange",
    "level": "twenty percent|half|fifty percent|ten percent|full brightness|eighty percent|a quarter",
    "degrees": "twenty|nineteen|twenty one|eighteen and a half|seventeen|twenty two|sixteen|sixty eight|seventy",
    "clock": "six|seven thirty|half past six|quarter to eight|five am|noon|nine in the morning|ten fifteen|"
    "six forty five|eight pm|midnight|seven o'clock|quarter past five",
    "day": "tomorrow|monday|saturday|friday|sunday|wednesday|thursday|tuesday",
    "weekday": "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
    "when": "today|tomorrow|this weekend|tonight|on friday|this afternoon|next week|on sunday|this evening",
    "duration": "ten minutes|half an hour|five minutes|forty five seconds|an hour|two hours|ninety seconds|"
    "twenty minutes|three minutes|an hour and a half|twelve minutes",
    "thing": "pasta|egg|laundry|bread|tea|oven|pizza|rice|nap|roast|cake",
    "city": "oslo|lisbon|new york|leeds|mumbai|cape town|san diego|kyoto|montreal|bristol|nairobi|galway",
    "condition": "rain|snow|wind|fog|thunder|sunshine|hail|frost",
    "item": "milk|two onions|olive oil|a dozen eggs|bread|oat milk|washing powder|apples|coffee beans|batteries|"
    "toilet paper|cheddar|rice|tomatoes|a bag of flour|light bulbs|dog food|salt",
    "list": "shopping|grocery|supermarket|weekend|party",
    "person": "mum|dad|anna|grandma|doctor patel|my sister|tom|uncle joe|priya|the babysitter|my boss|yusuf|"
    "the plumber",
    "message": "i am running late|dinner is ready|happy birthday|i will be there in ten minutes|the train is delayed|"
    "see you at noon|the keys are under the mat|please bring milk|i left the lights on|we are out of bread|"
    "the meeting moved to three|call the restaurant",
    "place": "the airport|the train station|central park|the nearest pharmacy|grandma's house|the museum|"
    "the city library|the office|the harbour|the stadium|a petrol station|the town hall|the hospital",
    "mode": "bike|bus|train|car|tram",
    "cuisine": "thai|italian|mexican|indian|ethiopian|japanese|greek|vegan|lebanese|korean",
    "restaurant": "the blue door|casa luna|golden lotus|the old mill|noor|trattoria rossi|the green table|"
    "harbour grill",
    "party": "two|four|six|three|eight|five|ten",
}

# domain, intent → templates
INTENTS: dict[tuple[str, str], str] = {
    ("media", "play_music"): """
        play {track} by {artist}
        play some {genre}
        put on {artist}
        i want to hear {track}
        can you play my {playlist} playlist
        shuffle {artist}
        start the {playlist} playlist in the {room}
        play {genre} in the {room}
        let's listen to {genre}
        put {track} on repeat
        play the new album by {artist}
        could you put on some {genre} please
        i feel like hearing {artist}
        next song please
        turn on some {genre}
        ~ what about a bit of {genre}
        ~ give me {artist}
        ~ we need {genre} in the {room}
        ~ set the mood with {genre}""",
    ("home", "set_light"): """
        turn on the lights in the {room}
        turn off the {room} lights
        switch the {room} light off
        dim the {room} lights to {level}
        make the {room} lights {color}
        set the {room} lamp to {level}
        lights on in the {room}
        lights off please
        can you turn the {room} light on
        change the {room} light to {color}
        brighten the {room} lights
        it is too dark in the {room}
        i need more light in the {room}
        kill the lights in the {room}
        turn the lamp down to {level}
        ~ make it {color} in the {room}
        ~ put the {room} at {level}
        ~ everything off in the {room}
        ~ i can't see a thing in the {room}""",
    ("home", "set_thermostat"): """
        set the thermostat to {degrees} degrees
        turn the heating up in the {room}
        turn the heating down to {degrees}
        make it {degrees} degrees in the {room}
        it is too cold in the {room}
        i am freezing turn up the heat
        warm up the {room} to {degrees} degrees
        cool the {room} down to {degrees}
        switch off the heating in the {room}
        set the temperature to {degrees}
        keep the {room} at {degrees} degrees
        lower the temperature in the {room}
        can you make the {room} warmer
        turn on the air conditioning in the {room}
        raise the heat by two degrees
        ~ it is boiling in the {room}
        ~ i would like {degrees} degrees by {clock}
        ~ put the {room} at {degrees}
        ~ make the {room} a bit cooler for the night""",
    ("time", "set_alarm"): """
        set an alarm for {clock}
        wake me up at {clock}
        wake me at {clock} {day}
        alarm at {clock} on {day:weekday}
        set my alarm for {clock} {day}
        i need to get up at {clock}
        can you wake me up at {clock} on {day:weekday}
        cancel my alarm for {day}
        turn off the {clock} alarm
        add an alarm for {clock} every {day:weekday}
        move my alarm to {clock}
        please set a wake up call for {clock}
        change the alarm from six to {clock}
        i have to be awake by {clock} {day}
        ~ don't let me sleep past {clock}
        ~ get me out of bed at {clock}
        ~ ring at {clock} {day}
        ~ i want to be up by {clock} on {day:weekday}""",
    ("time", "set_timer"): """
        set a timer for {duration}
        start a timer of {duration} for the {thing}
        timer for {duration}
        {thing} timer {duration}
        count down {duration}
        remind me about the {thing} in {duration}
        give me {duration} for the {thing}
        set a {thing} timer for {duration}
        how long is left on the {thing} timer
        cancel the {thing} timer
        add {duration} to the timer
        start counting {duration}
        can you time {duration} for me
        pause the timer
        stop the {thing} timer
        ~ let me know when {duration} are up
        ~ the {thing} needs {duration}
        ~ tell me in {duration} to check the {thing}
        ~ beep after {duration}""",
    ("weather", "get_weather"): """
        what is the weather in {city}
        will it rain {when}
        how is the weather {when} in {city}
        do i need an umbrella {when}
        is there going to be {condition} in {city} {when}
        what is the forecast for {city} {when}
        how cold is it in {city}
        how hot will it get {when}
        is it sunny in {city}
        chance of {condition} {when}
        weather for {city} please
        tell me the temperature in {city}
        any {condition} expected {when}
        should i take a coat {when}
        what will it be like outside {when}
        ~ can i hang the laundry out {when}
        ~ is it warm enough for the beach in {city}
        ~ are the roads icy in {city} {when}
        ~ how many degrees in {city} {when}""",
    ("shopping", "add_to_list"): """
        add {item} to the {list} list
        put {item} on my {list} list
        we need {item}
        i am out of {item}
        add {item} and {item} to the list
        put {item} on the list please
        remove {item} from the {list} list
        can you add {item} to my shopping
        what is on the {list} list
        write down {item}
        remind me to buy {item}
        take {item} off the list
        don't forget {item} for the {list} list
        i have to get {item} {when}
        ~ we are running low on {item}
        ~ there is no {item} left
        ~ get {item} next time
        ~ scratch {item} i found some""",
    ("contact", "make_call"): """
        call {person}
        ring {person}
        can you call {person} please
        phone {person} on speaker
        dial {person}
        i want to talk to {person}
        call {person} on the mobile
        give {person} a call
        make a call to {person}
        video call {person}
        call {person} back
        try {person} again
        get {person} on the phone
        start a call with {person}
        ~ put me through to {person}
        ~ i need to speak with {person} {when}
        ~ is {person} free to talk
        ~ get me {person}""",
    ("contact", "send_message"): """
        text {person} {message}
        send a message to {person} saying {message}
        tell {person} {message}
        message {person} that {message}
        let {person} know {message}
        write to {person} {message}
        send {person} a text saying {message}
        reply to {person} {message}
        can you tell {person} that {message}
        answer {person} with {message}
        read me the last message from {person}
        do i have any new messages from {person}
        send {message} to {person}
        ~ drop {person} a line that {message}
        ~ {person} should know that {message}
        ~ say to {person} {message}
        ~ what did {person} write""",
    ("out", "get_directions"): """
        how do i get to {place}
        directions to {place}
        take me to {place}
        navigate to {place}
        what is the fastest way to {place} by {mode}
        how long does it take to get to {place}
        how far is {place}
        route to {place} by {mode}
        show me the way to {place}
        how is the traffic to {place}
        i need to be at {place} by {clock}
        find a way to {place} without tolls
        when should i leave for {place}
        is there a bus to {place}
        guide me to {place} by {mode}
        ~ where is {place}
        ~ get me to {place} by {clock}
        ~ i am lost bring me {place:home}
        ~ can i reach {place} by {mode} {when}""",
    ("out", "book_restaurant"): """
        book a table for {party} at {restaurant}
        reserve a table at {restaurant} for {clock}
        find me a {cuisine} restaurant
        i want to eat {cuisine} food {when}
        book a {cuisine} place for {party} {when}
        table for {party} at {clock} please
        make a reservation at {restaurant} for {party} people
        is there a table free at {restaurant} {when}
        get us a table at {restaurant} at {clock}
        can you reserve a {cuisine} restaurant for {party}
        we would like to have dinner at {restaurant} {when}
        cancel my reservation at {restaurant}
        find a good {cuisine} restaurant in {city}
        dinner for {party} at {restaurant} {day}
        ~ {party} of us want {cuisine} {when}
        ~ see if {restaurant} can take {party} at {clock}
        ~ where can i get {cuisine} near {place}
        ~ call {restaurant} and book for {party}""",
}

T = TypeVar("T")


class Stream:
    """Random choices of its own, so that the sample stays as it is when the package's streams change."""

    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0

    def choice(self, items: Sequence[T]) -> T:
        self._count += 1
        return items[int(sha256(f"home {self._name} {self._count}".encode()).hexdigest(), 16) % len(items)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left, out = list(items), []
        while left:
            out.append(left.pop(left.index(self.choice(left))))
        return out


_SLOT = re.compile(r"\{(\w+)(?::([^}]+))?\}")


def fill(template: str, rng: Stream) -> tuple[str, list[str]]:
    """A template's text and tags, with each slot's value drawn."""
    tokens: list[str] = []
    tags: list[str] = []
    at = 0
    for match in _SLOT.finditer(template):
        plain = template[at : match.start()].split()
        value = rng.choice(VALUES.get(match[2] or match[1], match[2]).split("|")).split()
        tokens += plain + value
        tags += ["O"] * len(plain) + [f"B-{match[1]}"] + [f"I-{match[1]}"] * (len(value) - 1)
        at = match.end()
    rest = template[at:].split()
    text = re.sub(r"\ba (?=[aeiou])", "an ", " ".join(tokens + rest))
    return text, tags + ["O"] * len(rest)


def draw(domain: str, intent: str, templates: list[str], count: int, rng: Stream, used: set[str]) -> list[dict]:
    """Different utterances of one intent that were not used yet, going round the templates."""
    rows: list[dict] = []
    tries = 0
    while len(rows) < count:
        tries += 1
        assert tries < 100 * count, f"{intent}: too few different utterances"
        text, tags = fill(templates[tries % len(templates)], rng)
        if text not in used:
            used.add(text)
            gold = {"intent": intent, "slots": tags}
            rows.append({"inputs": {"text": text}, "gold": gold, "groups": {"domain": domain}})
    return rows


def make() -> dict[str, str]:
    """Each sample's text by file name."""
    train: list[dict] = []
    test: list[dict] = []
    used: set[str] = set()
    for (domain, intent), text in INTENTS.items():
        lines = [line.strip() for line in text.strip().splitlines()]
        shown = [line for line in lines if not line.startswith("~")]
        unseen = [line[1:].strip() for line in lines if line.startswith("~")]
        rng = Stream(intent)
        train += draw(domain, intent, shown, TRAIN_EACH, rng, used)
        # one test utterance in seven asks in a way that training did not show
        test += draw(domain, intent, rng.shuffled(unseen), TEST_EACH // 7, rng, used)
        test += draw(domain, intent, rng.shuffled(shown), TEST_EACH - TEST_EACH // 7, rng, used)
    order = Stream("order")
    return {
        f"home_{split}.jsonl": "".join(
            json.dumps({"id": f"{split}-{i:03}", **row}) + "\n" for i, row in enumerate(order.shuffled(rows), 1)
        )
        for split, rows in (("train", train), ("test", test))
    }


if __name__ == "__main__":
    for name, text in make().items():
        (SAMPLES / name).write_text(text, encoding="utf-8", newline="\n")
