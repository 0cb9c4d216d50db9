"""Words that are left out: folded as comments are, in each language of our texts."""

from afterword.core.text import words
from afterword.core.text.words import STOP_WORDS


def test_folded() -> None:
    assert {"en", "de", "el", "ar"} == set(STOP_WORDS)
    for language, text in (("de", "Für"), ("el", "ΚΑΘΏΣ"), ("ar", "إلى"), ("en", "THE")):
        [word] = words.words_of(text)
        assert word.text in STOP_WORDS[language]
    assert all(word == words.words_of(word)[0].text for found in STOP_WORDS.values() for word in found)
