"""The pages of the settings by group, each with a line about it, and the pages that Find knows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from afterword.kit.texts import Marked, Texts

SETTINGS: Final = "/console/settings"


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """A page of the console. `found_by`: other words that somebody may search it by."""

    path: str
    title: Marked
    about: Marked
    found_by: str = ""


def _setting(name: str, title: Marked, about: Marked, found_by: str = "") -> ConsolePage:
    return ConsolePage(f"{SETTINGS}/{name}", title, about, found_by)


GROUPS: Final[tuple[tuple[Marked, tuple[ConsolePage, ...]], ...]] = (
    (
        "You",
        (
            _setting(
                "account",
                "Your account",
                "Name, language, password, second factor, sessions",
                "2fa totp passkey profile",
            ),
            _setting("notifications", "Notifications", "Which e-mails you get, and when", "email digest"),
        ),
    ),
    (
        "Organization",
        (
            _setting("organization", "Organization", "Name, time zone, language, first day of the week", "locale"),
            _setting("people", "People and roles", "Who logs in, and what they may do", "users team invite"),
            _setting("organization/logins", "Login policy", "Second factor for all, and from which networks", "2fa ip"),
            _setting(
                "organization/identity", "Log in by provider", "OpenID Connect", "sso saml oidc single sign-on entra"
            ),
            _setting("applications", "Applications", "Separate shops or brands", "store website"),
            _setting("brand", "Brand", "Logo, colours and fonts of pages and mails", "design theme css"),
            _setting("organization/domain", "Own domain", "The address of your answer pages", "dns hostname url"),
            _setting("pictures", "Pictures", "Images for questions and mails", "assets upload"),
            _setting("plan", "Plan and credits", "Used and remaining credits", "billing quota"),
        ),
    ),
    (
        "Asking",
        (
            _setting(
                "providers", "Sending accounts", "Mail servers and SMS providers", "smtp ses twilio email dkim spf"
            ),
            _setting(
                "policy", "Contact policy", "How often and when anybody is asked", "frequency quiet hours holidays"
            ),
            _setting(
                "suppressions", "Not to be contacted", "Addresses that get no message", "unsubscribe block bounce"
            ),
            _setting("metadata", "Metadata", "Fields of orders and people", "attributes custom field variables"),
            _setting("themes", "Themes", "What comments are about, by their words", "topics keywords text categories"),
            _setting("coupons", "Coupons", "Codes for those who answer", "voucher discount reward"),
        ),
    ),
    (
        "Cases",
        (
            _setting("alerts", "Alerts", "Which answers open a case", "rule detractor trigger"),
            _setting("chats", "Chats", "Where a team is told of cases", "slack teams google mattermost notify channel"),
            _setting("cases", "Cases", "Working hours, causes, saved texts", "sla reply"),
            _setting("mailbox", "Mailbox", "Where answers of customers arrive", "imap email reply pipe forward bounce"),
            _setting("statuses", "Statuses of cases", "The steps between new and closed", "workflow"),
        ),
    ),
    (
        "Data and connections",
        (
            _setting("tokens", "Tokens", "Keys for programs that call the API", "api key secret"),
            _setting(
                "sources",
                "Shops and help desks",
                "Systems that tell of orders and tickets",
                "shopify woocommerce magento prestashop stripe zendesk freshdesk hubspot connect integration order",
            ),
            _setting("webhooks", "Webhooks", "Addresses that Afterword calls", "events integration"),
            _setting(
                "exports",
                "Exports on a timetable",
                "Responses as files in a folder, S3 or SFTP",
                "parquet csv spss warehouse duckdb pandas schedule bucket",
            ),
            _setting("retention", "Retention", "How long personal data is kept", "gdpr privacy erase delete anonymize"),
            _setting(
                "erasures", "Proofs of erasure", "Data of people that was erased", "gdpr dsgvo forgotten certificate"
            ),
            _setting("audit", "Audit log", "Who changed and read what", "history trail"),
        ),
    ),
)
PAGES: Final = (
    ConsolePage("/console", "Overview", "Scores, cases and messages at a glance", "home dashboard"),
    ConsolePage("/console/responses", "Responses", "What people answered", "answers feedback"),
    ConsolePage("/console/responses/tags", "Tags", "Labels of responses", "label"),
    ConsolePage(
        "/console/responses/imports",
        "Imports",
        "Past responses from other systems",
        "csv excel spss upload migrate qualtrics limesurvey formbricks typeform surveyjs",
    ),
    ConsolePage("/console/cases", "Cases", "Unhappy customers to win back", "alerts tickets"),
    ConsolePage("/console/cases/figures", "Work on cases", "How quickly cases are closed", "sla"),
    ConsolePage("/console/people", "People", "Everybody who was asked", "customers contacts responders erase gdpr"),
    ConsolePage("/console/reports", "Reports", "Scores by time and group", "statistics charts"),
    ConsolePage("/console/reports/comments", "Comments", "The words that people use", "text"),
    ConsolePage("/console/reports/mails", "Reports by mail", "Figures sent regularly", "digest schedule email"),
    ConsolePage("/console/sending", "Sending", "What was sent, and what waits", "queue messages"),
    ConsolePage(
        "/console/sending/pipelines", "Pipelines", "How and when a questionnaire is sent", "automation reminder"
    ),
    ConsolePage("/console/sending/pipelines/new", "New pipeline", "Choose how a questionnaire is sent", "create"),
    ConsolePage(
        "/console/sending/sequences", "Sequences", "Ask again after a response", "follow-up review google trustpilot"
    ),
    ConsolePage("/console/sending/lists", "Lists", "Files of people to ask", "csv excel upload import"),
    ConsolePage("/console/sending/lists/new", "Send to a list", "Ask people from a file", "csv excel upload import"),
    ConsolePage("/console/sending/outbox", "Outbox", "Messages stored instead of sent", "test"),
    ConsolePage("/console/questionnaires", "Questionnaires", "What people are asked", "surveys forms"),
    ConsolePage("/console/questionnaires/new", "New questionnaire", "From a template or from nothing", "create survey"),
    ConsolePage("/console/settings/tokens/new", "New token", "A key for a program", "create api key"),
    ConsolePage("/console/settings/alerts/new", "New alert", "Choose which answers open a case", "create rule"),
)


ALL: Final = (*PAGES, *(page for _, pages in GROUPS for page in pages))


def groups_of(words: Texts, may_open: Callable[[str], bool], here: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """The title of each group with its pages, as far as the role opens them."""
    for title, pages in GROUPS:
        shown = [_shown(words, one, here) for one in pages if may_open(one.path)]
        if shown:
            yield words(title), shown


def found(words: Texts, may_open: Callable[[str], bool], text: str) -> list[dict[str, Any]]:
    """The pages whose title, line or other words have a word that begins with each word of the text."""
    wanted = text.casefold().split()
    shown = [_shown(words, one) for one in ALL if may_open(one.path)]
    return [page for page in shown if all(any(w.startswith(each) for w in page["words"].split()) for each in wanted)]


def _shown(words: Texts, page: ConsolePage, here: str = "") -> dict[str, Any]:
    title, about = words(page.title), words(page.about)
    return {
        "url": page.path,
        "text": title,
        "about": about,
        "words": f"{title} {about} {page.title} {page.found_by}".casefold().replace(",", ""),
        "is_current": page.path == f"{SETTINGS}/{here}",
    }
