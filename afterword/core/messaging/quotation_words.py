"""Words by which mail programs introduce the quotation of a mail, in the languages of the pages and some more."""
# ruff: noqa: RUF001 - letters of many scripts

from typing import Final

AUTHOR: Final = (
    "from|von|de|da|van|från|fra|frá|lähettäjä|od|от|від|от кого|από|kimden|gönderen|من|מאת|feladó|de la|expeditor"
    "|saatja|nuo|no|差出人|发件人|寄件者|보낸 사람|odesílatel|pošiljatelj|šalje|message du"
)
SENT: Final = (
    "sent|gesendet|envoyé(?: le)?|enviado(?: el| em)?|enviada em|inviato|verzonden|skickat|sendt|lähetetty|wysłano"
    "|отправлено|надіслано|изпратено|στάλθηκε|εστάλη|gönderildi|تم الإرسال|נשלח|odesláno|elküldve|trimis|送信日時"
    "|发送时间|보낸 날짜"
)
DATE: Final = (
    "date|datum|fecha|data|dato|päivämäärä|päiväys|дата|ημερομηνία|tarih|التاريخ|תאריך|dátum|dată|日付|日期|날짜"
)
RECIPIENT: Final = (
    "to|an|à|a|para|pour|aan|till|til|vastaanottaja|do|кому|до|προς|kime|alıcı|إلى|אל|komu|címzett|către|宛先|收件人"
    "|받는 사람|cc|kopie|copie(?: à)?|copia|kopi|kopia|копия|копія|κοιν"
)
SUBJECT: Final = (
    "subject|betreff|objet|sujet|asunto|oggetto|assunto|onderwerp|ämne|emne|aihe|temat|тема|θέμα|konu|الموضوع|נושא"
    "|předmět|predmet|tárgy|subiect|относно|件名|主题|主旨|제목"
)
WROTE: Final = (
    r"\b(?:wrote|sent|schrieb|geschrieben|a écrit|ha escrito|escribió|escreveu|ha scritto|scrisse|schreef|geschreven"
    r"|skrev|kirjoitti|napisał(?:a|\(a\))?|napsal(?:a|\(a\))?|napísal|написала?|написав|pisze|пише|пишет|написа"
    r"|έγραψε|yazdı|írta|a scris|viết|rašė)\b|كتب|כתב|さんは書きました|写道|작성"
)
TITLE: Final = (
    "original[- ]?(?:message|nachricht|meddelande)|(?:reply|forwarded) message"
    "|(?:ursprüngliche|antwort|weitergeleitete[nr]?) nachricht"
    "|message (?:d['\u2019]origine|original|transféré|réexpédié)"
    "|mensaje (?:original|reenviado)|mensagem (?:original|encaminhada)|messaggio (?:originale|inoltrato)"
    "|(?:oorspronkelijk|doorgestuurd) bericht|(?:oprindelig|opprinnelig|videresendt) (?:meddelelse|besked|melding)"
    "|(?:ursprungligt|vidarebefordrat) meddelande|alkuperäinen viesti|(?:oryginalna|przekazana) wiadomość"
    "|wiadomość oryginalna|(?:исходное|пересылаемое|оригинальное) сообщение|(?:вихідне|оригінальне) повідомлення"
    "|(?:оригинално|препратено) съобщение|(?:αρχικό|προωθημένο) μήνυμα|(?:özgün|orijinal|iletilen) (?:ileti|mesaj)"
    "|(?:původní|přeposlaná) zpráva|eredeti üzenet|mesaj(?:ul)? (?:original|inițial)|الرسالة الأصلية|הודעה מקורית"
    "|元のメッセージ|原始邮件|원본 메시지"
)
DATED: Final = r"(?:19|20)\d\d|\d{1,2}[:.h]\d\d|\d{1,2}[./-]\d{1,2}[./-]\d\d|\d{4}年|[٠-٩]{4}"
BEFORE_DATE: Final = "On|Am|Le|Il|El|Op|Em|Den|På|Στις|W dniu|Dnia|In data|Dne"
