"""Quotations in each language, with our text at hand and without."""
# ruff: noqa: RUF001 - letters of many scripts

from typing import Final

import pytest

from afterword.core.messaging import reply_text
from tests.core.messaging.test_reply_text import MARKED, NEW, OURS, WRAPPED

ATTRIBUTIONS: Final = (
    "On Tue, Jan 5, 2027 at 3:04 PM Ben Harbour <ben@shop.example> wrote:",
    "On 5 Jan 2027, at 15:04, Ben <ben@shop.example> wrote:",
    "On Tue, 2027-01-05 at 15:04 +0100, Ben Harbour wrote:",
    "2027-01-05 15:04 GMT+01:00 Ben Harbour <ben@shop.example>:",
    '05.01.2027, 15:04, "Ben Harbour" <ben@shop.example>:',
    "---- On Tue, 05 Jan 2027 15:04:01 +0100 ben@shop.example wrote ----",
    "Am Di., 5. Jan. 2027 um 15:04 Uhr schrieb Ben Harbour Customer Service of the Shop <\nben@shop.example>:",
    "Am 05.01.27 um 15:04 schrieb Ben Harbour:",
    "Le mar. 5 janv. 2027 à 15:04, Ben Harbour <ben@shop.example> a\nécrit :",
    "El mar, 5 ene 2027 a las 15:04, Ben (<ben@shop.example>) escribió:",
    "Em ter., 5 de jan. de 2027 às 15:04, Ben <ben@shop.example> escreveu:",
    "Il giorno mar 5 gen 2027 alle ore 15:04 Ben <ben@shop.example>\nha scritto:",
    "Op di 5 jan 2027 om 15:04 schreef Ben Harbour <ben@shop.example>:",
    "Op 5 jan. 2027, om 15:04 heeft Ben <ben@shop.example> het volgende geschreven:",
    "Den tis 5 jan. 2027 kl 15:04 skrev Ben Harbour <ben@shop.example>:",
    "tir. 5. jan. 2027 kl. 15:04 skrev Ben <ben@shop.example>:",
    "ti 5. tammik. 2027 klo 15.04 Ben (ben@shop.example) kirjoitti:",
    "wt., 5 sty 2027 o 15:04 Ben <ben@shop.example> napisał(a):",
    "W dniu 5.01.2027 o 15:04, Ben Harbour pisze:",
    "út 5. 1. 2027 v 15:04 odesílatel Ben Harbour <ben@shop.example> napsal:",
    "Ben Harbour <ben@shop.example> ezt írta (időpont: 2027. jan. 5., K, 15:04):",
    "mar., 5 ian. 2027 la 15:04, Ben <ben@shop.example> a scris:",
    "На вт, 5.01.2027 г. в 15:04 ч. Ben <ben@shop.example> написа:",
    "вт, 5 янв. 2027 г. в 15:04, Ben <ben@shop.example>:",
    "вт, 5 січ. 2027 р. о 15:04 Ben <ben@shop.example> пише:",
    "Στις Τρί 5 Ιαν 2027 στις 3:04 μ.μ., ο χρήστης Ben <ben@shop.example>\nέγραψε:",
    "Ben Harbour <ben@shop.example>, 5 Oca 2027 Sal, 15:04 tarihinde şunu yazdı:",
    "في الثلاثاء، ٥ يناير ٢٠٢٧ في ٣:٠٤ م تمت كتابة ما يلي بواسطة <ben@shop.example>:",
    "\u202bבתאריך יום ג׳, 5 בינו׳ 2027 ב-15:04 מאת \u202aBen\u202c <\u202aben@shop.example\u202c>:\u202c",
    "2027年1月5日(火) 15:04 Ben Harbour <ben@shop.example>:",
    "Vào 15:04 5 tháng 1, 2027, Ben <ben@shop.example> đã viết:",
)
HEADERS: Final = (
    ("Von", "Gesendet", "An", "Betreff"),
    ("*From:*", "*Sent:*", "*To:*", "*Subject:*"),
    ("De :", "Envoyé :", "À :", "Objet :"),
    ("De", "Enviado", "Para", "Asunto"),
    ("De", "Enviada em", "Para", "Assunto"),
    ("Da", "Inviato", "A", "Oggetto"),
    ("Van", "Verzonden", "Aan", "Onderwerp"),
    ("Från", "Skickat", "Till", "Ämne"),
    ("Fra", "Sendt", "Til", "Emne"),
    ("Lähettäjä", "Lähetetty", "Vastaanottaja", "Aihe"),
    ("Od", "Wysłano", "Do", "Temat"),
    ("Od", "Odesláno", "Komu", "Předmět"),
    ("Feladó", "Elküldve", "Címzett", "Tárgy"),
    ("De la", "Trimis", "Către", "Subiect"),
    ("От", "Изпратено", "До", "Относно"),
    ("От", "Отправлено", "Кому", "Тема"),
    ("Від", "Надіслано", "Кому", "Тема"),
    ("Από", "Στάλθηκε", "Προς", "Θέμα"),
    ("Kimden", "Gönderildi", "Kime", "Konu"),
    ("من", "تم الإرسال", "إلى", "الموضوع"),
    ("מאת", "נשלח", "אל", "נושא"),
)
TITLES: Final = (
    "-----Original Message-----",
    "-------- Ursprüngliche Nachricht --------",
    "-------- Originalnachricht --------",
    "-------- Message d'origine --------",
    "-------- Mensaje original --------",
    "-------- Mensagem original --------",
    "-------- Messaggio originale --------",
    "-------- Oorspronkelijk bericht --------",
    "-------- Oprindelig besked --------",
    "-------- Originalmeddelande --------",
    "-------- Alkuperäinen viesti --------",
    "-------- Oryginalna wiadomość --------",
    "-------- Původní zpráva --------",
    "-------- Eredeti üzenet --------",
    "-------- Mesaj original --------",
    "-------- Исходное сообщение --------",
    "-------- Оригинално съобщение --------",
    "-------- Оригінальне повідомлення --------",
    "-------- Αρχικό μήνυμα --------",
    "-------- Orijinal mesaj --------",
    "-------- الرسالة الأصلية --------",
    "-------- הודעה מקורית --------",
    "---------- Forwarded message ---------",
)


