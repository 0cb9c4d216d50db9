"""Themes of comments: the ready-made ones in six languages, and the rules for the organization's own."""
# ruff: noqa: RUF001 - letters of many scripts

from datetime import datetime, timedelta

import pytest

from afterword.core.figures.periods import Period
from afterword.core.text import words
from afterword.kit import db, texts
from afterword.listening.responses import comments, themes
from afterword.listening.responses.service import Filter
from tests.listening.reports.conftest import NPS, TEXT, House

PATH = "/q/response/theme"
DAYS = timedelta(days=1)
SAID = (
    # English
    ("Delivery was quick, thank you.", {"Delivery"}),
    ("The parcel arrived two days late.", {"Delivery"}),
    ("Great value for money, and the shipping was free.", {"Delivery", "Price"}),
    ("Far too expensive for what it is.", {"Price"}),
    ("The zip broke after a week, very poor quality.", {"Quality"}),
    ("Your staff were rude to my mother.", {"Staff and service"}),
    ("Customer service answered within minutes.", {"Staff and service"}),
    ("The checkout on the website kept crashing.", {"Website and ordering"}),
    ("I sent it back and still have no refund.", {"Returns and refunds"}),
    ("I will return to this shop later, I appreciate it.", set[str]()),
    ("The costume fits, precisely what I wanted. Latest model.", set[str]()),
    # Greek
    ("Πολύ γρήγορη παράδοση!", {"Delivery"}),
    ("ΑΡΓΗΣΕ ΠΟΛΥ ΤΟ ΔΕΜΑ", {"Delivery"}),
    ("Ήταν ακριβό για την ποιότητά του.", {"Price", "Quality"}),
    ("Το προσωπικό ήταν ευγενέστατο.", {"Staff and service"}),
    ("Άψογη εξυπηρέτηση, όπως πάντα.", {"Staff and service"}),
    ("Η ιστοσελίδα δεν δέχεται την κάρτα μου.", {"Website and ordering"}),
    ("Θέλω πίσω τα χρήματα μου.", {"Returns and refunds"}),
    ("Ήρθε ακριβώς αυτό που ήθελα.", set[str]()),
    # German
    ("Die Lieferung kam verspätet.", {"Delivery"}),
    ("Viel zu teuer, auch die Versandkosten.", {"Delivery", "Price"}),
    ("Die Tasse war kaputt.", {"Quality"}),
    ("Sehr freundliche Mitarbeiter.", {"Staff and service"}),
    ("Der Warenkorb auf der Webseite war leer.", {"Website and ordering"}),
    ("Falsche Größe, die Rücksendung zahle ich selbst.", {"Returns and refunds"}),
    ("Gerne wieder, alles bestens.", set[str]()),
    # French
    ("Livraison rapide.", {"Delivery"}),
    ("C’est trop cher.", {"Price"}),
    ("La tasse était cassée.", {"Quality"}),
    ("Le personnel est très aimable.", {"Staff and service"}),
    ("Le paiement en ligne ne marche pas.", {"Website and ordering"}),
    ("Toujours pas remboursé.", {"Returns and refunds"}),
    ("Un beau livre, la couture est belle, je cherche la suite.", set[str]()),
    # Spanish
    ("El paquete llegó tarde.", {"Delivery"}),
    ("Demasiado caro.", {"Price"}),
    ("Mala calidad, vino roto.", {"Quality"}),
    ("El personal es muy amable.", {"Staff and service"}),
    ("La página web no funciona.", {"Website and ordering"}),
    ("Espero la devolución del dinero.", {"Returns and refunds"}),
    ("Un vestido precioso.", set[str]()),
    # Italian
    ("La consegna è arrivata in ritardo.", {"Delivery"}),
    ("Prezzo troppo alto.", {"Price"}),
    ("Il piatto era rotto.", {"Quality"}),
    ("Personale gentile e cortese.", {"Staff and service"}),
    ("Il sito non accetta il pagamento.", {"Website and ordering"}),
    ("Aspetto ancora il rimborso.", {"Returns and refunds"}),
    ("Ho perso lo scontrino, sono contento lo stesso.", set[str]()),
)


@pytest.mark.parametrize(("text", "expected"), SAID, ids=lambda value: value[:30] if isinstance(value, str) else "")
def test_ready_made(text: str, expected: set[str]) -> None:
    found = {
        one["title"]
        for one in themes.ready("en")
        if any(is_hit for _, is_hit in words.highlighted(text, words.beginnings(one["words"])))
    }
    assert expected == found


