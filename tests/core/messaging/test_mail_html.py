import pytest

from afterword.core.messaging import mail_html
from afterword.core.messaging.mail_html import BEGUN, CITED


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("Thank you.", "Thank you."),
        ("<div>Thank you.<div>The box was wet.</div><br><p>Ann</p></div>", "Thank you.\nThe box was wet.\n\nAnn"),
        ("a<br>b<br><br>c<br/>d", "a\nb\n\nc\nd"),
        ("<p>a</p><p>b\n  c</p>", "a\n\nb c"),
        (
            "<p class=MsoNormal>a</p><p class=MsoNormal>&nbsp;</p><p class=MsoNormal>b<p class=MsoNormal>c</p>",
            "a\n\nb\nc",
        ),
        ("<b>Ann</b> <i>H</i>arbour&nbsp;&amp; co &lt;3", "Ann Harbour & co <3"),
        ("<table><tr><td>cup</td><td>2</td></tr><tr><td>lid</td></tr></table>", "cup 2\nlid"),
        ("<ul><li>cup<li>lid</ul>", "cup\nlid"),
        ("<pre>a\n  b</pre>c", "a\nb\nc"),
        ("<style>p {}</style><script>if (a<b) c</script><title>t</title>a", "a"),
        ("a<!-- b > c <p> -->d<!--[if mso]><p>x</p><![endif]-->e<![if !mso]>f", "adef"),
        ("2 < 3 and <5, a<b", "2 < 3 and <5, a<b"),
        ('<img alt="a > b">c', "c"),
        ("a</div></p>b", "a\nb"),
    ],
)
def test_lines(source: str, text: str) -> None:
    assert text == mail_html.text_of(source)


@pytest.mark.parametrize(
    ("tag", "mark"),
    [
        ("blockquote", ""),
        ('blockquote style="margin:0 0 0 40px;border:none;padding:0"', ""),
        ('blockquote type="cite"', CITED),
        ("blockquote type=cite", CITED),
        ('blockquote class="gmail_quote" style="margin:0"', CITED),
        ('blockquote style="border-left:1px solid #0857A6;"', CITED),
        ('div class="gmail_attr"', CITED),
        ('div class="moz-cite-prefix"', CITED),
        ('div name="quote"', CITED),
        ('div class="gmail_quote"', ""),
        ("div", ""),
    ],
)
def test_marks(tag: str, mark: str) -> None:
    name = tag.split(" ", maxsplit=1)[0]
    source = f"a<{tag}>b<div>c<blockquote type=cite>d</blockquote></div></{name}>e"
    assert f"a\n{mark}b\n{mark}c\n{CITED}d\ne" == mail_html.text_of(source)


@pytest.mark.parametrize(
    "tag",
    [
        'div id="divRplyFwdMsg" dir="ltr"',
        'div id="x_appendonsend"',
        "span id=OLK_SRC_BODY_SECTION",
        'div id="yahoo_quoted_1" class="yahoo_quoted"',
        "div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm'",
    ],
)
def test_signs(tag: str) -> None:
    assert f"a\n{BEGUN}\nb" == mail_html.text_of(f"a<{tag}>b")