pytestmark = pytest.mark.parametrize("sent", [(), (OURS,)], ids=["", "known"])


@pytest.mark.parametrize("sign", ATTRIBUTIONS)
def test_attributions(sign: str, sent: tuple[str, ...]) -> None:
    assert NEW == reply_text.own_words(f"{NEW}\n\n{sign}\n\n{MARKED}", sent=sent)
    assert f"Hello,\n\n{NEW}" == reply_text.own_words(f"Hello,\n\n{sign}\n{MARKED}\n\n{NEW}", sent=sent)
    assert NEW == reply_text.own_words(f"{NEW}\n\n{sign}\n\n{WRAPPED}", sent=sent)


@pytest.mark.parametrize("names", HEADERS, ids=lambda names: names[0])
def test_headers(names: tuple[str, ...], sent: tuple[str, ...]) -> None:
    values = ("Ben <ben@shop.example>", "5 January 2027 15:04", "Ann", "Re: Your parcel")
    block = "\n".join(
        f"{name if ':' in name else f'{name}:'} {value}" for name, value in zip(names, values, strict=True)
    )
    assert NEW == reply_text.own_words(f"{NEW}\n\n{'_' * 32}\n{block}\n\n{WRAPPED}", sent=sent)


@pytest.mark.parametrize("title", TITLES)
def test_titles(title: str, sent: tuple[str, ...]) -> None:
    assert NEW == reply_text.own_words(f"{NEW}\n\n{title}\n\n{WRAPPED}", sent=sent)
    block = "Von: Ben <ben@shop.example>\nDatum: 05.01.27 15:04 (GMT+01:00)\nAn: Ann\nBetreff: Re: Your parcel"
    assert NEW == reply_text.own_words(f"{NEW}\n\n{title}\n{block}\n\n{WRAPPED}", sent=sent)