def test_ready_made_in_each_language_of_the_console() -> None:
    titles = {language: [one["title"] for one in themes.ready(language)] for language in texts.LANGUAGES}
    assert 6 == len({tuple(each) for each in titles.values()})
    assert titles["en"] == [one["title"] for one in themes.ready("nl")]
    for one in themes.ready("en"):
        assert len({*one["words"]}) == len(one["words"]) <= themes.THEME_WORDS_MAX, one["title"]
        assert all(themes.BEGINNING_CHARACTERS_MIN <= len(word) <= themes.WORD_CHARACTERS_MAX for word in one["words"])


class TestCreateTheme:
    async def test_refused(self, house: House) -> None:
        for given, place in (
            ({"words": ["parking"]}, "/title"),
            ({"title": "Parking", "words": []}, "/words"),
            ({"title": "Parking", "words": ["parking", "pa"]}, "/words/1"),
            ({"title": "Parking", "words": ["x" * 61]}, "/words/0"),
            ({"title": "Parking", "words": ["parking"] * 201}, "/words"),
        ):
            refused = await house.send("POST", PATH, given)
            assert 422 == refused.status_code, given
            assert place in {one["pointer"] for one in refused.json()["errors"]}, given

    async def test_some_applications(self, house: House) -> None:
        """A theme counts in the comments of all of them."""
        token = await house.token_for(scopes={"Report.Create", "Report.Read"}, application_ids=[house.application_id])
        given = {"title": "Parking", "words": ["parking"]}
        refused = await house.send("POST", PATH, given, Authorization=f"Bearer {token}")
        assert 403 == refused.status_code

    async def test_too_many(self, house: House) -> None:
        made = [await house.send("POST", PATH, {"title": "Parking", "words": ["parking"]}) for _ in range(51)]
        assert [201] * 50 + [422] == [one.status_code for one in made]

    async def test_ok(self, house: House) -> None:
        made = await house.send("POST", PATH, {"title": "Parking", "words": ["parking", '"car"', "Πάρκινγκ"]})
        assert 201 == made.status_code
        assert ["Parking"] == [one["title"] for one in (await house.get(PATH)).json()]


class TestCount:
    @pytest.fixture
    async def told(self, house: House, now: datetime) -> House:
        """20 of 30 comments say “late”, all by detractors; in the month before 2 of 30."""
        for days, score, text, count in ((1, 0, "So late!", 20), (2, 10, "Fine, thanks", 10)):
            await house.respond({NPS: score, TEXT: text}, now=now - days * DAYS, count=count)
        for days, score, text, count in ((40, 0, "Late again", 2), (41, 10, "Fine, thanks", 28)):
            await house.respond({NPS: score, TEXT: text}, now=now - days * DAYS, count=count)
        await house.respond({NPS: 0}, now=now - DAYS)  # without a comment
        await house.send("POST", PATH, {"title": "Waiting", "words": ['"LATE"', "wait"]})
        await house.send("POST", PATH, {"title": "Parking", "words": ["parking"]})
        await house.write_rows()
        return house

    async def counted(self, told: House, now: datetime) -> tuple[Period, dict[str, list[tuple[object, ...]]]]:
        period = Period(now - 30 * DAYS, now, "UTC")
        chosen = Filter(only=None, from_time=period.from_time, to_time=now)
        async with db.transaction(told.pool) as database:
            before, found = await themes.count(database, caller=told.caller, chosen=chosen, period=period)
        return before, {
            theme.title if theme else "": [
                (
                    one.measure.value and round(one.measure.value, 1),
                    one.change and (round(one.change.difference, 1), one.change.real),
                )
                for one in figures
            ]
            for theme, figures in found
        }

    async def test_against_the_period_before(self, told: House, now: datetime) -> None:
        before, found = await self.counted(told, now)
        assert (now - 60 * DAYS, now - 30 * DAYS) == (before.from_time, before.to_time)
        assert ["", "Waiting", "Parking"] == list(found)
        assert [(-33.3, (-120.0, True))] == found[""][1:]
        assert [(66.7, (60.0, True)), (-100.0, (0.0, False))] == found["Waiting"]
        assert [(0.0, (0.0, False)), (None, None)] == found["Parking"]

    async def test_the_newest_alone(self, told: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
        """They are compared with as long a time before them."""
        monkeypatch.setattr(comments, "COMMENTS_MAX", 10)
        before, found = await self.counted(told, now)
        assert (now - 2 * DAYS, now - DAYS) == (before.from_time, before.to_time)
        assert [(100.0, (100.0, True)), (-100.0, None)] == found["Waiting"]

    async def test_nothing(self, house: House, now: datetime) -> None:
        assert {"": [(None, None)]} == (await self.counted(house, now))[1]
