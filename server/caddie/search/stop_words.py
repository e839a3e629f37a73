"""Which words of a question say nothing about the tool it needs? Left out of queries only, never of tools."""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any anyone anything are as at be because been before being between both but by
can cannot could couldn did didn do does doesn doing don done down during each few for from further get give given gonna
had has hasn have haven having he help her here hers him his how i if in into is isn it its itself just know let like
looking many may maybe me might more most much must my myself need needs no nor not now of off on once one only or other
our ours out over own please possible same shall she should shouldn so some someone something such tell than that the
their theirs them then there these they thing things this those through to too under until up us use using very via want
wants was wasn way we were what when where whether which while who whom whose why will with within without won would
wouldn you your yours
"""

_CHINESE = "的 了 吗 呢 吧 啊 我 你 您 他 她 它 们 请 帮 给 把 和 与 及 或 在 是 这 那 想 要 能 让"

_SMALL_TALK = """
thanks thank thx ok okay yes yeah yep nope sure great good nice cool perfect fine hello hi hey bye go ahead continue
proceed well done again right alright awesome sounds job work works agreed exactly
谢谢 好的 继续 你好 可以 merci danke gracias спасибо ありがとう 감사합니다
"""

QUERY_STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())
SMALL_TALK = frozenset(_SMALL_TALK.split())
"""A message of only these and stop words asks for no tool."""
