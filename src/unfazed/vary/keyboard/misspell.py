"""Spelling mistakes of people: a list of frequent ones, and rules for the words that are not on it."""

from __future__ import annotations

import re
from functools import lru_cache

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.words import cased, checked_rate, some

# Each word with its wrong spellings.
_LIST = """
about abuot baout, absence absense abscence, accept exept accpet, accommodate accomodate acommodate, account acount,
achieve acheive, across accross acros, actually actualy acctually, address adress addres, afternoon afternon
aftrenoon, again agian agin, airport airpot air-port, album albun ablum, alarm alram alarn, almost allmost, along
alog, already allready alredy, although altough allthough, always allways alwasy, amateur amature, among amoung,
another anohter anouther, answer anwser awnser, apartment apartement, apparent apparant, appearance apperance,
appointment apointment appointmant, argument arguement, around arround aroud, arrive arive arrvie, artist artits,
august agust, autumn autum, available availible avaliable, bathroom bathrom, beautiful beatiful beautifull, because
becuase becasue, been ben, before befor befroe, beginning begining, believe beleive belive, between betwen bewteen,
bicycle bycicle, birthday brithday birtday, book bok boook, breakfast brekfast breakfeast, brightness brigthness,
brilliant briliant, broccoli brocolli, business buisness bussiness, calendar calender calander, call cal, cancel
cancle cansel, category catagory, cheap cheep chaep, cheapest cheepest, chocolate choclate chocolat, choose chose,
cinema cinama, city citty, coffee cofee coffe, color colur, colour coulor, coming comming, committee commitee
comittee, comedy commedy, concert conert, conscious concious, convenient convinient, could coud cuold, country contry,
currency curency currancy, decide dicide, definitely definately definitly, delete delet, delivery delivary, describe
discribe, description discription, dessert desert, different diffrent diferent, dinner diner, disappear dissapear
disapear, disappoint dissapoint, does dose deos, don't dont, eighth eigth, email emial, embarrass embarass,
environment enviroment, especially expecially especialy, every evry eveyr, exaggerate exagerate, excellent excelent
exellent, except exept, exercise excercise exersise, existence existance, expensive expencive, experience experiance,
family familly famliy, favorite favourit favorit, favourite favorite favourit, february febuary febrary, few fwe,
finally finaly, find fidn, first frist fisrt, flight fligth flite, foreign foriegn, forty fourty, forward foward,
friday firday, friend freind frend, from form fron, garage garadge, genre gener, government goverment, grammar
grammer, great graet grate, guarantee garantee guarentee, guard gaurd, guess geuss, guitar gitar, happened happend,
harass harrass, have ahve, having haveing, hear here, height heigth hieght, hello helo, holiday holliday, hospital
hopsital, hotel hottel, house hosue, humidity humidty, humorous humourous, hundred hunderd, immediately immediatly
imediately, important importent, independent independant, information infomation, interesting intresting interresting,
interrupt interupt, island iland, its it's, january janurary, jewelry jewelery, kitchen kichen kitchin, knew new, know
konw now, knowledge knowlege, language langauge languege, later latter, laugh laguh, leisure liesure, let's lets,
library libary, license lisence, light ligth lite, lightning lightening, like liek, listen lisen, little litle,
location locaiton, loose lose, lose loose, lunch luch, maintenance maintainance, many mnay, marriage marrige, maximum
maxium, maybe mabye, meant ment, medicine medecine, meeting meating meetting, message mesage massage, minute minuet
minit, mischievous mischevious, misspell mispell, monday mondey, money mony, morning mornig moring, movie moive, music
musik muisc, necessary neccessary necesary, neighbor nieghbor, neighbour nieghbour, news newes, next nxet, nice niec,
niece neice, night nite nigth, ninety ninty, noticeable noticable, november novemeber, number nubmer, occasion
ocassion occassion, occurred occured, october ocotber, often offen oftern, only olny, opinion oppinion, opportunity
oportunity, order oder, other ohter, people poeple peopel, perform preform, permanent permanant, personal personnal,
picture pitcher pictrue, piece peice, please plase pleas plese, podcast podcats, possible posible, potato potatoe,
prefer perfer, pretty prety, privilege priviledge, probably probaly propably, professor proffesor, program progam,
pronunciation pronounciation, publicly publically, question quesiton qestion, queue que, quick qiuck, quiet quite,
quite quiet, radio raido, rain rian, rate raet, really realy relly, receipt reciept, receive recieve, recipe reciepe
recipie, recommend recomend reccommend, refer reffer, remember remeber rember, remind remaind, reminder remider,
repeat repete, reply replay, reservation resevation, restaurant restaraunt resturant restaurent, return retrun, review
reveiw, rhythm rythm rythym, ridiculous rediculous, right rihgt rite, room rom, safety saftey, said siad, saturday
saterday, schedule schedual shedule, school shcool, search serach seach, season seson, secretary secretery, seize
sieze, sentence sentance, separate seperate, september setpember, series serie seires, several serveral, should shoud
shuold, shower shouwer, similar similer, since sinse, sincerely sincerly, snow sonw, some soem, song sogn, soup suop,
speaker speeker, special speical, speech speach, spring sprign, start strat, state sate, stop sotp, stopping stoping,
straight strait, strength strenght, stretch strech, succeed succed, successful succesful sucessful, sugar suger,
summer sumer, sunday sundey, supposed suposed, sure shure, surprise suprise, switch swich, temperature temperture
tempreture, than then, that taht, the teh, their thier there, them tehm, then than, there their, they thay, think
thnik, thirty thrity, this tihs, though tough, thought tought, threw through, thursday thrusday, ticket tiket, time
tiem, tired tierd, to too, today todya, together togehter togather, tomato tomatoe, tomorrow tommorow tomorow
tommorrow, tonight tonite, too to, tournament tournement, traffic trafic, train trian, travel travle, trip tirp, truly
truely, tuesday teusday, turn trun, twelfth twelth, unfortunately unfortunatly, until untill, usually usualy, vacuum
vaccum vacume, vegetable vegtable, village villege, visible visable, volume volum, want wnat, was wsa, watch wacth,
weather wether whether, wednesday wensday wendesday, week weak, weird wierd, welcome wellcome, were where, what waht
wat, when wehn, where were, whether wether weather, which wich whihc, while whlie, who's whose, will wil, wind wnid,
winter witner, with wiht, without wihtout, woman women, work wrok, world wrold, would woudl wuold, write wirte rite,
writing writting, year yaer, yesterday yesteday, your you're yuor, you're your
"""

