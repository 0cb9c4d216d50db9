"""Words that say nothing of what a comment is about, of the languages of our texts, folded as `words` folds."""
# ruff: noqa: RUF001 - letters of many scripts

from collections.abc import Mapping
from typing import Final

from afterword.core.text import words

_TEXTS: Final[Mapping[str, str]] = {
    "en": """a about after again all also am an and any are as at be because been before being but by can could did do
      does doing don down during each even for from further get got had has have having he her here hers him his how i
      if in into is it its just ll me more most much my no nor not now of off on once one only or other our out over own
      re s same she should so some still such t than that the their them then there these they this those through to too
      under until up us ve very was we well were what when where which while who why will with would you your""",
    "de": """aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der des
      dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es euch
      für gar ganz habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihren im immer in ist ja kann kein keine
      können konnte man mehr mein meine meinen mich mir mit nach nicht nichts noch nun nur ob oder ohne schon sehr sein
      seine sich sie sind so sondern über um und uns unser unter viel vom von vor war waren warum was weil wenn werden
      wie wieder wir wird wo wurde wurden zu zum zur""",
    "el": """αλλά αν αντί απ από αυτά αυτές αυτή αυτήν αυτό αυτοί αυτός αυτού αυτούς αυτών για γιατί δε δεν δύο εγώ εδώ
      είμαι είμαστε είναι είσαι είστε είχα είχαν είχε είχαμε εκεί εμάς εμείς ένα έναν ένας εσείς εσύ έτσι έχει έχουμε
      έχουν έχω η ή ήδη ήμουν ήταν θα και καθώς κάθε κάτι κι κατά κάποια κάποιο κάποιος μα μας με μετά μη μην μια μία
      μόνο μου μπορεί μπορώ να ναι ο οι ό όμως όπου όπως όσο όταν ότι ούτε πάρα πιο πολύ που πού πριν πρέπει προς
      πως πώς σαν σας σε σου στα στη στην στις στο στον στους στων τα τη την της τι τις το τον του τους των τότε χωρίς
      ως ώστε""",
    "ar": """أن أنا أنت أو أي أيضا إلا إلى إن أنه إنه بعد بعض بل بين تم ثم جدا حتى حيث ذلك عن على عند غير في قبل قد كان
      كانت كل كما كنت لا لأن لقد لكن لم لن له لها لهم لو لي ليس ليست ما مثل مع من منذ نحن هذا هذه هل هم هنا هناك هو هي
      وقد ولا ولكن وهو وهي يا يكون""",
}


def _folded(text: str) -> frozenset[str]:
    return frozenset(form for word in words.words_of(text) for form in word.forms)


STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {language: _folded(text) for language, text in _TEXTS.items()}
