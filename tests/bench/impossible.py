"""Questions that no tool of a catalogue serves: what "nothing fits" is calibrated on and measured with.

Two kinds, named by what makes them impossible:

* *talk*: small talk, general knowledge, opinions, and plain questions about code, written for this purpose (no set has
  any). Asked of catalogues without a web search: see `TALK_CATALOGUES`.
* *elsewhere*: public requests of one bench set, asked of the catalogue of another that has no common ground with it:
  see `ELSEWHERE`. `developer` is the git, time, memory and filesystem servers of `livemcp`. A
  question that speaks of the other catalogue's subjects all the same (`SUBJECTS`) is left out.

Each kind is halved by position: the model is fitted on the even ones and judged on the odd ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caddie.search.analysis import stem, terms

DEVELOPER_SERVERS = ("git", "time", "memory", "filesystem")

TALK_CATALOGUES = ("developer", "vscode_agent", "restbench")

ELSEWHERE = {
    "developer": ("restbench", "toolalpaca", "metatool", "sealtools", "acebench_en", "apibank"),
    "vscode_agent": ("restbench", "toolalpaca", "metatool", "sealtools", "acebench_en", "apibank"),
    "restbench": ("tldr", "vscode_agent"),
}
_PROGRAMMING = (
    "file folder directory path git commit branch repository code program test workspace note memory remember"
)
SUBJECTS = {
    "developer": _PROGRAMMING + " time timezone clock date hour save store search relation entity",
    "vscode_agent": _PROGRAMMING + " web page website url link browse search extension error image notebook command",
    "restbench": "movie film show tv episode season music song track album artist play playlist player video watch "
    "user device queue credits collection company keyword",
}
PER_PAIR = 120

TALK = """
thanks!
ok go on
Hello, how are you today?
That looks good to me, great work
no, that is not what I meant
you are wrong about that
Please be more concise in your answers
I like this approach better than the first one
Sorry, I was away for lunch
Good morning!
never mind, forget it
Can you say that in simpler words?
why do you think so?
What is your name?
Who made you?
Tell me a joke about programmers
Write me a haiku about autumn
What is the capital of Australia?
How tall is Mount Everest?
Who wrote Pride and Prejudice?
Why is the sky blue?
When did the second world war end?
What is the boiling point of tungsten?
How many legs does a spider have?
What does the idiom "break a leg" mean?
Is a tomato a fruit or a vegetable?
What is the difference between weather and climate?
Explain quantum entanglement to a child
Who painted the Mona Lisa?
What are the symptoms of a common cold?
How do vaccines work?
Give me three tips for better sleep
What should I cook for dinner with rice and eggs?
Should I learn Spanish or Italian first?
What is the meaning of life?
Recommend a good novel for a long flight
How long should I boil an egg?
Translate "good evening" into Japanese
What is a monad?
Explain the difference between a list and a tuple in Python
What is the difference between let and const in JavaScript?
How does garbage collection work in Java?
What is tail recursion?
Is Rust faster than Go?
What does this error mean: TypeError: undefined is not a function?
Explain what a closure is
When would I use an abstract class instead of an interface?
What is the time complexity of quicksort?
Why does 0.1 + 0.2 not equal 0.3?
What is dependency injection good for?
How do I reverse a string in C?
What is the difference between a process and a thread?
Explain the visitor pattern
What does the asterisk mean in a function signature?
Why is global state considered harmful?
What is the difference between == and ===?
How does async await differ from callbacks?
What is a race condition?
Is it good style to use single letter variable names?
What is the CAP theorem?
How does a hash map handle collisions?
What are generics for?
Why would anyone prefer tabs over spaces?
What does idempotent mean?
谢谢你的帮助
你是谁？
法国的首都是哪里？
什么是递归？
为什么天空是蓝色的？
给我讲个笑话
进程和线程有什么区别？
你觉得哪种编程语言最好？
Danke, das reicht mir
Was ist die Hauptstadt von Portugal?
Was ist der Unterschied zwischen einer Klasse und einem Objekt?
Merci beaucoup, à demain
Quelle est la capitale du Canada ?
C'est quoi un pointeur ?
¿Quién escribió Don Quijote?
¿Qué es la programación funcional?
Obrigado, até amanhã
O que é polimorfismo?
ありがとうございました
再帰とは何ですか？
富士山の高さは？
고마워요
재귀가 뭐예요?
спасибо большое
Что такое рекурсия?
Кто написал Войну и мир?
"""


@dataclass(frozen=True, slots=True)
class Impossible:
    kind: str
    catalogue: str
    text: str
    is_for_fitting: bool

    @property
    def group(self) -> str:
        return f"{self.kind} to {self.catalogue}"


def speaks_of(catalogue: str, text: str) -> bool:
    words = {term.text for term in terms(text)}
    return any(stem(word) in words for word in SUBJECTS[catalogue].split())


def talk() -> Iterator[Impossible]:
    for catalogue in TALK_CATALOGUES:
        for position, line in enumerate(TALK.strip().splitlines()):
            yield Impossible("talk", catalogue, line, position % 2 == 0)


def elsewhere(queries: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[Impossible]:
    """`queries` are the bench's, by set."""
    for catalogue, sources in ELSEWHERE.items():
        for source in sources:
            for position, query in enumerate(queries.get(source, ())[:PER_PAIR]):
                if query["lang"] == "en" and not speaks_of(catalogue, query["text"]):
                    yield Impossible(f"elsewhere, {source}", catalogue, query["text"], position % 2 == 0)