_ENDINGS = [
    pair.split("/")
    for pair in [
        "ance/ence",
        "ence/ance",
        "ant/ent",
        "ent/ant",
        "able/ible",
        "ible/able",
        "ary/ery",
        "er/or",
        "or/er",
        "ar/er",
        "le/el",
        "al/el",
    ]
]
# Mistakes that go with the sound or the look of a word: where, and what is written instead.
_RULES = [
    (r"([bcdfglmnprst])\1", r"\1"),  # tomorow
    (r"(?<=[aeiou])([lmnprst])(?=[aeiou])", r"\1\1"),  # allarm
    (r"(?<=[aiou])([lst])$", r"\1\1"),  # untill
    (r"(?<!^)ie", "ei"),  # beleive
    (r"(?<!^)ei", "ie"),  # recieve
    *((rf"(?<=..){end}$", other) for end, other in _ENDINGS),
    (r"^kn", "n"),
    (r"^wh", "w"),
    (r"^wr", "r"),
    (r"mb$", "m"),
    (r"ph", "f"),
    (r"(?<=[aeiou])ck", "k"),
    (r"c(?=[ei])", "s"),
    (r"sc(?=[ei])", "s"),
    (r"tion$", "sion"),
    (r"e(?=ly$|ment$)", ""),  # definitly
    (r"(?<=[^aeiou])[eo](?=r[aeiouy])", ""),  # diffrent, evry
    (r"(?<=..)a(?=[^aeiouy]+[aeiou])", "e"),  # seperate
    (r"(?<=..)e(?=[^aeiouy]+[aeiou])", "a"),  # catagory
    (r"(?<=..)i(?=[^aeiouy]+[aeiou])", "a"),  # definate
    (r"ight", "ite"),
    (r"igh", "ihg"),
    (r"ou(?=[^aeiou])", "uo"),
    (r"ea", "ee"),
    (r"ee", "ea"),
    (r"(?<=[^aeiou])y$", "ey"),
    (r"'", ""),
]
_COMPILED = [(re.compile(where), new) for where, new in _RULES]


def _listed() -> dict[str, tuple[str, ...]]:
    entries = (entry.split() for entry in _LIST.split(","))
    return {word: tuple(wrong) for word, *wrong in entries}


LISTED = _listed()


@lru_cache(maxsize=65_536)
def misspellings(word: str) -> tuple[str, ...]:
    """Wrong spellings of a word in small letters: those on the list, by the rules, or with two letters swapped."""
    if word in LISTED:
        return LISTED[word]
    if len(word) < 4 or len(word) > 30:
        return ()
    found = {
        word[: place.start()] + place.expand(new) + word[place.end() :]
        for where, new in _COMPILED
        for place in where.finditer(word)
    }
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 1)}
    return tuple(sorted((found or swapped) - {word}))


_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")


class Misspell(Operator):
    """Misspells a word as people do: *tommorow*, *recieve*, *definately*.

    Within a draw, a word is always misspelt in the same way. With `rate` 0, the default, one word changes. Otherwise
    each word changes with that probability, and at least one.
    """

    languages = ("en",)
    example = ("find a restaurant for tomorrow", "fidn a restaurant for tomorrow")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = [word for word in _WORD.finditer(text.text) if misspellings(word[0].lower())]
        edits = []
        for word in some(words, self.rate, rng):
            plain = word[0].lower()
            wrong = rng.habit(plain).choice(misspellings(plain))
            edits.append(Edit(word.start(), word.end(), cased(wrong, word[0])))
        notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
        return Change(tuple(edits), ", ".join(notes)) if edits else None
