"""The first page of a questionnaire as customers see it, drawn from its file before the questionnaire exists."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from starlette.responses import Response

from afterword.core.answers.progress import PageSequence
from afterword.core.questionnaires.visuals import Theme
from afterword.core.text import locales
from afterword.instances.answer_page import AnswerPage, head_of
from afterword.instances.rendering import question_page
from afterword.instances.store import PublicQuestionnaire
from afterword.questionnaires.files import File

NOBODY: Final = ""


def first_page(file: File, *, brand: str, theme: Theme, locale: str, time_zone: str, now: datetime) -> Response:
    """Its form leads nowhere."""
    definition = file.definition
    questionnaire = PublicQuestionnaire(
        organization_id=NOBODY,
        questionnaire_id=NOBODY,
        owner_application_id=NOBODY,
        slug=None,
        template_questionnaire_id=None,
        active=True,
        application_active=True,
        is_active=True,
        published_version_id=None,
        archived_time=None,
        version=1,
        created_time=now,
        updated_time=now,
        created_by=None,
        updated_by=None,
        brand=brand,
        time_zone=time_zone,
        organization_brand={},
        application_brand={},
        configuration=None,
        **file.settings,
    )
    head = head_of(questionnaire, definition, locales.match(locale, definition.locales, definition.default_locale))
    head = replace(head, theme=theme)
    asked = frozenset(question.question_id for question in definition.questions())
    sequence = PageSequence(definition, asked, {}, {}, head.theme.layout)
    return question_page(AnswerPage(head, sequence, NOBODY), 1, action="", token="", wrong={})
