"""The operations of the API by family, generated from its OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

import msgspec

from afterword_client import models

T = TypeVar("T")
Filters = Mapping[str, Mapping[str, Any]]
Orders = Mapping[str, Sequence[str]]


class Reply(Protocol):
    """An answer."""

    def read(self, kind: type[T]) -> T:
        """The body as this type."""
        ...


class Transport(Protocol):
    """Sends the requests of the operations."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = msgspec.UNSET,
        file: bytes | None = None,
        media_type: str = "application/json",
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> Reply:
        """Send one request."""
        ...

    def pages(self, path: str, kind: type[T], *, limit: int, query: Mapping[str, Any] | None = None) -> Iterator[T]:
        """Every entry of a list."""
        ...

    def stream(self, path: str, *, query: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """The bytes of a file."""
        ...


class Family:
    """Operations that belong together."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def _segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


class Applications(Family):
    """Applications."""

    def list_application_types(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ApplicationType]:
        """Get all application types.

        Needs `Application.Read`.
        """
        return self._transport.pages(
            "/application/type",
            models.ApplicationType,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def list_applications(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Application]:
        """Get all applications.

        Needs `Application.Read`.
        """
        return self._transport.pages(
            "/application", models.Application, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_application(
        self, body: models.ApplicationRequest, *, idempotency_key: str | None = None
    ) -> models.Application:
        """Create Application.

        An application of a type other than `custom` has that type's metadata definitions. Needs `Application.Create`.
        """
        return self._transport.request("POST", "/application", body=body, idempotency_key=idempotency_key).read(
            models.Application
        )

    def get_application(self, application_id: str) -> models.Application:
        """Get Application.

        Needs `Application.Read`.
        """
        return self._transport.request("GET", f"/application/{_segment(application_id)}").read(models.Application)

    def update_application(
        self, application_id: str, body: models.ApplicationUpdate | None = None, *, if_match: str | None = None
    ) -> models.Application:
        """Update Application.

        Needs `Application.Update`.
        """
        return self._transport.request(
            "PATCH", f"/application/{_segment(application_id)}", body=body, if_match=if_match
        ).read(models.Application)

    def delete_application(self, application_id: str, *, if_match: str | None = None) -> None:
        """Delete Application.

        Refused while it owns questionnaires, archived ones too. Needs `Application.Delete`.
        """
        self._transport.request("DELETE", f"/application/{_segment(application_id)}", if_match=if_match)


class Organizations(Family):
    """Organizations."""

    def list_organizations(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Organization]:
        """Get all organizations.

        Those that the token reaches: its own. Needs `Organization.Read`.
        """
        return self._transport.pages(
            "/organization", models.Organization, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def get_organization(self, organization_id: str) -> models.Organization:
        """Get Organization.

        Needs `Organization.Read`.
        """
        return self._transport.request("GET", f"/organization/{_segment(organization_id)}").read(models.Organization)

    def update_organization(
        self, organization_id: str, body: models.OrganizationUpdate | None = None, *, if_match: str | None = None
    ) -> models.Organization:
        """Update Organization.

        Needs `Organization.Update`.
        """
        return self._transport.request(
            "PATCH", f"/organization/{_segment(organization_id)}", body=body, if_match=if_match
        ).read(models.Organization)

    def get_billing(self, organization_id: str) -> models.OrganizationBilling:
        """Get Organization Billing.

        Needs `Organization Billing.Read`.
        """
        return self._transport.request("GET", f"/organization/{_segment(organization_id)}/billing").read(
            models.OrganizationBilling
        )

    def update_billing(
        self, organization_id: str, body: models.BillingUpdate | None = None, *, if_match: str | None = None
    ) -> models.OrganizationBilling:
        """Update Organization Billing.

        Needs `Organization Billing.Update`.
        """
        return self._transport.request(
            "PATCH", f"/organization/{_segment(organization_id)}/billing", body=body, if_match=if_match
        ).read(models.OrganizationBilling)

    def get_custom_domain(self, organization_id: str) -> models.CustomDomain:
        """Get Custom Domain.

        Needs `Organization.Read`.
        """
        return self._transport.request("GET", f"/organization/{_segment(organization_id)}/domain").read(
            models.CustomDomain
        )

    def set_custom_domain(
        self, organization_id: str, body: models.CustomDomainRequest, *, if_match: str | None = None
    ) -> models.CustomDomain:
        """Set Custom Domain.

        Nothing changes before a check has found the record. Another host gives the one before back. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "PUT", f"/organization/{_segment(organization_id)}/domain", body=body, if_match=if_match
        ).read(models.CustomDomain)

    def remove_custom_domain(self, organization_id: str, *, if_match: str | None = None) -> None:
        """Remove Custom Domain.

        New links have the installation's address again. Those that were sent with the host work while it leads here.
        Needs `Organization.Update`.
        """
        self._transport.request("DELETE", f"/organization/{_segment(organization_id)}/domain", if_match=if_match)

    def check_custom_domain(self, organization_id: str, *, idempotency_key: str | None = None) -> models.CustomDomain:
        """Check Custom Domain.

        Asks name servers for the record, then calls the host. It is asked for every six hours besides. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "POST", f"/organization/{_segment(organization_id)}/domain/check", idempotency_key=idempotency_key
        ).read(models.CustomDomain)

    def get_identity_provider(self, organization_id: str) -> models.IdentityProvider:
        """Get Identity Provider.

        Needs `Organization.Read`.
        """
        return self._transport.request("GET", f"/organization/{_segment(organization_id)}/identity").read(
            models.IdentityProvider
        )

    def set_identity_provider(
        self, organization_id: str, body: models.IdentityProviderRequest, *, if_match: str | None = None
    ) -> models.IdentityProvider:
        """Set Identity Provider.

        Only an owner does. Nobody logs in before a check has found the provider. Without `client_secret` the stored
        one is kept while `issuer` stays. Another issuer ends the sessions that the one before opened. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "PUT", f"/organization/{_segment(organization_id)}/identity", body=body, if_match=if_match
        ).read(models.IdentityProvider)

    def remove_identity_provider(self, organization_id: str, *, if_match: str | None = None) -> None:
        """Remove Identity Provider.

        Only an owner does. Nobody logs in through it any more, and the sessions that it opened end. Needs
        `Organization.Update`.
        """
        self._transport.request("DELETE", f"/organization/{_segment(organization_id)}/identity", if_match=if_match)

    def check_identity_provider(
        self, organization_id: str, *, idempotency_key: str | None = None
    ) -> models.IdentityProvider:
        """Check Identity Provider.

        Only an owner does. Reads the provider's document, and tells in `problem` where that failed. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "POST", f"/organization/{_segment(organization_id)}/identity/check", idempotency_key=idempotency_key
        ).read(models.IdentityProvider)

    def get_login_policy(self, organization_id: str) -> models.LoginPolicy:
        """Get Login Policy.

        Needs `Organization.Read`.
        """
        return self._transport.request("GET", f"/organization/{_segment(organization_id)}/login").read(
            models.LoginPolicy
        )

    def set_login_policy(
        self, organization_id: str, body: models.LoginPolicyRequest | None = None, *, if_match: str | None = None
    ) -> models.LoginPolicy:
        """Set Login Policy.

        Only an owner does. It holds at once, for open sessions too. Owners may use a password with a second factor
        although `requires_provider`. `token_networks` without the address of this request is refused. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "PUT", f"/organization/{_segment(organization_id)}/login", body=body, if_match=if_match
        ).read(models.LoginPolicy)

    def get_retention(self, organization_id: str) -> models.Retention:
        """Get Retention.

        Needs `Organization.Read`.
        """
        return self._transport.request("GET", f"/organization/{_segment(organization_id)}/retention").read(
            models.Retention
        )

    def update_retention(
        self, organization_id: str, body: models.RetentionUpdate | None = None, *, if_match: str | None = None
    ) -> models.Retention:
        """Update Retention.

        A worker acts by it within a day. Try it with `/preview` first: what was removed does not come back. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "PATCH", f"/organization/{_segment(organization_id)}/retention", body=body, if_match=if_match
        ).read(models.Retention)

    def list_legal_holds(
        self,
        organization_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.LegalHold]:
        """Get all legal holds.

        Only for callers that reach the whole organization. Needs `Organization.Read`.
        """
        return self._transport.pages(
            f"/organization/{_segment(organization_id)}/retention/hold",
            models.LegalHold,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_legal_hold(
        self, organization_id: str, body: models.LegalHoldRequest, *, idempotency_key: str | None = None
    ) -> models.LegalHold:
        """Create Legal Hold.

        Nothing of it is removed by age, and a person under a hold cannot be erased, until it is lifted. Needs
        `Organization.Update`.
        """
        return self._transport.request(
            "POST",
            f"/organization/{_segment(organization_id)}/retention/hold",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.LegalHold)

    def get_legal_hold(self, organization_id: str, hold_id: str) -> models.LegalHold:
        """Get Legal Hold.

        Needs `Organization.Read`.
        """
        return self._transport.request(
            "GET", f"/organization/{_segment(organization_id)}/retention/hold/{_segment(hold_id)}"
        ).read(models.LegalHold)

    def lift_legal_hold(self, organization_id: str, hold_id: str, *, if_match: str | None = None) -> None:
        """Lift Legal Hold.

        Needs `Organization.Update`.
        """
        self._transport.request(
            "DELETE", f"/organization/{_segment(organization_id)}/retention/hold/{_segment(hold_id)}", if_match=if_match
        )

    def preview_retention(
        self, organization_id: str, body: models.RetentionUpdate | None = None, *, idempotency_key: str | None = None
    ) -> models.RetentionPreview:
        """Try retention periods before they are saved.

        Nothing is stored. Periods that are not named are those of now. Counting ends at 10,000 for each kind. What a
        legal hold keeps is not counted. Needs `Organization.Read`.
        """
        return self._transport.request(
            "POST",
            f"/organization/{_segment(organization_id)}/retention/preview",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.RetentionPreview)

    def list_retention_runs(
        self,
        organization_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.RetentionRun]:
        """Get all retention runs.

        The ledger of what was removed by its age, for two years. Nothing in it says of whom it was. Needs
        `Organization.Read`.
        """
        return self._transport.pages(
            f"/organization/{_segment(organization_id)}/retention/run",
            models.RetentionRun,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )


class Users(Family):
    """Users."""

    def list_users(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.User]:
        """Get all users.

        The people. Service accounts are listed only with a filter on `Service`. Needs `User.Read`.
        """
        return self._transport.pages(
            "/user", models.User, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def invite_user(self, body: models.UserRequest, *, idempotency_key: str | None = None) -> models.User:
        """Invite User.

        Only an owner invites owners; a caller of some applications invites to these. With `service` it makes a
        service account, which is no person: it has a `display_name` in place of an address, tokens, and no log-in.
        Needs `User.Create`.
        """
        return self._transport.request("POST", "/user", body=body, idempotency_key=idempotency_key).read(models.User)

    def get_user(self, user_id: str) -> models.UserAccess:
        """Get User.

        `me`: the token's own user, for which no scope is needed. Needs `User.Read`.
        """
        return self._transport.request("GET", f"/user/{_segment(user_id)}").read(models.UserAccess)

    def update_user(
        self, user_id: str, body: models.UserUpdate | None = None, *, if_match: str | None = None
    ) -> models.User:
        """Update User.

        Of oneself (`me`) the profile alone, for which no scope is needed: not role, applications, activity. Needs
        `User.Update`.
        """
        return self._transport.request("PATCH", f"/user/{_segment(user_id)}", body=body, if_match=if_match).read(
            models.User
        )

    def remove_user(self, user_id: str, *, if_match: str | None = None) -> None:
        """Remove User.

        The user leaves the organization, and their tokens end at once. `me`: the token's own user. Needs
        `User.Delete`.
        """
        self._transport.request("DELETE", f"/user/{_segment(user_id)}", if_match=if_match)

    def invite_user_by_mail(self, user_id: str, *, idempotency_key: str | None = None) -> models.Invitation:
        """Mail an invitation.

        The user opens the link and chooses a password for the console. Earlier links stop to work. Needs
        `User.Create`.
        """
        return self._transport.request(
            "POST", f"/user/{_segment(user_id)}/invitation", idempotency_key=idempotency_key
        ).read(models.Invitation)


class Tokens(Family):
    """Tokens."""

    def list_tokens(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Token]:
        """Get all tokens.

        Needs `Token.Read`.
        """
        return self._transport.pages(
            "/token", models.Token, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def make_token(self, body: models.TokenRequest, *, idempotency_key: str | None = None) -> models.Token:
        """Create Token.

        Scopes and applications within those that the caller holds. The answer alone shows `token`. Repeated with its
        `Idempotency-Key` the answer has null in `token`. Needs `Token.Create`.
        """
        return self._transport.request("POST", "/token", body=body, idempotency_key=idempotency_key).read(models.Token)

    def get_token(self, token_id: str) -> models.Token:
        """Get Token.

        Needs `Token.Read`.
        """
        return self._transport.request("GET", f"/token/{_segment(token_id)}").read(models.Token)

    def update_token(
        self, token_id: str, body: models.TokenUpdate | None = None, *, if_match: str | None = None
    ) -> models.Token:
        """Update Token.

        Its title or its networks. Networks within those that the caller has itself. Needs `Token.Update`.
        """
        return self._transport.request("PATCH", f"/token/{_segment(token_id)}", body=body, if_match=if_match).read(
            models.Token
        )

    def revoke_token(self, token_id: str, *, if_match: str | None = None) -> None:
        """Revoke Token.

        It ends at once and stays in the list with its `revoked_time`. Needs `Token.Delete`.
        """
        self._transport.request("DELETE", f"/token/{_segment(token_id)}", if_match=if_match)

    def rotate_token(
        self, token_id: str, body: models.RotationRequest | None = None, *, idempotency_key: str | None = None
    ) -> models.Token:
        """Rotate Token.

        A new token with the rights of the old one, which ends `overlap_hours` later. Repeated with its
        `Idempotency-Key` the answer has null in `token`. Needs `Token.Create`.
        """
        return self._transport.request(
            "POST", f"/token/{_segment(token_id)}/rotation", body=body, idempotency_key=idempotency_key
        ).read(models.Token)


class Plans(Family):
    """Plans."""

    def list_plans(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Plan]:
        """Get all plans.

        An organization without a plan is unlimited. Needs `Plan.Read`.
        """
        return self._transport.pages(
            "/plan", models.Plan, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )


class Audit(Family):
    """Audit."""

    def list_audit_entries(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.AuditEntry]:
        """Get the audit log.

        Newest first: changes with their author, log-ins and failed ones, readings of a person, downloads. Filter by
        `ActorId`, `Action`, `ThingKind`, `ThingId`, `CreatedTime`. Kept two years; entries cannot be changed. Needs
        `Audit.Read`.
        """
        return self._transport.pages(
            "/audit", models.AuditEntry, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def get_audit_file(
        self,
        *,
        format: Literal["csv", "jsonl"] | None = None,
        actor_id: str | None = None,
        action: str | None = None,
        thing_kind: str | None = None,
        thing_id: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
    ) -> Iterator[bytes]:
        """Get the audit log as a file.

        The newest 100,000 entries that match, as CSV or one JSON object a line, with the members of the list. The
        first entry is the download itself. Needs `Audit.Read`.
        """
        return self._transport.stream(
            "/audit/file",
            query={
                "format": format,
                "actor_id": actor_id,
                "action": action,
                "thing_kind": thing_kind,
                "thing_id": thing_id,
                "from_time": from_time,
                "to_time": to_time,
            },
        )


class Questionnaires(Family):
    """Questionnaires."""

    def list_questionnaires(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Questionnaire]:
        """Get all questionnaires.

        Needs `Questionnaire.Read`.
        """
        return self._transport.pages(
            "/q/questionnaire", models.Questionnaire, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_questionnaire(
        self, body: models.QuestionnaireRequest, *, idempotency_key: str | None = None
    ) -> models.Questionnaire:
        """Create questionnaire.

        With an empty draft, or with what `template_questionnaire_id`, `library_name` or `file` asks; nothing can be
        issued before a version is published. Needs `Questionnaire.Create`.
        """
        return self._transport.request("POST", "/q/questionnaire", body=body, idempotency_key=idempotency_key).read(
            models.Questionnaire
        )

    def get_questionnaire(self, questionnaire_id: str) -> models.Questionnaire:
        """Get Questionnaire.

        Needs `Questionnaire.Read`.
        """
        return self._transport.request("GET", f"/q/questionnaire/{_segment(questionnaire_id)}").read(
            models.Questionnaire
        )

    def change_questionnaire(
        self, questionnaire_id: str, body: models.QuestionnaireUpdate | None = None, *, if_match: str | None = None
    ) -> models.Questionnaire:
        """Update questionnaire.

        Its owner and default locale stay; what it asks changes with a new version. Needs `Questionnaire.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/questionnaire/{_segment(questionnaire_id)}", body=body, if_match=if_match
        ).read(models.Questionnaire)

    def archive_questionnaire(self, questionnaire_id: str, *, if_match: str | None = None) -> None:
        """Archive questionnaire.

        Nothing more is issued, sent or answered; it and its answers stay to be read, with `archived_time`. Needs
        `Questionnaire.Delete`.
        """
        self._transport.request("DELETE", f"/q/questionnaire/{_segment(questionnaire_id)}", if_match=if_match)

    def import_questionnaire(
        self,
        body: str,
        *,
        owner_application_id: str | None = None,
        display_name: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.QuestionnaireImport:
        """Import questionnaire of another system.

        A file of LimeSurvey (.lss, .txt), Qualtrics (.qsf), Typeform (.json), Formbricks (.json), SurveyJS (.json),
        XLSForm (.xlsx), at most 5,000,000 bytes; its content tells which. It becomes the draft of a new
        questionnaire; `lines` tell what was taken, what was taken differently and what was left out, and why. Needs
        `Questionnaire.Create`.
        """
        return self._transport.request(
            "POST",
            "/q/questionnaire/import",
            query={"owner_application_id": owner_application_id, "display_name": display_name, "dry_run": dry_run},
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.QuestionnaireImport)

    def get_questionnaire_file(
        self, questionnaire_id: str, *, format: Literal["afterword", "limesurvey", "surveyjs"] | None = None
    ) -> dict[str, Any]:
        """Get questionnaire as a file.

        The YAML file of its draft, or of its published version. `file` of a new questionnaire takes it. `format`
        gives a file for another system. Needs `Questionnaire.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/file", query={"format": format}
        ).read(dict[str, Any])

    def get_questionnaire_file_report(
        self, questionnaire_id: str, *, format: Literal["limesurvey", "surveyjs"] | None = None
    ) -> models.QuestionnaireFileReport:
        """Get what a questionnaire file cannot hold.

        The things that the file for another system lacks, or has differently, and why. Needs `Questionnaire.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/file/report", query={"format": format}
        ).read(models.QuestionnaireFileReport)

    def list_library(self, *, limit: int = 100) -> Iterator[models.LibraryEntry]:
        """Get all questionnaires of the library.

        Each with a note why it is built as it is; `POST /q/questionnaire` takes its `library_name`. Needs
        `Questionnaire.Read`.
        """
        return self._transport.pages("/library", models.LibraryEntry, limit=limit)

    def get_from_library(self, library_name: str) -> models.LibraryQuestionnaire:
        """Get questionnaire of the library.

        A copy has ids of its own. Needs `Questionnaire.Read`.
        """
        return self._transport.request("GET", f"/library/{_segment(library_name)}").read(models.LibraryQuestionnaire)

    def get_draft(self, questionnaire_id: str) -> models.Draft:
        """Get draft.

        Needs `Questionnaire.Read`.
        """
        return self._transport.request("GET", f"/q/questionnaire/{_segment(questionnaire_id)}/draft").read(models.Draft)

    def save_draft(
        self, questionnaire_id: str, body: models.Definition, *, if_match: str | None = None
    ) -> models.Draft:
        """Save draft.

        The whole definition. Groups, questions and rows without an id are given one; those that come back keep
        theirs. What is wrong stands in `problems` and does not keep the draft from being saved. 201 where there was
        none. Needs `Questionnaire.Update`.
        """
        return self._transport.request(
            "PUT", f"/q/questionnaire/{_segment(questionnaire_id)}/draft", body=body, if_match=if_match
        ).read(models.Draft)

    def discard_draft(self, questionnaire_id: str, *, if_match: str | None = None) -> None:
        """Discard draft.

        The published version stays as it is; a new draft may begin with its definition. Needs `Questionnaire.Update`.
        """
        self._transport.request("DELETE", f"/q/questionnaire/{_segment(questionnaire_id)}/draft", if_match=if_match)

    def begin_draft_anew(
        self, questionnaire_id: str, version_id: str, *, idempotency_key: str | None = None
    ) -> models.Draft:
        """Begin draft anew from a version.

        The draft gets the definition of this version, whatever it had; `If-Match` refuses it where somebody else
        saved meanwhile. Nothing is published. 201 where there was no draft. Needs `Questionnaire.Update`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/draft/from/{_segment(version_id)}",
            idempotency_key=idempotency_key,
        ).read(models.Draft)

    def validate_definition(self, body: models.Definition, *, idempotency_key: str | None = None) -> models.Validation:
        """Validate definition.

        Nothing is saved. Metadata that jumps ask for may be any: they belong to an application. Needs
        `Questionnaire.Read`.
        """
        return self._transport.request(
            "POST", "/q/questionnaire/validation", body=body, idempotency_key=idempotency_key
        ).read(models.Validation)

    def compare_versions(self, questionnaire_id: str, version_id: str, compared_id: str) -> models.VersionDifference:
        """Compare versions.

        Each change from the first version to the second, in a sentence and in members. `draft` in place of the second
        id compares with the draft, as far as it can be read. Needs `Questionnaire Version.Read` and
        `Questionnaire.Read`.
        """
        return self._transport.request(
            "GET",
            f"/q/questionnaire/{_segment(questionnaire_id)}/version/{_segment(version_id)}/diff/{_segment(compared_id)}",
        ).read(models.VersionDifference)

    def get_translations(self, questionnaire_id: str, *, locale: str | None = None) -> models.Translations:
        """Get translations of draft.

        Also for a language that the draft does not have yet. Needs `Questionnaire.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/draft/translations", query={"locale": locale}
        ).read(models.Translations)

    def save_translations(
        self, questionnaire_id: str, body: models.TranslationsRequest, *, if_match: str | None = None
    ) -> models.Translations:
        """Save translations of draft.

        By their keys; a translation that comes back as it was is confirmed. Keys that no text has any more are in
        `unknown_keys`. A language that the draft does not have yet is added. Needs `Questionnaire.Update`.
        """
        return self._transport.request(
            "PUT", f"/q/questionnaire/{_segment(questionnaire_id)}/draft/translations", body=body, if_match=if_match
        ).read(models.Translations)

    def get_translations_file(
        self, questionnaire_id: str, *, locale: str | None = None, format: Literal["csv", "xliff"] | None = None
    ) -> Iterator[bytes]:
        """Get translations of draft as a file.

        CSV, or XLIFF 1.2 for the tools of translators, with the state of each text. Needs `Questionnaire.Read`.
        """
        return self._transport.stream(
            f"/q/questionnaire/{_segment(questionnaire_id)}/draft/translations/file",
            query={"locale": locale, "format": format},
        )

    def save_translations_file(
        self, questionnaire_id: str, body: bytes, *, locale: str | None = None, idempotency_key: str | None = None
    ) -> models.Translations:
        """Save translations of draft from a file.

        A file as it was given out, with its targets filled in; those that are empty stay as they are. Where the text
        was changed since, its translation is saved and stays marked. Needs `Questionnaire.Update`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/draft/translations/file",
            query={"locale": locale},
            file=body,
            media_type="text/csv",
            idempotency_key=idempotency_key,
        ).read(models.Translations)

    def list_versions(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.QuestionnaireVersion]:
        """Get all questionnaire versions.

        Needs `Questionnaire Version.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/version",
            models.QuestionnaireVersion,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def publish_draft(
        self,
        questionnaire_id: str,
        body: models.PublicationRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> models.QuestionnaireVersion:
        """Publish draft.

        The draft's errors refuse it, with pointers into the draft. One that says what the published version says
        makes no version: 200 and the published one. Needs `Questionnaire Version.Create`.
        """
        return self._transport.request(
            "POST", f"/q/questionnaire/{_segment(questionnaire_id)}/version", body=body, idempotency_key=idempotency_key
        ).read(models.QuestionnaireVersion)

    def get_version(self, questionnaire_id: str, version_id: str) -> models.QuestionnaireVersion:
        """Get questionnaire version.

        Needs `Questionnaire Version.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/version/{_segment(version_id)}"
        ).read(models.QuestionnaireVersion)

    def list_quotas(self, questionnaire_id: str, *, limit: int = 100) -> Iterator[models.Quota]:
        """Get quotas of a questionnaire.

        Those of the published version. A response counts once it is complete, with the answers that it has then;
        tests, and those held back or rejected, do not. Needs `Questionnaire.Read`.
        """
        return self._transport.pages(f"/q/questionnaire/{_segment(questionnaire_id)}/quota", models.Quota, limit=limit)

    def get_anonymity(self, questionnaire_id: str) -> models.Anonymity:
        """Get anonymity of a questionnaire.

        Set it with `anonymous` in the draft. Instances keep that of the version with which they were issued. Needs
        `Questionnaire.Read`.
        """
        return self._transport.request("GET", f"/q/questionnaire/{_segment(questionnaire_id)}/anonymity").read(
            models.Anonymity
        )

    def preview_draft(
        self,
        questionnaire_id: str,
        body: models.DraftPreviewRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> models.DraftPreview:
        """Preview draft.

        The answer page of the draft as it stands whenever the address is opened, for an hour. Nothing is stored and
        nothing counted. `responder_id` needs `Responder.Read`. `brand` is shown in place of the stored one of
        `brand_level`, to look at it before it is saved. Needs `Questionnaire.Read`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/draft/preview",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.DraftPreview)


class QuestionnaireGroups(Family):
    """Questionnaire Groups."""

    def list_groups(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Group]:
        """Get all questionnaire groups.

        Those of the published version, in order; before the first publication those of the draft. Needs
        `Questionnaire Group.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/group",
            models.Group,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_group(self, questionnaire_id: str, group_id: str) -> models.Group:
        """Get Questionnaire Group.

        Needs `Questionnaire Group.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/group/{_segment(group_id)}"
        ).read(models.Group)


class Questions(Family):
    """Questions."""

    def list_questions(
        self,
        questionnaire_id: str,
        group_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Question]:
        """Get all group questions.

        Needs `Question.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/group/{_segment(group_id)}/question",
            models.Question,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_question(self, questionnaire_id: str, question_id: str) -> models.Question:
        """Get Question.

        Needs `Question.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/question/{_segment(question_id)}"
        ).read(models.Question)

    def list_question_answers(
        self,
        questionnaire_id: str,
        question_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.ResponseAnswer]:
        """Get Question Response Content.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/question/{_segment(question_id)}/response/content",
            models.ResponseAnswer,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def list_uses(self, questionnaire_id: str, question_id: str, *, limit: int = 100) -> Iterator[models.QuestionUse]:
        """Get uses of a question.

        In the draft, else the published version; and the alerts, sequences and saved reports that name it, each kind
        with the scope of its list: Alert.Read, Sequence.Read, Report.Read. At most 200. Needs `Question.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/question/{_segment(question_id)}/use",
            models.QuestionUse,
            limit=limit,
        )


class QuestionnaireVisuals(Family):
    """Questionnaire Visuals."""

    def list_visuals(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Visual]:
        """Get all questionnaire visuals.

        Needs `Questionnaire Visual.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/visual",
            models.Visual,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_visual(
        self, questionnaire_id: str, body: models.VisualRequest, *, idempotency_key: str | None = None
    ) -> models.Visual:
        """Create questionnaire visual.

        An active one ends the other. Of `configuration` pages read `color_primary`, `color_background`, `color_text`
        (of a contrast of 4.5:1), `logo`, `font`, `corner_radius`, `density`, `layout` and `show_progress`. Other
        keys, and values that cannot be used, are kept as they were sent, and `problems` names them. Needs
        `Questionnaire Visual.Create`.
        """
        return self._transport.request(
            "POST", f"/q/questionnaire/{_segment(questionnaire_id)}/visual", body=body, idempotency_key=idempotency_key
        ).read(models.Visual)

    def get_visual(self, questionnaire_id: str, visual_id: str) -> models.Visual:
        """Get questionnaire visual.

        Needs `Questionnaire Visual.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/visual/{_segment(visual_id)}"
        ).read(models.Visual)

    def change_visual(
        self,
        questionnaire_id: str,
        visual_id: str,
        body: models.VisualUpdate | None = None,
        *,
        if_match: str | None = None,
    ) -> models.Visual:
        """Update questionnaire visual.

        `configuration` is replaced as a whole; activating it ends the other. Of `configuration` pages read
        `color_primary`, `color_background`, `color_text` (of a contrast of 4.5:1), `logo`, `font`, `corner_radius`,
        `density`, `layout` and `show_progress`. Other keys, and values that cannot be used, are kept as they were
        sent, and `problems` names them. Needs `Questionnaire Visual.Update`.
        """
        return self._transport.request(
            "PATCH",
            f"/q/questionnaire/{_segment(questionnaire_id)}/visual/{_segment(visual_id)}",
            body=body,
            if_match=if_match,
        ).read(models.Visual)

    def delete_visual(self, questionnaire_id: str, visual_id: str, *, if_match: str | None = None) -> None:
        """Delete questionnaire visual.

        Needs `Questionnaire Visual.Delete`.
        """
        self._transport.request(
            "DELETE", f"/q/questionnaire/{_segment(questionnaire_id)}/visual/{_segment(visual_id)}", if_match=if_match
        )

    def get_theme(self, questionnaire_id: str) -> models.Theme:
        """Get Questionnaire Theme.

        The look after inheritance: of the organization, the application, and the active visual. Needs `Questionnaire
        Visual.Read`.
        """
        return self._transport.request("GET", f"/q/questionnaire/{_segment(questionnaire_id)}/theme").read(models.Theme)


class Assets(Family):
    """Assets."""

    def list_assets(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Asset]:
        """Get all assets.

        Needs `Asset.Read`.
        """
        return self._transport.pages(
            "/asset", models.Asset, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_asset(
        self, body: bytes, *, side_max: int | None = None, idempotency_key: str | None = None
    ) -> models.Asset:
        """Create Asset.

        A picture, or a form with the picture in it. It is encoded again: upright, at most 1,600 pixels a side,
        without metadata such as the place where it was taken, of an animation the first frame. At most 26 million
        pixels are read. One that is there already is answered as it is. Needs `Asset.Create`.
        """
        return self._transport.request(
            "POST",
            "/asset",
            query={"side_max": side_max},
            file=body,
            media_type="image/png",
            idempotency_key=idempotency_key,
        ).read(models.Asset)

    def get_asset(self, asset_id: str) -> models.Asset:
        """Get Asset.

        Needs `Asset.Read`.
        """
        return self._transport.request("GET", f"/asset/{_segment(asset_id)}").read(models.Asset)

    def delete_asset(self, asset_id: str, *, if_match: str | None = None) -> None:
        """Delete Asset.

        Refused while something uses it. Browsers and mail programs may keep what they loaded. Needs `Asset.Delete`.
        """
        self._transport.request("DELETE", f"/asset/{_segment(asset_id)}", if_match=if_match)


class Metadata(Family):
    """Metadata."""

    def list_questionnaire_metadata(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.MetadataDefinition]:
        """Get all questionnaire metadata definitions.

        Needs `Metadata.Read`.
        """
        return self._transport.pages(
            "/q/metadata/questionnaire",
            models.MetadataDefinition,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def declare_questionnaire_metadata(
        self, body: models.MetadataDefinitionRequest, *, idempotency_key: str | None = None
    ) -> models.MetadataDefinition:
        """Declare questionnaire metadata.

        The level `application` wants an `application_id`, `application_type` an `application_type_id`, `organization`
        neither. Of one name the narrowest definition decides. Needs `Metadata.Create`.
        """
        return self._transport.request(
            "POST", "/q/metadata/questionnaire", body=body, idempotency_key=idempotency_key
        ).read(models.MetadataDefinition)

    def get_questionnaire_metadata(self, metadata_id: str) -> models.MetadataDefinition:
        """Get questionnaire metadata definition.

        Needs `Metadata.Read`.
        """
        return self._transport.request("GET", f"/q/metadata/questionnaire/{_segment(metadata_id)}").read(
            models.MetadataDefinition
        )

    def change_questionnaire_metadata(
        self, metadata_id: str, body: models.MetadataDefinitionUpdate | None = None, *, if_match: str | None = None
    ) -> models.MetadataDefinition:
        """Update questionnaire metadata definition.

        Needs `Metadata.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/metadata/questionnaire/{_segment(metadata_id)}", body=body, if_match=if_match
        ).read(models.MetadataDefinition)

    def delete_questionnaire_metadata(self, metadata_id: str, *, if_match: str | None = None) -> None:
        """Delete questionnaire metadata definition.

        Values of the name stay; they are undeclared from now on. Needs `Metadata.Delete`.
        """
        self._transport.request("DELETE", f"/q/metadata/questionnaire/{_segment(metadata_id)}", if_match=if_match)

    def list_responder_metadata(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.MetadataDefinition]:
        """Get all responder metadata definitions.

        Needs `Metadata.Read`.
        """
        return self._transport.pages(
            "/q/metadata/responder",
            models.MetadataDefinition,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def declare_responder_metadata(
        self, body: models.MetadataDefinitionRequest, *, idempotency_key: str | None = None
    ) -> models.MetadataDefinition:
        """Declare responder metadata.

        The level `application` wants an `application_id`, `application_type` an `application_type_id`, `organization`
        neither. Of one name the narrowest definition decides. Needs `Metadata.Create`.
        """
        return self._transport.request(
            "POST", "/q/metadata/responder", body=body, idempotency_key=idempotency_key
        ).read(models.MetadataDefinition)

    def get_responder_metadata(self, metadata_id: str) -> models.MetadataDefinition:
        """Get responder metadata definition.

        Needs `Metadata.Read`.
        """
        return self._transport.request("GET", f"/q/metadata/responder/{_segment(metadata_id)}").read(
            models.MetadataDefinition
        )

    def change_responder_metadata(
        self, metadata_id: str, body: models.MetadataDefinitionUpdate | None = None, *, if_match: str | None = None
    ) -> models.MetadataDefinition:
        """Update responder metadata definition.

        Needs `Metadata.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/metadata/responder/{_segment(metadata_id)}", body=body, if_match=if_match
        ).read(models.MetadataDefinition)

    def delete_responder_metadata(self, metadata_id: str, *, if_match: str | None = None) -> None:
        """Delete responder metadata definition.

        Values of the name stay; they are undeclared from now on. Needs `Metadata.Delete`.
        """
        self._transport.request("DELETE", f"/q/metadata/responder/{_segment(metadata_id)}", if_match=if_match)

    def list_seen_of_questionnaires(self, *, limit: int = 100) -> Iterator[models.SeenMetadata]:
        """Get questionnaire metadata seen lately.

        The names that the newest 1,000 instances have, by name, with the 20 most frequent values of each: to see what
        a system sends, and which names nobody declared. Needs `Metadata.Read` and `Questionnaire Value.Read`.
        """
        return self._transport.pages("/q/metadata/seen/questionnaire", models.SeenMetadata, limit=limit)

    def list_seen_of_responders(self, *, limit: int = 100) -> Iterator[models.SeenMetadata]:
        """Get responder metadata seen lately.

        The names that the newest 1,000 responders have, by name, with the 20 most frequent values of each: to see
        what a system sends, and which names nobody declared. Needs `Metadata.Read` and `Responder Value.Read`.
        """
        return self._transport.pages("/q/metadata/seen/responder", models.SeenMetadata, limit=limit)


class QuestionnaireInstances(Family):
    """Questionnaire Instances."""

    def list_questionnaire_instances(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.QuestionnaireInstance]:
        """Get Questionnaire Instance List by questionnaire id.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/instance",
            models.QuestionnaireInstance,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def issue_instance(
        self, questionnaire_id: str, body: models.InstanceRequest | None = None, *, idempotency_key: str | None = None
    ) -> models.QuestionnaireInstance:
        """Create new questionnaire instance.

        With a `reference_id` that has an instance already: 200 and that one, unchanged. Needs `Questionnaire
        Instance.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/instance",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.QuestionnaireInstance)

    def list_instances_with_children(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.InstanceWithChildren]:
        """Get Questionnaire Instance List with its children.

        Children were issued because of the instance, by a sequence: at most 100 each, 5 generations down. Needs
        `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/instance/children",
            models.InstanceWithChildren,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def try_conditions(
        self, questionnaire_id: str, body: models.ConditionTest, *, idempotency_key: str | None = None
    ) -> models.ConditionTestResult:
        """Test conditions.

        Tries conditions on a past response of the questionnaire; nothing is kept. Needs `Questionnaire
        Instance.Read`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/condition/test",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.ConditionTestResult)

    def list_questionnaire_values(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.QuestionnaireValue]:
        """Get Questionnaire Value List by questionnaire id.

        Needs `Questionnaire Value.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/value",
            models.QuestionnaireValue,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def list_instance_values(
        self, instance_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.QuestionnaireValue]:
        """Get Questionnaire Value List by instance id.

        Needs `Questionnaire Value.Read`.
        """
        return self._transport.pages(
            f"/q/instance/{_segment(instance_id)}/value",
            models.QuestionnaireValue,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def list_questionnaire_responder_values(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.ResponderValue]:
        """Get Responder Value List by questionnaire id.

        Needs `Responder Value.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/responder/value",
            models.ResponderValue,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def list_responder_values(
        self, responder_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ResponderValue]:
        """Get Responder Value List by responder id.

        Needs `Responder Value.Read`.
        """
        return self._transport.pages(
            f"/q/responder/{_segment(responder_id)}/value",
            models.ResponderValue,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )


class QuestionnaireInstancesSimplified(Family):
    """Questionnaire Instances - Simplified."""

    def list_organization_instances(
        self,
        organization_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.QuestionnaireInstance]:
        """Get Questionnaire Instance List by Organization.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            f"/q/organization/{_segment(organization_id)}/instance",
            models.QuestionnaireInstance,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def list_instances(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.QuestionnaireInstance]:
        """Get Questionnaire Instance List.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            "/q/instance",
            models.QuestionnaireInstance,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_instance(self, instance_id: str) -> models.QuestionnaireInstance:
        """Get Questionnaire Instance.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.request("GET", f"/q/instance/{_segment(instance_id)}").read(models.QuestionnaireInstance)

    def update_instance(
        self, instance_id: str, body: models.InstanceUpdate | None = None, *, if_match: str | None = None
    ) -> models.QuestionnaireInstance:
        """Update Questionnaire Instance.

        In every state; only what the body names. Metadata is merged by name, null or empty text removes. Needs
        `Questionnaire Instance.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/instance/{_segment(instance_id)}", body=body, if_match=if_match
        ).read(models.QuestionnaireInstance)

    def delete_instance(self, instance_id: str, *, if_match: str | None = None) -> None:
        """Delete Questionnaire Instance.

        Needs `Questionnaire Instance.Delete`.
        """
        self._transport.request("DELETE", f"/q/instance/{_segment(instance_id)}", if_match=if_match)

    def get_instance_url(self, instance_id: str) -> models.InstanceUrl:
        """Get Questionnaire Instance Url.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.request("GET", f"/q/instance/{_segment(instance_id)}/url").read(models.InstanceUrl)

    def get_instance_content(self, instance_id: str) -> models.InstanceContent:
        """Get Questionnaire Instance Content.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.request("GET", f"/q/instance/{_segment(instance_id)}/content").read(
            models.InstanceContent
        )

    def get_response_content(self, instance_id: str) -> models.ResponseContent:
        """Get Questionnaire Instance Response Content.

        Values of metadata need Questionnaire Value.Read and Responder Value.Read, else their maps are empty. Needs
        `Questionnaire Instance.Read`.
        """
        return self._transport.request("GET", f"/q/instance/{_segment(instance_id)}/response/content").read(
            models.ResponseContent
        )

    def get_file(self, instance_id: str, file_id: str) -> Iterator[bytes]:
        """Get file of a response.

        A file that answers a question of the type `file`; `value` of the answer lists its `file_id`. People sent it:
        its kind was checked by its content, and pictures were encoded again, but open it as you would any attachment.
        The audit log notes who took it. Needs `Questionnaire Instance.Read`.
        """
        return self._transport.stream(f"/q/instance/{_segment(instance_id)}/file/{_segment(file_id)}")


class Tags(Family):
    """Tags."""

    def list_tags(
        self, instance_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Tag]:
        """Get all tags.

        Needs `Tag.Read`.
        """
        return self._transport.pages(
            f"/q/instance/{_segment(instance_id)}/tag",
            models.Tag,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def add_tag(self, instance_id: str, body: models.TagRequest, *, idempotency_key: str | None = None) -> models.Tag:
        """Add tag.

        Trimmed and in lower case; one that is there already stays as it is. At most 50 an instance. Needs
        `Tag.Create`.
        """
        return self._transport.request(
            "POST", f"/q/instance/{_segment(instance_id)}/tag", body=body, idempotency_key=idempotency_key
        ).read(models.Tag)

    def remove_tag(self, instance_id: str, tag: str, *, if_match: str | None = None) -> None:
        """Remove tag.

        Needs `Tag.Delete`.
        """
        self._transport.request("DELETE", f"/q/instance/{_segment(instance_id)}/tag/{_segment(tag)}", if_match=if_match)


class Responders(Family):
    """Responders."""

    def list_responders(
        self,
        *,
        search: str | None = None,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Responder]:
        """Get all responders.

        With `search`: those with an address that is this or begins like this; those with values in which its words
        begin words, in any case and without accents (Responder Value.Read); and those of items whose
        `external_reference` it is (Queue.Read). Of very many the first 10,000. Needs `Responder.Read`.
        """
        return self._transport.pages(
            "/q/responder",
            models.Responder,
            limit=limit,
            query={"search": search, "filter_by": filter_by, "order_by": order_by},
        )

    def create_responder(
        self, body: models.ResponderRequest, *, idempotency_key: str | None = None
    ) -> models.Responder:
        """Create a responder.

        `email` and `phone_number` of the metadata are the addresses. 200 with the person who has one of them: the
        metadata are merged, a locale that is there stays. Whoever is sent something is created without this. Needs
        `Responder.Create`.
        """
        return self._transport.request("POST", "/q/responder", body=body, idempotency_key=idempotency_key).read(
            models.Responder
        )

    def count_responders(self, *, search: str | None = None) -> models.ResponderCount:
        """Get responder count.

        The same filters as the list. With `search`: those with an address that is this or begins like this; those
        with values in which its words begin words, in any case and without accents (Responder Value.Read); and those
        of items whose `external_reference` it is (Queue.Read). Of very many the first 10,000. Needs `Responder.Read`.
        """
        return self._transport.request("GET", "/q/responder/count", query={"search": search}).read(
            models.ResponderCount
        )

    def get_responder(self, responder_id: str) -> models.Responder:
        """Get Responder.

        Needs `Responder.Read`.
        """
        return self._transport.request("GET", f"/q/responder/{_segment(responder_id)}").read(models.Responder)

    def update_responder(
        self, responder_id: str, body: models.ResponderUpdate | None = None, *, if_match: str | None = None
    ) -> models.Responder:
        """Update Responder.

        Only what the body names. Metadata is merged by name, null or empty text removes; read it at /value. Needs
        `Responder.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/responder/{_segment(responder_id)}", body=body, if_match=if_match
        ).read(models.Responder)

    def list_timeline(
        self, responder_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.TimelineEntry]:
        """Get the timeline of a responder.

        What was sent, is planned, or was not sent and why; answers; cases, with Alert Instance.Read; suppressions.
        The newest first. Needs `Responder.Read` and `Questionnaire Instance.Read` and `Queue.Read`.
        """
        return self._transport.pages(
            f"/q/responder/{_segment(responder_id)}/timeline",
            models.TimelineEntry,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_subject(self, responder_id: str, *, format: Literal["html", "json"] | None = None) -> dict[str, Any]:
        """Get all that is held on a responder.

        One document for a request of access, as JSON or as a page to read: `responder`, `values`, `queue_items`,
        `instances`, `responses`, `tags`, `alert_instances`, `alert_comments`, `alert_messages`, `suppressions`,
        `generated_time`. Answers show their question as it stood, so a consent has its text, version and time. Items
        and instances that were deleted have their `deleted_time`. Events repeat these and are left out. Only for
        callers that reach the whole organization. Needs `Responder.Read` and `Responder Value.Read` and
        `Questionnaire Instance.Read`.
        """
        return self._transport.request(
            "GET", f"/q/responder/{_segment(responder_id)}/subject", query={"format": format}
        ).read(dict[str, Any])

    def erase_responder(
        self, responder_id: str, body: models.ErasureRequest | None = None, *, idempotency_key: str | None = None
    ) -> models.Erasure:
        """Erase a person.

        What waits for the person is cancelled, then everything that is held is taken out, in the background. With
        `anonymize` scores stay in the counts, without person or text; with `erase` the responses go as well. With
        `suppress` a keyed hash of the addresses stays, so that the person is not asked again. While an erasure of the
        person runs, 409. Needs `Responder.Delete`.
        """
        return self._transport.request(
            "POST", f"/q/responder/{_segment(responder_id)}/erasure", body=body, idempotency_key=idempotency_key
        ).read(models.Erasure)

    def get_erasure(self, erasure_id: str) -> models.Erasure:
        """Get an erasure.

        It stays when the person is gone; nothing in it says who that was. Needs `Responder.Read`.
        """
        return self._transport.request("GET", f"/q/responder/erasure/{_segment(erasure_id)}").read(models.Erasure)


class Coupons(Family):
    """Coupons."""

    def list_pools(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.CouponPool]:
        """Get all coupon pools.

        Needs `Coupon Pool.Read`.
        """
        return self._transport.pages(
            "/coupon/pool", models.CouponPool, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_pool(self, body: models.CouponPoolRequest, *, idempotency_key: str | None = None) -> models.CouponPool:
        """Create a coupon pool.

        Needs `Coupon Pool.Create`.
        """
        return self._transport.request("POST", "/coupon/pool", body=body, idempotency_key=idempotency_key).read(
            models.CouponPool
        )

    def get_pool(self, pool_id: str) -> models.CouponPool:
        """Get a coupon pool.

        Needs `Coupon Pool.Read`.
        """
        return self._transport.request("GET", f"/coupon/pool/{_segment(pool_id)}").read(models.CouponPool)

    def change_pool(
        self, pool_id: str, body: models.CouponPoolUpdate | None = None, *, if_match: str | None = None
    ) -> models.CouponPool:
        """Change a coupon pool.

        Needs `Coupon Pool.Update`.
        """
        return self._transport.request("PATCH", f"/coupon/pool/{_segment(pool_id)}", body=body, if_match=if_match).read(
            models.CouponPool
        )

    def delete_pool(self, pool_id: str, *, if_match: str | None = None) -> None:
        """Remove a coupon pool.

        With its free codes. Refused once a customer has a code of it; withdraw the free ones instead. Needs `Coupon
        Pool.Delete`.
        """
        self._transport.request("DELETE", f"/coupon/pool/{_segment(pool_id)}", if_match=if_match)

    def list_codes(
        self, pool_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.CouponCode]:
        """Get all codes of a coupon pool.

        Codes are worth money, and the list says who has which. Needs `Coupon Pool.Read` and `Responder.Read`.
        """
        return self._transport.pages(
            f"/coupon/pool/{_segment(pool_id)}/code",
            models.CouponCode,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def add_codes(
        self, pool_id: str, body: models.CouponCodes, *, idempotency_key: str | None = None
    ) -> models.AddedCodes:
        """Add codes to a pool.

        Needs `Coupon Pool.Update`.
        """
        return self._transport.request(
            "POST", f"/coupon/pool/{_segment(pool_id)}/code", body=body, idempotency_key=idempotency_key
        ).read(models.AddedCodes)

    def withdraw_codes(self, pool_id: str, *, if_match: str | None = None) -> None:
        """Withdraw the free codes of a coupon pool.

        Nobody gets them any more. Codes that customers have stay. Needs `Coupon Pool.Update`.
        """
        self._transport.request("DELETE", f"/coupon/pool/{_segment(pool_id)}/code", if_match=if_match)


class PublicLinks(Family):
    """Public links."""

    def list_questionnaire_links(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.PublicLink]:
        """Get all public links of a questionnaire.

        Needs `Public Link.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/link",
            models.PublicLink,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_link(
        self, questionnaire_id: str, body: models.PublicLinkRequest, *, idempotency_key: str | None = None
    ) -> models.PublicLink:
        """Create a public link.

        Anybody who has its `url` may answer the published version. `metadata` are stored with each response;
        `parameters` names what the address may give besides, of declared names alone. With `takes_reference` the key
        of an order can stand behind the address (`…/ref/1042`). Needs `Public Link.Create`.
        """
        return self._transport.request(
            "POST", f"/q/questionnaire/{_segment(questionnaire_id)}/link", body=body, idempotency_key=idempotency_key
        ).read(models.PublicLink)

    def list_links(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.PublicLink]:
        """Get all public links.

        Needs `Public Link.Read`.
        """
        return self._transport.pages(
            "/q/link", models.PublicLink, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def get_link(self, link_id: str) -> models.PublicLink:
        """Get a public link.

        Needs `Public Link.Read`.
        """
        return self._transport.request("GET", f"/q/link/{_segment(link_id)}").read(models.PublicLink)

    def change_link(
        self, link_id: str, body: models.PublicLinkUpdate | None = None, *, if_match: str | None = None
    ) -> models.PublicLink:
        """Change a public link.

        `active` false closes it at once. `metadata` and `parameters` are replaced as a whole. Needs `Public
        Link.Update`.
        """
        return self._transport.request("PATCH", f"/q/link/{_segment(link_id)}", body=body, if_match=if_match).read(
            models.PublicLink
        )

    def delete_link(self, link_id: str, *, if_match: str | None = None) -> None:
        """Remove a public link.

        Refused once a response came by it; switch it off instead. Needs `Public Link.Delete`.
        """
        self._transport.request("DELETE", f"/q/link/{_segment(link_id)}", if_match=if_match)

    def get_link_qr(
        self, link_id: str, *, format: Literal["png", "svg"] | None = None, pixels: int | None = None
    ) -> Iterator[bytes]:
        """Get the QR code of a public link.

        Its address as a picture, with the light around it that readers need. Needs `Public Link.Read`.
        """
        return self._transport.stream(f"/q/link/{_segment(link_id)}/qr", query={"format": format, "pixels": pixels})


class Responses(Family):
    """Responses."""

    def list_responses(
        self,
        *,
        questionnaire_id: str | None = None,
        application_id: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        only: Literal["comment", "unhappy"] | None = None,
        band: Literal["detractor", "passive", "promoter"] | None = None,
        score_kind: Literal["ces", "csat", "nps", "rating", "smileys"] | None = None,
        tag: str | None = None,
        channel_id: int | None = None,
        link_id: str | None = None,
        imported: bool | None = None,
        response_import_id: str | None = None,
        search: str | None = None,
        word: str | None = None,
        test: bool | None = None,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Response]:
        """Get all responses.

        Those of all questionnaires, the newest first. The case is the open one. Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            "/q/response",
            models.Response,
            limit=limit,
            query={
                "questionnaire_id": questionnaire_id,
                "application_id": application_id,
                "from_time": from_time,
                "to_time": to_time,
                "only": only,
                "band": band,
                "score_kind": score_kind,
                "tag": tag,
                "channel_id": channel_id,
                "link_id": link_id,
                "imported": imported,
                "response_import_id": response_import_id,
                "search": search,
                "word": word,
                "test": test,
                "filter_by": filter_by,
                "order_by": order_by,
            },
        )

    def count_responses(
        self,
        *,
        questionnaire_id: str | None = None,
        application_id: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        only: Literal["comment", "unhappy"] | None = None,
        band: Literal["detractor", "passive", "promoter"] | None = None,
        score_kind: Literal["ces", "csat", "nps", "rating", "smileys"] | None = None,
        tag: str | None = None,
        channel_id: int | None = None,
        link_id: str | None = None,
        imported: bool | None = None,
        response_import_id: str | None = None,
        search: str | None = None,
        word: str | None = None,
        test: bool | None = None,
    ) -> models.ResponseCounts:
        """Count responses.

        Counts by facet of the same filter, of the newest ten thousand responses. Needs `Questionnaire Instance.Read`.
        """
        return self._transport.request(
            "GET",
            "/q/response/count",
            query={
                "questionnaire_id": questionnaire_id,
                "application_id": application_id,
                "from_time": from_time,
                "to_time": to_time,
                "only": only,
                "band": band,
                "score_kind": score_kind,
                "tag": tag,
                "channel_id": channel_id,
                "link_id": link_id,
                "imported": imported,
                "response_import_id": response_import_id,
                "search": search,
                "word": word,
                "test": test,
            },
        ).read(models.ResponseCounts)

    def search_responses(
        self, body: models.ResponseSearch | None = None, *, idempotency_key: str | None = None
    ) -> models.FoundResponses:
        """Search responses.

        The filter of the list, and a condition. A page evaluates it for 1,000 responses at most. Needs `Questionnaire
        Instance.Read`.
        """
        return self._transport.request("POST", "/q/response/search", body=body, idempotency_key=idempotency_key).read(
            models.FoundResponses
        )

    def list_doubtful_responses(
        self,
        *,
        state: Literal["accepted", "held", "marked", "rejected"] | None = None,
        flag: Literal[
            "automated",
            "burst",
            "hidden_field",
            "many_links",
            "one_network",
            "provisional",
            "speeding",
            "straight_lining",
            "too_fast",
        ]
        | None = None,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.DoubtfulResponse]:
        """Get all doubtful responses.

        `held` and `rejected` ones count nowhere, `accepted` and `marked` ones do. Needs `Questionnaire
        Instance.Read`.
        """
        return self._transport.pages(
            "/q/response/doubtful",
            models.DoubtfulResponse,
            limit=limit,
            query={"state": state, "flag": flag, "filter_by": filter_by, "order_by": order_by},
        )

    def judge_responses(
        self, body: models.JudgementRequest, *, idempotency_key: str | None = None
    ) -> models.JudgementResult:
        """Accept or reject responses that were held back.

        Accepted ones count from now on, with their own times, and get the events of a response. Responses that were
        never held back stay as they are. Needs `Questionnaire Instance.Update`.
        """
        return self._transport.request(
            "POST", "/q/response/doubtful/judgement", body=body, idempotency_key=idempotency_key
        ).read(models.JudgementResult)

    def list_comment_themes(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ResponseTheme]:
        """Get all comment themes.

        Needs `Report.Read`.
        """
        return self._transport.pages(
            "/q/response/theme", models.ResponseTheme, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_comment_theme(
        self, body: models.ResponseThemeRequest, *, idempotency_key: str | None = None
    ) -> models.ResponseTheme:
        """Create new comment theme.

        Needs `Report.Create`.
        """
        return self._transport.request("POST", "/q/response/theme", body=body, idempotency_key=idempotency_key).read(
            models.ResponseTheme
        )

    def get_comment_theme(self, theme_id: str) -> models.ResponseTheme:
        """Get Comment Theme.

        Needs `Report.Read`.
        """
        return self._transport.request("GET", f"/q/response/theme/{_segment(theme_id)}").read(models.ResponseTheme)

    def update_comment_theme(
        self, theme_id: str, body: models.ResponseThemeUpdate | None = None, *, if_match: str | None = None
    ) -> models.ResponseTheme:
        """Update Comment Theme.

        Needs `Report.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/response/theme/{_segment(theme_id)}", body=body, if_match=if_match
        ).read(models.ResponseTheme)

    def delete_comment_theme(self, theme_id: str, *, if_match: str | None = None) -> None:
        """Delete Comment Theme.

        Needs `Report.Delete`.
        """
        self._transport.request("DELETE", f"/q/response/theme/{_segment(theme_id)}", if_match=if_match)

    def count_words(
        self,
        *,
        questionnaire_id: str | None = None,
        application_id: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        only: Literal["comment", "unhappy"] | None = None,
        band: Literal["detractor", "passive", "promoter"] | None = None,
        score_kind: Literal["ces", "csat", "nps", "rating", "smileys"] | None = None,
        tag: str | None = None,
        channel_id: int | None = None,
        link_id: str | None = None,
        imported: bool | None = None,
        response_import_id: str | None = None,
        search: str | None = None,
        word: str | None = None,
        test: bool | None = None,
        group_by: str | None = None,
    ) -> models.CommentWords:
        """Count words of comments.

        Of the newest 2,000 comments with the filter. Words that say little, such as “the”, are left out. Needs
        `Questionnaire Instance.Read`.
        """
        return self._transport.request(
            "GET",
            "/q/response/word",
            query={
                "questionnaire_id": questionnaire_id,
                "application_id": application_id,
                "from_time": from_time,
                "to_time": to_time,
                "only": only,
                "band": band,
                "score_kind": score_kind,
                "tag": tag,
                "channel_id": channel_id,
                "link_id": link_id,
                "imported": imported,
                "response_import_id": response_import_id,
                "search": search,
                "word": word,
                "test": test,
                "group_by": group_by,
            },
        ).read(models.CommentWords)

    def list_organization_tags(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.CountedTag]:
        """Get the tags of the organization.

        Needs `Tag.Read`.
        """
        return self._transport.pages(
            "/tag", models.CountedTag, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def rename_tag(
        self, tag: str, body: models.TagUpdate | None = None, *, if_match: str | None = None
    ) -> models.CountedTag:
        """Rename a tag.

        On all responses, of which at most ten thousand have it. 409 where there is a tag of the new name. Needs
        `Tag.Update`.
        """
        return self._transport.request("PATCH", f"/tag/{_segment(tag)}", body=body, if_match=if_match).read(
            models.CountedTag
        )

    def delete_tag(self, tag: str, *, if_match: str | None = None) -> None:
        """Remove a tag from all responses.

        At most ten thousand. Workers go on with what the request left. Needs `Tag.Delete`.
        """
        self._transport.request("DELETE", f"/tag/{_segment(tag)}", if_match=if_match)

    def tag_responses(self, body: models.TaggingRequest, *, idempotency_key: str | None = None) -> models.Tagging:
        """Tag responses.

        At most ten thousand, and no response gets more than fifty tags. Needs `Tag.Create`.
        """
        return self._transport.request("POST", "/q/response/tag", body=body, idempotency_key=idempotency_key).read(
            models.Tagging
        )

    def get_tagging(self, tagging_id: str) -> models.Tagging:
        """Get the progress of tagging.

        Needs `Tag.Read`.
        """
        return self._transport.request("GET", f"/q/response/tag/{_segment(tagging_id)}").read(models.Tagging)

    def undo_tagging(self, tagging_id: str, *, if_match: str | None = None) -> None:
        """Undo tagging.

        Changes back what it changed, within thirty days; GET tells how far that has come. Needs `Tag.Create`.
        """
        self._transport.request("DELETE", f"/q/response/tag/{_segment(tagging_id)}", if_match=if_match)

    def list_views(self, *, limit: int = 100) -> Iterator[models.ResponseView]:
        """Get all saved views of responses.

        The user's own, at most fifty, and those that others share. Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages("/q/response/view", models.ResponseView, limit=limit)

    def save_view(self, body: models.ResponseViewRequest, *, idempotency_key: str | None = None) -> models.ResponseView:
        """Save a view of responses.

        For users alone: a token of the organization has no views. Needs `Questionnaire Instance.Read`.
        """
        return self._transport.request("POST", "/q/response/view", body=body, idempotency_key=idempotency_key).read(
            models.ResponseView
        )

    def remove_view(self, view_id: str, *, if_match: str | None = None) -> None:
        """Remove a saved view.

        Needs `Questionnaire Instance.Read`.
        """
        self._transport.request("DELETE", f"/q/response/view/{_segment(view_id)}", if_match=if_match)

    def list_response_imports(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ResponseImport]:
        """Get imports of responses.

        One whose responses were removed is kept for thirty days. Needs `Questionnaire Instance.Read`.
        """
        return self._transport.pages(
            "/q/response/import",
            models.ResponseImport,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def open_response_import(
        self, body: models.ResponseImportRequest, *, idempotency_key: str | None = None
    ) -> models.ResponseImport:
        """Open an import of responses.

        Needs `Questionnaire Instance.Create`.
        """
        return self._transport.request("POST", "/q/response/import", body=body, idempotency_key=idempotency_key).read(
            models.ResponseImport
        )

    def get_response_import(self, response_import_id: str) -> models.ResponseImport:
        """Get an import of responses.

        Needs `Questionnaire Instance.Read`.
        """
        return self._transport.request("GET", f"/q/response/import/{_segment(response_import_id)}").read(
            models.ResponseImport
        )

    def finish_response_import(
        self, response_import_id: str, body: models.ResponseImportUpdate | None = None, *, if_match: str | None = None
    ) -> models.ResponseImport:
        """Rename or finish an import of responses.

        Needs `Questionnaire Instance.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/response/import/{_segment(response_import_id)}", body=body, if_match=if_match
        ).read(models.ResponseImport)

    def remove_response_import(self, response_import_id: str, *, if_match: str | None = None) -> None:
        """Remove all responses of an import.

        Workers remove them; GET tells how far that has come. People stay. Needs `Questionnaire Instance.Delete`.
        """
        self._transport.request("DELETE", f"/q/response/import/{_segment(response_import_id)}", if_match=if_match)

    def import_responses(
        self,
        questionnaire_id: str,
        body: Sequence[models.PastResponse],
        *,
        response_import_id: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.PastResponsesResult:
        """Import responses.

        A JSON array or lines of JSON, of responses that were given elsewhere; each row is checked alone. The same row
        again changes nothing; another one with its `external_id` is refused. No message, alert, webhook, sequence or
        credit follows from them. Needs `Questionnaire Instance.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/response",
            query={"response_import_id": response_import_id, "dry_run": dry_run},
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.PastResponsesResult)


class Queue(Family):
    """Queue."""

    def list_items(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.QueueItem]:
        """Queue Item List.

        Needs `Queue.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item",
            models.QueueItem,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def schedule_item(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: models.QueueItemRequest,
        *,
        idempotency_key: str | None = None,
    ) -> models.QueueItem:
        """Create new queue item.

        Without `send_time`: the pipeline's delay from now, or from the date of its `delay_from`. A time in the past
        means due at once. A caller with a limit gives one of its values of questionnaire metadata. Needs
        `Queue.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.QueueItem)

    def get_item(self, questionnaire_id: str, pipeline_id: str, item_id: str) -> models.QueueItem:
        """Get Queue Item.

        Needs `Queue.Read`.
        """
        return self._transport.request(
            "GET",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item/{_segment(item_id)}",
        ).read(models.QueueItem)

    def change_item(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        item_id: str,
        body: models.QueueItemUpdate | None = None,
        *,
        if_match: str | None = None,
    ) -> models.QueueItem:
        """Update Queue Item.

        Only what the body names, while the item is Pending; a value equal to the stored one is no change. `status_id`
        5 cancels, then nothing else of the body acts. Needs `Queue.Update`.
        """
        return self._transport.request(
            "PATCH",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item/{_segment(item_id)}",
            body=body,
            if_match=if_match,
        ).read(models.QueueItem)

    def delete_item(
        self, questionnaire_id: str, pipeline_id: str, item_id: str, *, if_match: str | None = None
    ) -> None:
        """Delete Queue Item.

        Cancels the item where that is needed and possible. Needs `Queue.Delete`.
        """
        self._transport.request(
            "DELETE",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item/{_segment(item_id)}",
            if_match=if_match,
        )

    def schedule_batch(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: Sequence[models.QueueItemRequest],
        *,
        on_conflict: Literal["error", "skip", "update"] | None = None,
        atomic: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.BatchResult:
        """Create queue items.

        A JSON array or lines of JSON; each row is checked alone, and a bad one spoils no other. A row whose
        `external_reference` a live item has is refused, or with `on_conflict` changes that item (which also needs
        `Queue.Update`) or is skipped. `atomic=1`: any refusal creates nothing. Needs `Queue.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item/batch",
            query={"on_conflict": on_conflict, "atomic": atomic},
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.BatchResult)

    def list_imports(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Import]:
        """Get all imports of a pipeline.

        Needs `Queue.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/import",
            models.Import,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_import(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: bytes,
        *,
        dry_run: bool | None = None,
        separator: Literal["\t", ",", ";", "|"] | None = None,
        date_order: Literal["day", "month"] | None = None,
        on_conflict: Literal["error", "skip", "update"] | None = None,
        encoding: Literal[
            "utf-16",
            "utf-8",
            "windows-1250",
            "windows-1251",
            "windows-1252",
            "windows-1253",
            "windows-1254",
            "windows-1255",
            "windows-1256",
        ]
        | None = None,
        filter: str | None = None,
        map: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.Import:
        """Import queue items from a file.

        A CSV file with a header, in UTF-8 unless `encoding` says otherwise, at most 200,000 rows of at most 65,536
        bytes; or a form with the file in it. Columns: `responder_channel_identifier`, `locale`, `send_time`,
        `external_reference`, `test`, `metadata.questionnaire.NAME`, `metadata.responder.NAME`;
        `map[E-mail]=responder_channel_identifier` takes a file with other names, `map[Notes]=` leaves a column out,
        and `map[*]=` all that have no meaning. Times to send may be written as people and spreadsheets write them.
        Each row is checked alone, as in a batch. `dry_run` checks all of them, asks the rules about each, and writes
        no item. A row whose reference a live item has is refused, or with `on_conflict` changes that item (which also
        needs `Queue.Update`) or is skipped. Needs `Queue.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/import",
            query={
                "dry_run": dry_run,
                "separator": separator,
                "date_order": date_order,
                "on_conflict": on_conflict,
                "encoding": encoding,
                "filter": filter,
                "map": map,
            },
            file=body,
            media_type="text/csv",
            idempotency_key=idempotency_key,
        ).read(models.Import)

    def get_import(self, import_id: str) -> models.Import:
        """Get Import.

        Needs `Queue.Read`.
        """
        return self._transport.request("GET", f"/q/import/{_segment(import_id)}").read(models.Import)

    def cancel_import(self, import_id: str, *, if_match: str | None = None) -> None:
        """Cancel Import.

        What is settled stays, no further row is read. One that has ended is forgotten, not its items. Needs
        `Queue.Delete`.
        """
        self._transport.request("DELETE", f"/q/import/{_segment(import_id)}", if_match=if_match)

    def resume_import(self, import_id: str, *, idempotency_key: str | None = None) -> models.Import:
        """Resume Import.

        A failed import goes on where it stopped, while the rest of its file is kept. Needs `Queue.Create`.
        """
        return self._transport.request(
            "POST", f"/q/import/{_segment(import_id)}/resumption", idempotency_key=idempotency_key
        ).read(models.Import)

    def list_import_rows(
        self, import_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ImportRow]:
        """Get all rows of an import.

        Those that are settled, from the first; `filter_by[EQUAL][State]=failed` shows what went wrong. Needs
        `Queue.Read`.
        """
        return self._transport.pages(
            f"/q/import/{_segment(import_id)}/row",
            models.ImportRow,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def simulate_batch(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: Sequence[models.QueueItemRequest],
        *,
        on_conflict: Literal["error", "skip", "update"] | None = None,
        idempotency_key: str | None = None,
    ) -> models.Simulation:
        """Say what would become of queue items.

        The body of a batch; nothing is written. Each row is decided about as it would be when it is due, with every
        rule and the filled texts; links in them are samples. Earlier rows of an address count for later ones, and so
        do up to 20,000 items that wait for the same addresses in open lanes. What is known of a responder already
        fills the texts for those with `Responder Value.Read`. Needs `Queue.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/item/simulate",
            query={"on_conflict": on_conflict},
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.Simulation)

    def get_item_by_reference(
        self, questionnaire_id: str, pipeline_id: str, external_reference: str
    ) -> models.QueueItem:
        """Get the queue item with a reference.

        Needs `Queue.Read`.
        """
        return self._transport.request(
            "GET",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/reference/{_segment(external_reference)}",
        ).read(models.QueueItem)

    def put_item_by_reference(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        external_reference: str,
        body: models.QueueItemRequest,
        *,
        if_match: str | None = None,
    ) -> models.QueueItem:
        """Create or change the queue item with a reference.

        201 when no live item of the pipeline has the reference, else 200 and the item is as the body says, while it
        is Pending; without `send_time` an item keeps the one it has. An `external_reference` in the body is ignored.
        Needs `Queue.Update` and `Queue.Create`.
        """
        return self._transport.request(
            "PUT",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/reference/{_segment(external_reference)}",
            body=body,
            if_match=if_match,
        ).read(models.QueueItem)

    def cancel_item_by_reference(
        self, questionnaire_id: str, pipeline_id: str, external_reference: str, *, if_match: str | None = None
    ) -> None:
        """Cancel the queue item with a reference.

        As `status_id` 5: nothing will be sent, and the reference is free again. Needs `Queue.Delete`.
        """
        self._transport.request(
            "DELETE",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/queue/reference/{_segment(external_reference)}",
            if_match=if_match,
        )

    def explain_item(self, item_id: str) -> models.Trace:
        """Say why an item goes, waits or went nowhere.

        Every rule in the order in which they decide: as it stands now, or as it was when the item ended. Needs
        `Queue.Read`.
        """
        return self._transport.request("GET", f"/q/queue/item/{_segment(item_id)}/trace").read(models.Trace)

    def list_attempts(
        self, item_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Attempt]:
        """Get the attempts to send an item.

        Needs `Queue.Read`.
        """
        return self._transport.pages(
            f"/q/queue/item/{_segment(item_id)}/attempt",
            models.Attempt,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def repeat_item(self, item_id: str, *, idempotency_key: str | None = None) -> models.QueueItem:
        """Send a Failed or Ignored item again.

        Makes a new item, due now, whose `previous_item_id` is this one; this one stays as it is. Needs
        `Queue.Create`.
        """
        return self._transport.request(
            "POST", f"/q/queue/item/{_segment(item_id)}/repetition", idempotency_key=idempotency_key
        ).read(models.QueueItem)

    def list_all_items(
        self,
        *,
        reason: str | None = None,
        pipeline_id: str | None = None,
        questionnaire_id: str | None = None,
        application_id: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        status_id: Sequence[Literal[1, 2, 3, 4, 5, 6]] | None = None,
        external_reference: str | None = None,
        responder_channel_identifier: str | None = None,
        oldest_first: bool | None = None,
        limit: int = 100,
    ) -> Iterator[models.QueueItem]:
        """Get the queue items of all pipelines.

        The latest `send_time` first, or the earliest. Read on with `after`. A page filtered by pipeline,
        questionnaire or application, or of a caller with a limit, may have fewer items than `limit`, or none, and a
        `next_cursor`. Needs `Queue.Read`.
        """
        return self._transport.pages(
            "/q/queue/item",
            models.QueueItem,
            limit=limit,
            query={
                "reason": reason,
                "pipeline_id": pipeline_id,
                "questionnaire_id": questionnaire_id,
                "application_id": application_id,
                "from_time": from_time,
                "to_time": to_time,
                "status_id": status_id,
                "external_reference": external_reference,
                "responder_channel_identifier": responder_channel_identifier,
                "oldest_first": oldest_first,
            },
        )

    def count_all_items(
        self,
        *,
        reason: str | None = None,
        pipeline_id: str | None = None,
        questionnaire_id: str | None = None,
        application_id: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        status_id: Sequence[Literal[1, 2, 3, 4, 5, 6]] | None = None,
        limit: int = 100,
    ) -> Iterator[models.QueueCount]:
        """Count the queue items of all pipelines by status and reason.

        Needs `Queue.Read`.
        """
        return self._transport.pages(
            "/q/queue/count",
            models.QueueCount,
            limit=limit,
            query={
                "reason": reason,
                "pipeline_id": pipeline_id,
                "questionnaire_id": questionnaire_id,
                "application_id": application_id,
                "from_time": from_time,
                "to_time": to_time,
                "status_id": status_id,
            },
        )

    def list_overlaps_of_pipeline(self, *, pipeline_id: str, limit: int = 100) -> Iterator[models.QueueOverlap]:
        """Get the pipelines that write to the same people.

        Of the people of the newest 500 items of 30 days. At most 5 pipelines, those that wrote to most of them first.
        Needs `Queue.Read`.
        """
        return self._transport.pages(
            "/q/queue/overlap", models.QueueOverlap, limit=limit, query={"pipeline_id": pipeline_id}
        )

    def count_hours_of_items(
        self,
        *,
        pipeline_id: str | None = None,
        questionnaire_id: str | None = None,
        application_id: str | None = None,
        limit: int = 100,
    ) -> Iterator[models.QueueHour]:
        """Count the waiting queue items of the next seven days by hour.

        By the hour in which they become due; the rules then decide about each. Empty hours are absent. Needs
        `Queue.Read`.
        """
        return self._transport.pages(
            "/q/queue/hour",
            models.QueueHour,
            limit=limit,
            query={"pipeline_id": pipeline_id, "questionnaire_id": questionnaire_id, "application_id": application_id},
        )

    def list_batches(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.QueueBatch]:
        """Get all acts on many items.

        Needs `Queue.Read`.
        """
        return self._transport.pages(
            "/q/queue/batch", models.QueueBatch, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_batch(self, body: models.QueueBatchRequest, *, idempotency_key: str | None = None) -> models.QueueBatch:
        """Act on many items.

        Cancels the Pending items of the filter, moves them to `send_time`, or to now; their rules still decide.
        `repeat` makes a new item, due now, for each Failed one that was not sent again yet, and needs `Queue.Create`
        too; those whose outcome is unknown are left out unless `reason` names `outcome_unknown`. A worker does it in
        steps. `dry_run` counts what would become of them and changes none: `items_changed` would be sent then,
        `items_held` wait, `items_skipped` not be asked. `items_refused` were being sent, or cannot be sent again.
        With `import_id` the act means the items alone that this import made; nothing else can be in the filter. Needs
        `Queue.Update`.
        """
        return self._transport.request("POST", "/q/queue/batch", body=body, idempotency_key=idempotency_key).read(
            models.QueueBatch
        )

    def get_batch(self, batch_id: str) -> models.QueueBatch:
        """Get an act on many items.

        Needs `Queue.Read`.
        """
        return self._transport.request("GET", f"/q/queue/batch/{_segment(batch_id)}").read(models.QueueBatch)

    def stop_batch(self, batch_id: str, *, if_match: str | None = None) -> None:
        """Stop an act on many items.

        What is done stays, and it can go on later. One that has ended is forgotten, not its effect. Needs
        `Queue.Delete`.
        """
        self._transport.request("DELETE", f"/q/queue/batch/{_segment(batch_id)}", if_match=if_match)

    def resume_batch(self, batch_id: str, *, idempotency_key: str | None = None) -> models.QueueBatch:
        """Let an act on many items go on.

        One that was stopped or failed goes on behind its last step. Needs `Queue.Update`.
        """
        return self._transport.request(
            "POST", f"/q/queue/batch/{_segment(batch_id)}/resumption", idempotency_key=idempotency_key
        ).read(models.QueueBatch)

    def list_messages(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.OutboxMessage]:
        """Get the messages in the outbox.

        Messages of test items, and all where the installation has no mail server. Those of the last 30 days. Needs
        `Queue.Read`.
        """
        return self._transport.pages(
            "/q/outbox", models.OutboxMessage, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def get_message(self, message_id: str) -> models.OutboxContent:
        """Get a message in the outbox.

        With its texts and the address at which its recipient would answer. Needs `Queue.Read` and `Questionnaire
        Value.Read` and `Responder Value.Read`.
        """
        return self._transport.request("GET", f"/q/outbox/{_segment(message_id)}").read(models.OutboxContent)

    def get_clock(self) -> models.TestClock:
        """Get the clock of test items.

        Needs `Queue.Read`.
        """
        return self._transport.request("GET", "/q/queue/clock").read(models.TestClock)

    def move_clock(self, body: models.TestClockRequest, *, idempotency_key: str | None = None) -> models.TestClock:
        """Move the clock of test items forward.

        Reminders, windows, caps and expiry of test items come that much earlier. Real items do not see it. Needs
        `Queue.Update`.
        """
        return self._transport.request("POST", "/q/queue/clock", body=body, idempotency_key=idempotency_key).read(
            models.TestClock
        )

    def reset_clock(self, *, if_match: str | None = None) -> None:
        """Set the clock of test items back.

        To the real time. What waits keeps its time of the clock; what was sent stays as old as it became. Needs
        `Queue.Update`.
        """
        self._transport.request("DELETE", "/q/queue/clock", if_match=if_match)


class QueueSimplified(Family):
    """Queue - Simplified."""

    def get_simplified_item(self, item_id: str) -> models.QueueItem:
        """Get Queue Item.

        Needs `Queue.Read`.
        """
        return self._transport.request("GET", f"/q/queue/item/{_segment(item_id)}").read(models.QueueItem)

    def change_simplified_item(
        self, item_id: str, body: models.QueueItemUpdate | None = None, *, if_match: str | None = None
    ) -> models.QueueItem:
        """Update Queue Item.

        Only what the body names, while the item is Pending; a value equal to the stored one is no change. `status_id`
        5 cancels, then nothing else of the body acts. Needs `Queue.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/queue/item/{_segment(item_id)}", body=body, if_match=if_match
        ).read(models.QueueItem)

    def delete_simplified_item(self, item_id: str, *, if_match: str | None = None) -> None:
        """Delete Queue Item.

        Cancels the item where that is needed and possible. Needs `Queue.Delete`.
        """
        self._transport.request("DELETE", f"/q/queue/item/{_segment(item_id)}", if_match=if_match)


class Sequences(Family):
    """Sequences."""

    def list_sequences(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Sequence]:
        """Get all sequences.

        Needs `Sequence.Read`.
        """
        return self._transport.pages(
            "/q/sequence", models.Sequence, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_sequence(self, body: models.SequenceRequest, *, idempotency_key: str | None = None) -> models.Sequence:
        """Create Sequence.

        The conditions are checked against the published questions of `from_questionnaire_id`, the declared metadata
        and tags. An item is made once for a response, for the address that its responder has on the pipeline's
        channel. Needs `Sequence.Create`.
        """
        return self._transport.request("POST", "/q/sequence", body=body, idempotency_key=idempotency_key).read(
            models.Sequence
        )

    def get_sequence(self, sequence_id: str) -> models.Sequence:
        """Get Sequence.

        Needs `Sequence.Read`.
        """
        return self._transport.request("GET", f"/q/sequence/{_segment(sequence_id)}").read(models.Sequence)

    def update_sequence(
        self, sequence_id: str, body: models.SequenceUpdate | None = None, *, if_match: str | None = None
    ) -> models.Sequence:
        """Update Sequence.

        The conditions are checked against the published questions of `from_questionnaire_id`, the declared metadata
        and tags. An item is made once for a response, for the address that its responder has on the pipeline's
        channel. Needs `Sequence.Update`.
        """
        return self._transport.request(
            "PATCH", f"/q/sequence/{_segment(sequence_id)}", body=body, if_match=if_match
        ).read(models.Sequence)

    def delete_sequence(self, sequence_id: str, *, if_match: str | None = None) -> None:
        """Delete Sequence.

        It makes no more items; those that it made stay. Needs `Sequence.Delete`.
        """
        self._transport.request("DELETE", f"/q/sequence/{_segment(sequence_id)}", if_match=if_match)


class AlertInstance(Family):
    """Alert Instance."""

    def foresee_recovery(self, alert_instance_id: str) -> models.AlertRecovery:
        """Say when the customer can be asked again.

        Nothing is sent. The rules of the pipeline, the contact policy and suppressions decide as if it were. Needs
        `Alert Instance.Read`.
        """
        return self._transport.request("GET", f"/alert/instance/{_segment(alert_instance_id)}/recovery").read(
            models.AlertRecovery
        )

    def ask_again(self, alert_instance_id: str, *, idempotency_key: str | None = None) -> models.AlertRecovery:
        """Ask the customer again.

        A queue item for the recovery questionnaire, by default the one of the case. Its answer is compared with the
        first: `recovered` of the case says whether the customer is won back. Needs `Alert Instance.Update`.
        """
        return self._transport.request(
            "POST", f"/alert/instance/{_segment(alert_instance_id)}/recovery", idempotency_key=idempotency_key
        ).read(models.AlertRecovery)

    def get_case_figures(
        self,
        *,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        group_by: Literal["alert", "cause", "day", "month", "owner", "quarter", "remedy", "severity", "status", "week"]
        | None = None,
    ) -> models.CaseFigures:
        """Get the figures of the work on cases.

        Times to close are business hours, without those in which the customer was waited for. `won_back`: customers
        whose answer to the recovery questionnaire is better by the rule, of those who could be compared. Needs `Alert
        Instance.Read`.
        """
        return self._transport.request(
            "GET", "/alert/figures", query={"from_time": from_time, "to_time": to_time, "group_by": group_by}
        ).read(models.CaseFigures)

    def list_alert_instances(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.AlertInstance]:
        """Get all alert instances.

        Needs `Alert Instance.Read`.
        """
        return self._transport.pages(
            "/alert/instance", models.AlertInstance, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def list_instances_of_alert(
        self, alert_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.AlertInstance]:
        """Get Alert Instance List by alert id.

        Needs `Alert Instance.Read`.
        """
        return self._transport.pages(
            f"/alert/{_segment(alert_id)}/instance",
            models.AlertInstance,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_alert_instance(self, alert_instance_id: str) -> models.AlertInstance:
        """Get Alert Instance.

        Needs `Alert Instance.Read`.
        """
        return self._transport.request("GET", f"/alert/instance/{_segment(alert_instance_id)}").read(
            models.AlertInstance
        )

    def update_alert_instance(
        self, alert_instance_id: str, body: models.AlertInstanceUpdate | None = None, *, if_match: str | None = None
    ) -> models.AlertInstance:
        """Update Alert Instance.

        A closing status sets `resolved_time` and `resolved_by`; any other opens the case again. With `waiting` the
        clock stands still: `due_time` is null and `due_left_seconds` of business hours are left until it goes on.
        Needs `Alert Instance.Update`.
        """
        return self._transport.request(
            "PATCH", f"/alert/instance/{_segment(alert_instance_id)}", body=body, if_match=if_match
        ).read(models.AlertInstance)

    def list_alert_history(
        self,
        alert_instance_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.AlertHistoryEntry]:
        """Get the history of an alert instance.

        Its opening, every change and every comment, in the order of time. Needs `Alert Instance.Read`.
        """
        return self._transport.pages(
            f"/alert/instance/{_segment(alert_instance_id)}/history",
            models.AlertHistoryEntry,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def send_alert_message(
        self, alert_instance_id: str, body: models.AlertMessageRequest, *, idempotency_key: str | None = None
    ) -> models.AlertMessage:
        """Reply to the customer.

        The mail leaves by the account and sender address of the pipeline that asked the customer; its state stands in
        the history. An answer is added to the case, ends its waiting and opens it again. Needs `Alert
        Instance.Update`.
        """
        return self._transport.request(
            "POST", f"/alert/instance/{_segment(alert_instance_id)}/message", body=body, idempotency_key=idempotency_key
        ).read(models.AlertMessage)

    def list_alert_comments(
        self,
        alert_instance_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.AlertComment]:
        """Get all comments of an alert instance.

        Needs `Alert Instance.Read`.
        """
        return self._transport.pages(
            f"/alert/instance/{_segment(alert_instance_id)}/comment",
            models.AlertComment,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_alert_comment(
        self, alert_instance_id: str, body: models.AlertCommentRequest, *, idempotency_key: str | None = None
    ) -> models.AlertComment:
        """Create new comment.

        Needs `Alert Instance.Update`.
        """
        return self._transport.request(
            "POST", f"/alert/instance/{_segment(alert_instance_id)}/comment", body=body, idempotency_key=idempotency_key
        ).read(models.AlertComment)

    def update_alert_comment(
        self,
        alert_instance_id: str,
        comment_id: str,
        body: models.AlertCommentUpdate | None = None,
        *,
        if_match: str | None = None,
    ) -> models.AlertComment:
        """Update comment.

        Only its author may. Needs `Alert Instance.Update`.
        """
        return self._transport.request(
            "PATCH",
            f"/alert/instance/{_segment(alert_instance_id)}/comment/{_segment(comment_id)}",
            body=body,
            if_match=if_match,
        ).read(models.AlertComment)

    def delete_alert_comment(self, alert_instance_id: str, comment_id: str, *, if_match: str | None = None) -> None:
        """Delete comment.

        Only its author may. Needs `Alert Instance.Update`.
        """
        self._transport.request(
            "DELETE", f"/alert/instance/{_segment(alert_instance_id)}/comment/{_segment(comment_id)}", if_match=if_match
        )


class Sources(Family):
    """Sources."""

    def list_sources(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Source]:
        """Get all sources.

        Needs `Source.Read`.
        """
        return self._transport.pages(
            "/source", models.Source, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_source(self, body: models.SourceRequest, *, idempotency_key: str | None = None) -> models.Source:
        """Create new source.

        Needs `Source.Create`.
        """
        return self._transport.request("POST", "/source", body=body, idempotency_key=idempotency_key).read(
            models.Source
        )

    def get_source(self, source_id: str) -> models.Source:
        """Get Source.

        Needs `Source.Read`.
        """
        return self._transport.request("GET", f"/source/{_segment(source_id)}").read(models.Source)

    def update_source(
        self, source_id: str, body: models.SourceUpdate | None = None, *, if_match: str | None = None
    ) -> models.Source:
        """Update Source.

        Needs `Source.Update`.
        """
        return self._transport.request("PATCH", f"/source/{_segment(source_id)}", body=body, if_match=if_match).read(
            models.Source
        )

    def delete_source(self, source_id: str, *, if_match: str | None = None) -> None:
        """Delete Source.

        Its rules go with it, and its address finds nothing from then on. Items that were made stay. Needs
        `Source.Delete`.
        """
        self._transport.request("DELETE", f"/source/{_segment(source_id)}", if_match=if_match)

    def list_rules_of_source(
        self, source_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.SourceRule]:
        """Get all rules of a source.

        Needs `Source.Read`.
        """
        return self._transport.pages(
            f"/source/{_segment(source_id)}/rule",
            models.SourceRule,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_source_rule(
        self, source_id: str, body: models.SourceRuleRequest, *, idempotency_key: str | None = None
    ) -> models.SourceRule:
        """Create new rule of a source.

        `conditions` speak of values of the event, as `questionnaire_metadata:NAME`. The item gets values whose names
        are declared as its metadata, the subject as its reference, and the language of the event. Needs
        `Source.Create`.
        """
        return self._transport.request(
            "POST", f"/source/{_segment(source_id)}/rule", body=body, idempotency_key=idempotency_key
        ).read(models.SourceRule)

    def list_source_rules(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.SourceRule]:
        """Get all source rules.

        Needs `Source.Read`.
        """
        return self._transport.pages(
            "/source/rule", models.SourceRule, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def get_source_rule(self, source_rule_id: str) -> models.SourceRule:
        """Get Source Rule.

        Needs `Source.Read`.
        """
        return self._transport.request("GET", f"/source/rule/{_segment(source_rule_id)}").read(models.SourceRule)

    def update_source_rule(
        self, source_rule_id: str, body: models.SourceRuleUpdate | None = None, *, if_match: str | None = None
    ) -> models.SourceRule:
        """Update Source Rule.

        Needs `Source.Update`.
        """
        return self._transport.request(
            "PATCH", f"/source/rule/{_segment(source_rule_id)}", body=body, if_match=if_match
        ).read(models.SourceRule)

    def delete_source_rule(self, source_rule_id: str, *, if_match: str | None = None) -> None:
        """Delete Source Rule.

        Needs `Source.Delete`.
        """
        self._transport.request("DELETE", f"/source/rule/{_segment(source_rule_id)}", if_match=if_match)

    def list_source_events(
        self, source_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.SourceEvent]:
        """Get all events of a source.

        Kept 30 days. `decisions` say what each rule about such an event decided, with the item that it made. Needs
        `Source.Read`.
        """
        return self._transport.pages(
            f"/source/{_segment(source_id)}/event",
            models.SourceEvent,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_source_event(self, source_id: str, source_event_id: str) -> models.SourceEvent:
        """Get Source Event.

        Needs `Source.Read`.
        """
        return self._transport.request("GET", f"/source/{_segment(source_id)}/event/{_segment(source_event_id)}").read(
            models.SourceEvent
        )

    def simulate_source_rule(
        self, source_id: str, body: models.SourceRuleRequest, *, idempotency_key: str | None = None
    ) -> models.TriedRule:
        """Say what a rule would do about the last events.

        Of the last 100 events, those of the rule's sort, as if they came now. Nothing is written. Needs
        `Source.Create`.
        """
        return self._transport.request(
            "POST", f"/source/{_segment(source_id)}/rule/simulate", body=body, idempotency_key=idempotency_key
        ).read(models.TriedRule)


class Pipelines(Family):
    """Pipelines."""

    def try_pipeline(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: models.PipelineUpdate | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> models.PipelineTrial:
        """Try changes of a pipeline.

        The body of a change; nothing is written. The newest invitations of the last 30 days, at most 500 and without
        tests and reminders, are decided anew, each at its send time. A changed delay moves those whose send time the
        stored delay gave; `no_date`: one lacks the date to count from. Deliveries, responses and stops count from
        their own time on. A change that would be refused is refused here. Needs `Pipeline.Update` and `Queue.Read`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/trial",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.PipelineTrial)

    def list_pipelines(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Pipeline]:
        """Get all questionnaire pipelines.

        Needs `Pipeline.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline",
            models.Pipeline,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def add_pipeline(
        self, questionnaire_id: str, body: models.PipelineRequest, *, idempotency_key: str | None = None
    ) -> models.Pipeline:
        """Create a pipeline.

        E-mail needs `message_subject` and `message_body`, SMS a `message_body` of at most 1,600 characters, a webhook
        `target_url`. Texts may use only known variables; conditions may ask for metadata alone. What is left out is
        copied from `template_pipeline_id`, else has its default. Needs `Pipeline.Create`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.Pipeline)

    def list_all_pipelines(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Pipeline]:
        """Get all pipelines.

        Needs `Pipeline.Read`.
        """
        return self._transport.pages(
            "/q/pipeline", models.Pipeline, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def get_pipeline(self, questionnaire_id: str, pipeline_id: str) -> models.Pipeline:
        """Get Pipeline.

        Needs `Pipeline.Read`.
        """
        return self._transport.request(
            "GET", f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}"
        ).read(models.Pipeline)

    def change_pipeline(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: models.PipelineUpdate | None = None,
        *,
        if_match: str | None = None,
    ) -> models.Pipeline:
        """Change, pause or resume a pipeline.

        `paused` acts at once: what is being sent ends, nothing more begins. E-mail needs `message_subject` and
        `message_body`, SMS a `message_body` of at most 1,600 characters, a webhook `target_url`. Texts may use only
        known variables; conditions may ask for metadata alone. Needs `Pipeline.Update`.
        """
        return self._transport.request(
            "PATCH",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}",
            body=body,
            if_match=if_match,
        ).read(models.Pipeline)

    def delete_pipeline(self, questionnaire_id: str, pipeline_id: str, *, if_match: str | None = None) -> None:
        """Delete a pipeline.

        Refused while items of it are Pending or Processing. Those that have ended stay where they are. Needs
        `Pipeline.Delete`.
        """
        self._transport.request(
            "DELETE",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}",
            if_match=if_match,
        )

    def list_pipeline_versions(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.PipelineVersion]:
        """Get the versions of a pipeline.

        The newest first, with the clauses of `summary` that each changed. Kept two years, as the audit log is;
        changes before the newest 1,000 have no sentences. A PATCH with the members of before takes one back. Needs
        `Pipeline.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/version",
            models.PipelineVersion,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def send_test_message(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: models.QueueItemRequest,
        *,
        idempotency_key: str | None = None,
    ) -> models.TestSend:
        """Send a test message.

        One message now, through the pipeline's own account, whatever would hold an item: no item and no credit. Its
        subject begins with `[Test]`, its links open a test instance; `send_time` has no effect. A suppressed address
        is `refused`. At most 20 in 10 minutes. Needs `Pipeline.Update`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/test",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.TestSend)

    def preview_message(
        self,
        questionnaire_id: str,
        pipeline_id: str,
        body: models.PreviewRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> models.Preview:
        """Show a message of the pipeline.

        Nothing is sent or kept, and links lead nowhere. `item_id` fills the texts with the item's values, which needs
        Queue.Read and the scopes of values. Needs `Pipeline.Read`.
        """
        return self._transport.request(
            "POST",
            f"/q/questionnaire/{_segment(questionnaire_id)}/pipeline/{_segment(pipeline_id)}/preview",
            body=body,
            idempotency_key=idempotency_key,
        ).read(models.Preview)


class ContactPolicy(Family):
    """Contact policy."""

    def get_policy(self) -> models.ContactPolicy:
        """Get the contact policy.

        `enabled` counts: at most `invitations_max` to one address in `window_days`, over all pipelines, and none for
        `response_window_days` after a response. Quiet hours and holidays hold whether it is enabled or not. One that
        was never saved has the defaults. Needs `Contact Policy.Read`.
        """
        return self._transport.request("GET", "/policy/contact").read(models.ContactPolicy)

    def replace_policy(
        self, body: models.ContactPolicyRequest | None = None, *, if_match: str | None = None
    ) -> models.ContactPolicy:
        """Replace the contact policy.

        All of it. `enabled` counts: at most `invitations_max` to one address in `window_days`, over all pipelines,
        and none for `response_window_days` after a response. Quiet hours and holidays hold whether it is enabled or
        not. With `per_channel` false all addresses that are known of a person count together. A pipeline with
        `policy_exempt` sends regardless, and what it sends counts for the others; one with `on_holidays` `send` knows
        no holidays. Quiet hours that leave a pipeline no time are refused. Reminders count, and are counted against,
        with `count_reminders`. Needs `Contact Policy.Update`.
        """
        return self._transport.request("PUT", "/policy/contact", body=body, if_match=if_match).read(
            models.ContactPolicy
        )


class Providers(Family):
    """Providers."""

    def list_providers(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Provider]:
        """Get all provider accounts.

        Needs `Provider.Read`.
        """
        return self._transport.pages(
            "/provider", models.Provider, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_provider(self, body: models.ProviderRequest, *, idempotency_key: str | None = None) -> models.Provider:
        """Create new provider account.

        Its servers are on the open internet, or in the networks that the operator allows. `smtp` has `host`, `port`,
        `security` (`tls`, `starttls`, `none`), `username` and `password`. `is_default` moves all pipelines of its
        channel to it. At most 50. Needs `Provider.Create`.
        """
        return self._transport.request("POST", "/provider", body=body, idempotency_key=idempotency_key).read(
            models.Provider
        )

    def get_provider(self, account_id: str) -> models.Provider:
        """Get provider account.

        Needs `Provider.Read`.
        """
        return self._transport.request("GET", f"/provider/{_segment(account_id)}").read(models.Provider)

    def update_provider(
        self, account_id: str, body: models.ProviderUpdate | None = None, *, if_match: str | None = None
    ) -> models.Provider:
        """Update provider account.

        Its servers are on the open internet, or in the networks that the operator allows. `smtp` has `host`, `port`,
        `security` (`tls`, `starttls`, `none`), `username` and `password`. Secrets that are not named stay; another
        server needs all of them again. Needs `Provider.Update`.
        """
        return self._transport.request("PATCH", f"/provider/{_segment(account_id)}", body=body, if_match=if_match).read(
            models.Provider
        )

    def delete_provider(self, account_id: str, *, if_match: str | None = None) -> None:
        """Delete provider account.

        Only one that no pipeline sends through: make another the default, which moves them. Needs `Provider.Delete`.
        """
        self._transport.request("DELETE", f"/provider/{_segment(account_id)}", if_match=if_match)

    def pause_provider(
        self, account_id: str, body: models.PauseRequest, *, idempotency_key: str | None = None
    ) -> models.Provider:
        """Pause provider account.

        Nothing is sent through it until the pause is deleted. Due items wait, and no attempt is counted. Needs
        `Provider.Update`.
        """
        return self._transport.request(
            "POST", f"/provider/{_segment(account_id)}/pause", body=body, idempotency_key=idempotency_key
        ).read(models.Provider)

    def resume_provider(self, account_id: str, *, if_match: str | None = None) -> None:
        """Resume provider account.

        A rest after failures ends too. A pause of the operator stays: 403. Needs `Provider.Update`.
        """
        self._transport.request("DELETE", f"/provider/{_segment(account_id)}/pause", if_match=if_match)

    def get_provider_health(self, account_id: str) -> models.ProviderHealth:
        """Get health of provider account.

        Bounces and complaints against the shares at which large mailbox providers stop taking mail. Needs
        `Provider.Read`.
        """
        return self._transport.request("GET", f"/provider/{_segment(account_id)}/health").read(models.ProviderHealth)

    def check_provider_dns(self, account_id: str, *, selector: str | None = None) -> models.ProviderDns:
        """Check DNS of the sender domains.

        SPF, DKIM and DMARC of the domains that the account's pipelines send from, and of the others that the
        organization may send from. `unknown`: the name servers could not be asked. Needs `Provider.Read`.
        """
        return self._transport.request(
            "GET", f"/provider/{_segment(account_id)}/dns", query={"selector": selector}
        ).read(models.ProviderDns)

    def send_through_account(
        self, account_id: str, body: models.AccountTestRequest, *, idempotency_key: str | None = None
    ) -> models.TestSend:
        """Send a test message through the account.

        One message now, also while the account is paused, with the provider's reply. A suppressed address is
        `refused`. At most 20 test messages in 10 minutes. Needs `Provider.Update`.
        """
        return self._transport.request(
            "POST", f"/provider/{_segment(account_id)}/test", body=body, idempotency_key=idempotency_key
        ).read(models.TestSend)

    def list_inbounds(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Inbound]:
        """Get all inbound addresses.

        Needs `Inbound.Read`.
        """
        return self._transport.pages(
            "/inbound", models.Inbound, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def open_inbound(self, body: models.InboundRequest, *, idempotency_key: str | None = None) -> models.Inbound:
        """Open inbound address.

        `standard`: our own form, signed with the `secret` of this answer; `sns`: Amazon SES by SNS; `provider`: as
        the account's own gateway calls, opened with the account. An account has one of each. Repeated with its
        `Idempotency-Key` the answer has null in `secret`. Needs `Inbound.Create`.
        """
        return self._transport.request("POST", "/inbound", body=body, idempotency_key=idempotency_key).read(
            models.Inbound
        )

    def get_inbound(self, inbound_id: str) -> models.Inbound:
        """Get inbound address.

        Needs `Inbound.Read`.
        """
        return self._transport.request("GET", f"/inbound/{_segment(inbound_id)}").read(models.Inbound)

    def close_inbound(self, inbound_id: str, *, if_match: str | None = None) -> None:
        """Close inbound address.

        Calls to it find nothing from then on. Needs `Inbound.Delete`.
        """
        self._transport.request("DELETE", f"/inbound/{_segment(inbound_id)}", if_match=if_match)


class Suppressions(Family):
    """Suppressions."""

    def list_suppressions(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Suppression]:
        """Get all suppressions.

        Those that have expired included: they show `expires_time`, and suppress nothing any more. Needs
        `Suppression.Read`.
        """
        return self._transport.pages(
            "/suppression", models.Suppression, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def suppress_address(
        self, body: models.SuppressionRequest, *, idempotency_key: str | None = None
    ) -> models.Suppression:
        """Suppress an address.

        Nothing more is sent to it on that channel. Compared by its normal form, kept as it was sent. One that is
        suppressed already takes a longer time and a stronger reason (blocked, hard_bounce, unsubscribed, complaint,
        erased); where neither is new, 409. Needs `Suppression.Create`.
        """
        return self._transport.request("POST", "/suppression", body=body, idempotency_key=idempotency_key).read(
            models.Suppression
        )

    def get_suppression(self, suppression_id: str) -> models.Suppression:
        """Get a suppression.

        Needs `Suppression.Read`.
        """
        return self._transport.request("GET", f"/suppression/{_segment(suppression_id)}").read(models.Suppression)

    def lift_suppression(self, suppression_id: str, *, if_match: str | None = None) -> None:
        """Lift a suppression.

        The address is written to again, whatever the reason was; the event `suppression.deleted` keeps it. Needs
        `Suppression.Delete`.
        """
        self._transport.request("DELETE", f"/suppression/{_segment(suppression_id)}", if_match=if_match)


class Search(Family):
    """Search."""

    def search(self, *, q: str | None = None) -> models.SearchResult:
        """Search everything.

        Up to five each of people, responses, queue items, cases and questionnaires. Each kind needs the scope of its
        list: Responder.Read, Questionnaire Instance.Read, Queue.Read, Alert Instance.Read. Needs
        `Questionnaire.Read`.
        """
        return self._transport.request("GET", "/search", query={"q": q}).read(models.SearchResult)


class AlertSettings(Family):
    """Alert Settings."""

    def get_alert_settings(self) -> models.AlertSettings:
        """Get the settings of cases.

        Needs `Alert.Read`.
        """
        return self._transport.request("GET", "/alert/settings").read(models.AlertSettings)

    def update_alert_settings(
        self, body: models.AlertSettingsUpdate | None = None, *, if_match: str | None = None
    ) -> models.AlertSettings:
        """Update the settings of cases.

        `due_hours` of alerts count within these hours; without `start_time` the whole of these days, holidays of the
        contact policy left out with `closed_on_holidays`. Variables of saved texts: `{{ customer_name }}`, `{{
        my_name }}`, `{{ organization_name }}`, `{{ alert_title }}`, `{{ order }}`. Needs `Alert.Update`.
        """
        return self._transport.request("PATCH", "/alert/settings", body=body, if_match=if_match).read(
            models.AlertSettings
        )

    def get_alert_mailbox(self) -> models.AlertMailbox:
        """Get the mailbox of answers.

        Needs `Alert.Read`.
        """
        return self._transport.request("GET", "/alert/mailbox").read(models.AlertMailbox)

    def update_alert_mailbox(
        self, body: models.AlertMailboxUpdate | None = None, *, if_match: str | None = None
    ) -> models.AlertMailbox:
        """Update the mailbox of answers.

        Replies to customers have `address` as their Reply-To. With `host` a worker reads the mailbox every minute:
        answers go to their cases, bounces to their messages. `host` null ends that. Another server or user needs the
        password again. Needs `Alert.Update`.
        """
        return self._transport.request("PATCH", "/alert/mailbox", body=body, if_match=if_match).read(
            models.AlertMailbox
        )

    def check_alert_mailbox(self, *, idempotency_key: str | None = None) -> models.AlertMailbox:
        """Check the mailbox of answers.

        Logs in, opens the folder and counts its mails; `problem` says what failed. No mail is read. Needs
        `Alert.Update`.
        """
        return self._transport.request("POST", "/alert/mailbox/check", idempotency_key=idempotency_key).read(
            models.AlertMailbox
        )


class Alerts(Family):
    """Alerts."""

    def get_alert_escalation(self, alert_id: str, *, escalation_hours: int | None = None) -> models.AlertEscalation:
        """Say how many open cases an escalation touches.

        Nothing is changed. At most 1,000 are counted; cases that wait are left out. Needs `Alert.Read`.
        """
        return self._transport.request(
            "GET", f"/alert/{_segment(alert_id)}/escalation", query={"escalation_hours": escalation_hours}
        ).read(models.AlertEscalation)

    def preview_alert(
        self, body: models.AlertPreviewRequest, *, idempotency_key: str | None = None
    ) -> models.AlertPreview:
        """Try an alert before it is saved.

        Nothing is stored. The newest 1,000 responses are looked at as they are now, without tests, among the newest
        20,000 of the organization. All is checked as on saving. Needs `Alert.Create`.
        """
        return self._transport.request("POST", "/alert/preview", body=body, idempotency_key=idempotency_key).read(
            models.AlertPreview
        )

    def list_alert_assignees(
        self,
        *,
        application_id: str | None = None,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.AlertAssignee]:
        """Get the users who may take cases.

        Each with the cases that are open with this user, 1,000 at most. Needs `Alert.Read` and `User.Read`.
        """
        return self._transport.pages(
            "/alert/assignee",
            models.AlertAssignee,
            limit=limit,
            query={"application_id": application_id, "filter_by": filter_by, "order_by": order_by},
        )

    def list_alerts(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Alert]:
        """Get all alerts.

        Needs `Alert.Read`.
        """
        return self._transport.pages(
            "/alert", models.Alert, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_alert(self, body: models.AlertRequest, *, idempotency_key: str | None = None) -> models.Alert:
        """Create new alert.

        The conditions are checked against the published questions and the declared metadata; those of trigger
        `schedule` compare figures (`metric:…`) and nothing else. `chat_ids` are the chats that get a card about each
        case; `chat_urls` takes only the empty list. Needs `Alert.Create`.
        """
        return self._transport.request("POST", "/alert", body=body, idempotency_key=idempotency_key).read(models.Alert)

    def get_alert(self, alert_id: str) -> models.Alert:
        """Get Alert.

        Needs `Alert.Read`.
        """
        return self._transport.request("GET", f"/alert/{_segment(alert_id)}").read(models.Alert)

    def update_alert(
        self, alert_id: str, body: models.AlertUpdate | None = None, *, if_match: str | None = None
    ) -> models.Alert:
        """Update Alert.

        The conditions are checked against the published questions and the declared metadata; those of trigger
        `schedule` compare figures (`metric:…`) and nothing else. `chat_ids` are the chats that get a card about each
        case; `chat_urls` takes only the empty list. Needs `Alert.Update`.
        """
        return self._transport.request("PATCH", f"/alert/{_segment(alert_id)}", body=body, if_match=if_match).read(
            models.Alert
        )

    def delete_alert(self, alert_id: str, *, if_match: str | None = None) -> None:
        """Delete Alert.

        It opens no more cases; those that it opened stay. Needs `Alert.Delete`.
        """
        self._transport.request("DELETE", f"/alert/{_segment(alert_id)}", if_match=if_match)


class AlertStatuses(Family):
    """Alert Statuses."""

    def list_alert_statuses(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.AlertStatus]:
        """Get all alert statuses.

        1 New, 2 In progress, 3 Closed and 4 Dismissed are the product's; own ones have numbers from 100. Needs `Alert
        Status.Read`.
        """
        return self._transport.pages(
            "/alert/status", models.AlertStatus, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_alert_status(
        self, body: models.AlertStatusRequest, *, idempotency_key: str | None = None
    ) -> models.AlertStatus:
        """Create new alert status.

        Needs `Alert Status.Create`.
        """
        return self._transport.request("POST", "/alert/status", body=body, idempotency_key=idempotency_key).read(
            models.AlertStatus
        )

    def get_alert_status(self, status_id: str) -> models.AlertStatus:
        """Get Alert Status.

        Needs `Alert Status.Read`.
        """
        return self._transport.request("GET", f"/alert/status/{_segment(status_id)}").read(models.AlertStatus)

    def update_alert_status(
        self, status_id: str, body: models.AlertStatusUpdate | None = None, *, if_match: str | None = None
    ) -> models.AlertStatus:
        """Update Alert Status.

        Needs `Alert Status.Update`.
        """
        return self._transport.request(
            "PATCH", f"/alert/status/{_segment(status_id)}", body=body, if_match=if_match
        ).read(models.AlertStatus)

    def delete_alert_status(self, status_id: str, *, move_to: int | None = None, if_match: str | None = None) -> None:
        """Delete Alert Status.

        While alerts or cases have it, `move_to` is the status that they get. Needs `Alert Status.Delete`.
        """
        self._transport.request(
            "DELETE", f"/alert/status/{_segment(status_id)}", query={"move_to": move_to}, if_match=if_match
        )


class Notifications(Family):
    """Notifications."""

    def list_notifications(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Notification]:
        """Get all notifications.

        Those of the token's user; a token of the organization has none, nor has one for tests. Needs
        `Notification.Read`.
        """
        return self._transport.pages(
            "/notification", models.Notification, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def update_notification(
        self, notification_id: str, body: models.NotificationUpdate | None = None, *, if_match: str | None = None
    ) -> models.Notification:
        """Update Notification.

        Needs `Notification.Update`.
        """
        return self._transport.request(
            "PATCH", f"/notification/{_segment(notification_id)}", body=body, if_match=if_match
        ).read(models.Notification)

    def get_subscription(self) -> models.NotificationSubscription:
        """Get Notification Subscription.

        A type that is not named is notified on the web, and by mail only new alert instances, plans, disabled
        webhooks. Types of single messages, responses and people (queue_item, questionnaire_instance, answer,
        responder, suppression, tag) are notified only if named. A user without a subscription watches the things that
        they created. Needs `Notification.Read`.
        """
        return self._transport.request("GET", "/notification/subscription").read(models.NotificationSubscription)

    def replace_subscription(
        self, body: models.NotificationSubscriptionRequest | None = None, *, if_match: str | None = None
    ) -> models.NotificationSubscription:
        """Replace Notification Subscription.

        All of it. A type that is not named is notified on the web, and by mail only new alert instances, plans,
        disabled webhooks. Types of single messages, responses and people (queue_item, questionnaire_instance, answer,
        responder, suppression, tag) are notified only if named. Needs `Notification.Update`.
        """
        return self._transport.request("PUT", "/notification/subscription", body=body, if_match=if_match).read(
            models.NotificationSubscription
        )


class Chats(Family):
    """Chats."""

    def list_chats(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Chat]:
        """Get all chats.

        Needs `Webhook.Read`.
        """
        return self._transport.pages(
            "/chat", models.Chat, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_chat(self, body: models.ChatRequest, *, idempotency_key: str | None = None) -> models.Chat:
        """Create new chat.

        At most 50 an organization. Alerts name the chats that they tell in `chat_ids`. Needs `Webhook.Create`.
        """
        return self._transport.request("POST", "/chat", body=body, idempotency_key=idempotency_key).read(models.Chat)

    def get_chat(self, chat_id: str) -> models.Chat:
        """Get Chat.

        Needs `Webhook.Read`.
        """
        return self._transport.request("GET", f"/chat/{_segment(chat_id)}").read(models.Chat)

    def update_chat(
        self, chat_id: str, body: models.ChatUpdate | None = None, *, if_match: str | None = None
    ) -> models.Chat:
        """Update Chat.

        Without `address`, or with null, the address stays as it is. Needs `Webhook.Update`.
        """
        return self._transport.request("PATCH", f"/chat/{_segment(chat_id)}", body=body, if_match=if_match).read(
            models.Chat
        )

    def delete_chat(self, chat_id: str, *, if_match: str | None = None) -> None:
        """Delete Chat.

        Cards that wait for it are never sent. Its digests are removed, and alerts tell it no more. Needs
        `Webhook.Delete`.
        """
        self._transport.request("DELETE", f"/chat/{_segment(chat_id)}", if_match=if_match)

    def test_chat(self, chat_id: str, *, idempotency_key: str | None = None) -> models.Chat:
        """Send a test card to a chat.

        At once. `problem` is null where the chat took it, else it says what failed. Needs `Webhook.Update`.
        """
        return self._transport.request("POST", f"/chat/{_segment(chat_id)}/test", idempotency_key=idempotency_key).read(
            models.Chat
        )


class Reports(Family):
    """Reports."""

    def list_report_templates(self, *, limit: int = 100) -> Iterator[models.ReportTemplate]:
        """Get all report templates.

        Ready reports, and the query parameters that each takes. Needs `Report.Read`.
        """
        return self._transport.pages("/report/template", models.ReportTemplate, limit=limit)

    def run_report_template(
        self,
        template_id: str,
        *,
        questionnaire_id: Sequence[str],
        filter: str | None = None,
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        calendar_period: Literal[
            "last_month",
            "last_quarter",
            "last_week",
            "last_year",
            "this_month",
            "this_quarter",
            "this_week",
            "this_year",
        ]
        | None = None,
        time_zone: str | None = None,
        date_basis: Literal["completed", "sent", "submitted"] | None = None,
        level: float | None = None,
        compare: Literal["none", "previous_period", "previous_year", "rest"] | None = None,
        question_id: str | None = None,
        metric: Literal["ces", "completion", "csat", "mean", "nps", "response"] | None = None,
        bucket: Literal["day", "month", "quarter", "week"] | None = None,
        metadata: str | None = None,
        channel_id: int | None = None,
        pipeline_id: str | None = None,
        outcome_question_id: str | None = None,
        question_ids: Sequence[str] | None = None,
        by: Literal["bucket", "channel", "pipeline"] | None = None,
        band: Literal["detractor", "passive", "promoter"] | None = None,
    ) -> models.ReportResult:
        """Run a report template.

        Every figure comes with its interval, the method, and the number of answers it is computed from. From readers
        who may not read single answers groups below the organization's minimum base are hidden, and so is a second
        one that would reveal them. Needs `Report.Read`.
        """
        return self._transport.request(
            "GET",
            f"/report/template/{_segment(template_id)}",
            query={
                "questionnaire_id": questionnaire_id,
                "filter": filter,
                "from_time": from_time,
                "to_time": to_time,
                "calendar_period": calendar_period,
                "time_zone": time_zone,
                "date_basis": date_basis,
                "level": level,
                "compare": compare,
                "question_id": question_id,
                "metric": metric,
                "bucket": bucket,
                "metadata": metadata,
                "channel_id": channel_id,
                "pipeline_id": pipeline_id,
                "outcome_question_id": outcome_question_id,
                "question_ids": question_ids,
                "by": by,
                "band": band,
            },
        ).read(models.ReportResult)

    def list_custom_reports(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.CustomReport]:
        """Get all custom reports.

        Needs `Report.Read`.
        """
        return self._transport.pages(
            "/report/custom", models.CustomReport, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_custom_report(
        self, body: models.CustomReportRequest, *, idempotency_key: str | None = None
    ) -> models.CustomReport:
        """Create a custom report.

        A spec that cannot be run is refused, with pointers into it. Needs `Report.Create`.
        """
        return self._transport.request("POST", "/report/custom", body=body, idempotency_key=idempotency_key).read(
            models.CustomReport
        )

    def get_custom_report(self, report_id: str) -> models.CustomReport:
        """Get a custom report.

        Needs `Report.Read`.
        """
        return self._transport.request("GET", f"/report/custom/{_segment(report_id)}").read(models.CustomReport)

    def update_custom_report(
        self, report_id: str, body: models.CustomReportUpdate | None = None, *, if_match: str | None = None
    ) -> models.CustomReport:
        """Update a custom report.

        The spec is replaced as a whole. Needs `Report.Update`.
        """
        return self._transport.request(
            "PATCH", f"/report/custom/{_segment(report_id)}", body=body, if_match=if_match
        ).read(models.CustomReport)

    def delete_custom_report(self, report_id: str, *, if_match: str | None = None) -> None:
        """Delete a custom report.

        Needs `Report.Delete`.
        """
        self._transport.request("DELETE", f"/report/custom/{_segment(report_id)}", if_match=if_match)

    def run_custom_report(self, report_id: str) -> models.ReportResult:
        """Run a custom report.

        Needs `Report.Read`.
        """
        return self._transport.request("GET", f"/report/custom/{_segment(report_id)}/run").read(models.ReportResult)

    def run_report(self, body: models.ReportRun, *, idempotency_key: str | None = None) -> models.ReportResult:
        """Run a report that is not saved.

        Its spec is that of a custom report. Nothing is stored. Needs `Report.Read`.
        """
        return self._transport.request("POST", "/report/run", body=body, idempotency_key=idempotency_key).read(
            models.ReportResult
        )

    def list_report_invitations(
        self,
        *,
        questionnaire_id: Sequence[str],
        from_time: datetime | None = None,
        to_time: datetime | None = None,
        date_basis: Literal["completed", "sent", "submitted"] | None = None,
        stage: Sequence[
            Literal[
                "answered", "bounced", "completed", "created", "delivered", "sent", "started", "submitted", "viewed"
            ]
        ]
        | None = None,
        channel_id: int | None = None,
        pipeline_id: str | None = None,
        version_id: str | None = None,
        locale: str | None = None,
        filter: str | None = None,
        limit: int = 100,
    ) -> Iterator[models.QuestionnaireInstance]:
        """Get the invitations behind a figure.

        Exactly those that a row or a total counts: give its `selection`, and of a stage its name. A rate counts those
        of two stages: `delivery` is `sent` and `delivered`. The newest by `date_basis` first. Needs `Questionnaire
        Instance.Read`.
        """
        return self._transport.pages(
            "/report/invitation",
            models.QuestionnaireInstance,
            limit=limit,
            query={
                "questionnaire_id": questionnaire_id,
                "from_time": from_time,
                "to_time": to_time,
                "date_basis": date_basis,
                "stage": stage,
                "channel_id": channel_id,
                "pipeline_id": pipeline_id,
                "version_id": version_id,
                "locale": locale,
                "filter": filter,
            },
        )

    def get_overview(
        self,
        *,
        days: int | None = None,
        calendar_period: Literal[
            "last_month",
            "last_quarter",
            "last_week",
            "last_year",
            "this_month",
            "this_quarter",
            "this_week",
            "this_year",
        ]
        | None = None,
        application_id: str | None = None,
    ) -> models.ReportOverview:
        """Get the overview.

        The scores of the last days with their trend and change, and the funnel of the invitations. Needs
        `Report.Read`.
        """
        return self._transport.request(
            "GET",
            "/report/overview",
            query={"days": days, "calendar_period": calendar_period, "application_id": application_id},
        ).read(models.ReportOverview)

    def list_report_shares(self, report_id: str, *, limit: int = 100) -> Iterator[models.ReportShare]:
        """Get the links to a report.

        Also those that ended in the last 30 days. Callers with a limit see those with the same limit. Needs
        `Report.Read`.
        """
        return self._transport.pages(f"/report/custom/{_segment(report_id)}/share", models.ReportShare, limit=limit)

    def create_report_share(
        self, report_id: str, body: models.ReportShareRequest | None = None, *, idempotency_key: str | None = None
    ) -> models.ReportShare:
        """Create a link to a report.

        Whoever has its `share_url` reads the figures without a login, until it ends. It is shown this once. It keeps
        the limit of whoever made it. Repeated with its `Idempotency-Key` the answer has null in `share_url`. Needs
        `Report.Update`.
        """
        return self._transport.request(
            "POST", f"/report/custom/{_segment(report_id)}/share", body=body, idempotency_key=idempotency_key
        ).read(models.ReportShare)

    def delete_report_share(self, report_id: str, share_id: str, *, if_match: str | None = None) -> None:
        """End a link to a report.

        Needs `Report.Update`.
        """
        self._transport.request(
            "DELETE", f"/report/custom/{_segment(report_id)}/share/{_segment(share_id)}", if_match=if_match
        )

    def list_report_digests(self, *, limit: int = 100) -> Iterator[models.ReportDigest]:
        """Get all digests.

        Those of the token's user; a token of the organization has none. Needs `Report.Read`.
        """
        return self._transport.pages("/report/digest", models.ReportDigest, limit=limit)

    def create_report_digest(
        self, body: models.ReportDigestRequest, *, idempotency_key: str | None = None
    ) -> models.ReportDigest:
        """Create a digest.

        Mails the report, or the overview, to the token's user or another address every week or month, until it is
        deleted. Another address gets one mail that asks, and is mailed once somebody there has agreed. Needs
        `Report.Read`.
        """
        return self._transport.request("POST", "/report/digest", body=body, idempotency_key=idempotency_key).read(
            models.ReportDigest
        )

    def send_report_digest(self, digest_id: str, *, idempotency_key: str | None = None) -> models.ReportDigest:
        """Send a digest now.

        Sends one more mail within some seconds. The days of the others stay. Needs `Report.Read`.
        """
        return self._transport.request(
            "POST", f"/report/digest/{_segment(digest_id)}/mail", idempotency_key=idempotency_key
        ).read(models.ReportDigest)

    def delete_report_digest(self, digest_id: str, *, if_match: str | None = None) -> None:
        """Stop a digest.

        Needs `Report.Read`.
        """
        self._transport.request("DELETE", f"/report/digest/{_segment(digest_id)}", if_match=if_match)


class QuestionnaireExports(Family):
    """Questionnaire Exports."""

    def list_export_schedules(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ExportSchedule]:
        """Get all export schedules.

        Needs `Questionnaire Export.Read`.
        """
        return self._transport.pages(
            "/export/schedule", models.ExportSchedule, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_export_schedule(
        self, body: models.ExportScheduleRequest, *, idempotency_key: str | None = None
    ) -> models.ExportSchedule:
        """Create new export schedule.

        Needs Questionnaire Instance.Read. Files hold the values that your token may read. `folder`: below the folder
        of the installation. `s3`: `endpoint`, `bucket`, `access_key` and `secret`. `sftp`: `host`, `username`,
        `secret`, and `host_key` before the first run. Needs `Questionnaire Export.Create`.
        """
        return self._transport.request("POST", "/export/schedule", body=body, idempotency_key=idempotency_key).read(
            models.ExportSchedule
        )

    def get_export_schedule(self, schedule_id: str) -> models.ExportSchedule:
        """Get Export Schedule.

        Needs `Questionnaire Export.Read`.
        """
        return self._transport.request("GET", f"/export/schedule/{_segment(schedule_id)}").read(models.ExportSchedule)

    def update_export_schedule(
        self, schedule_id: str, body: models.ExportScheduleUpdate | None = None, *, if_match: str | None = None
    ) -> models.ExportSchedule:
        """Update Export Schedule.

        Needs `Questionnaire Export.Create`.
        """
        return self._transport.request(
            "PATCH", f"/export/schedule/{_segment(schedule_id)}", body=body, if_match=if_match
        ).read(models.ExportSchedule)

    def delete_export_schedule(self, schedule_id: str, *, if_match: str | None = None) -> None:
        """Delete Export Schedule.

        Files that were written stay where they are. Needs `Questionnaire Export.Delete`.
        """
        self._transport.request("DELETE", f"/export/schedule/{_segment(schedule_id)}", if_match=if_match)

    def list_export_runs(
        self, schedule_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.ExportRun]:
        """Get the runs of an export schedule.

        Kept for 90 days. Needs `Questionnaire Export.Read`.
        """
        return self._transport.pages(
            f"/export/schedule/{_segment(schedule_id)}/run",
            models.ExportRun,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_export_run(self, schedule_id: str, *, idempotency_key: str | None = None) -> models.ExportRun:
        """Run an export schedule now.

        A worker begins it within some seconds. 409 while a run is under way. Needs `Questionnaire Export.Create` and
        `Questionnaire Instance.Read`.
        """
        return self._transport.request(
            "POST", f"/export/schedule/{_segment(schedule_id)}/run", idempotency_key=idempotency_key
        ).read(models.ExportRun)

    def check_export_schedule(self, schedule_id: str, *, idempotency_key: str | None = None) -> models.ExportCheck:
        """Check the destination of an export schedule.

        Writes a small file and removes it. Of an SFTP server whose key nobody confirmed it tells the key. Needs
        `Questionnaire Export.Create`.
        """
        return self._transport.request(
            "POST", f"/export/schedule/{_segment(schedule_id)}/check", idempotency_key=idempotency_key
        ).read(models.ExportCheck)

    def list_exports(
        self,
        questionnaire_id: str,
        *,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Export]:
        """Get Questionnaire Export List.

        Needs `Questionnaire Export.Read`.
        """
        return self._transport.pages(
            f"/q/questionnaire/{_segment(questionnaire_id)}/export",
            models.Export,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def create_export(
        self, questionnaire_id: str, body: models.ExportRequest, *, idempotency_key: str | None = None
    ) -> models.Export:
        """Create Questionnaire Export.

        A worker writes the file. Values of metadata need Questionnaire Value.Read and Responder Value.Read, else they
        are left out. `include_recipient` needs Queue.Read, and so does its file. Needs `Questionnaire Export.Create`
        and `Questionnaire Instance.Read`.
        """
        return self._transport.request(
            "POST", f"/q/questionnaire/{_segment(questionnaire_id)}/export", body=body, idempotency_key=idempotency_key
        ).read(models.Export)

    def list_exports_of_lists(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Export]:
        """Get exports of responses of all questionnaires.

        Those that the caller asked for. Needs `Questionnaire Export.Read`.
        """
        return self._transport.pages(
            "/q/response/export", models.Export, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_export_of_list(
        self, body: models.ListExportRequest, *, idempotency_key: str | None = None
    ) -> models.Export:
        """Export responses of all questionnaires.

        Those that match now, the newest first, at most 50,000 of 50 questionnaires. Values of metadata and recipients
        are as in exports of one questionnaire. Needs `Questionnaire Export.Create` and `Questionnaire Instance.Read`.
        """
        return self._transport.request("POST", "/q/response/export", body=body, idempotency_key=idempotency_key).read(
            models.Export
        )

    def get_export(self, export_id: str) -> models.Export:
        """Get Questionnaire Export.

        Needs `Questionnaire Export.Read`.
        """
        return self._transport.request("GET", f"/q/export/{_segment(export_id)}").read(models.Export)

    def delete_export(self, export_id: str, *, if_match: str | None = None) -> None:
        """Delete Questionnaire Export.

        Cancels an export that is waiting or being written; one that has ended is removed with its file. Needs
        `Questionnaire Export.Delete`.
        """
        self._transport.request("DELETE", f"/q/export/{_segment(export_id)}", if_match=if_match)

    def get_export_file(self, export_id: str) -> Iterator[bytes]:
        """Get Questionnaire Export File.

        Needs the scopes of the values that it holds too. 409 before it is done, 410 after its retention. Needs
        `Questionnaire Export.Read` and `Questionnaire Instance.Read`.
        """
        return self._transport.stream(f"/q/export/{_segment(export_id)}/file")


class Events(Family):
    """Events."""

    def list_events(
        self,
        *,
        type: Sequence[str] | None = None,
        filter_by: Filters | None = None,
        order_by: Orders | None = None,
        limit: int = 100,
    ) -> Iterator[models.Event]:
        """Get all events.

        Oldest first and without gaps: an event is shown once none can come before it any more. Read on with `after`:
        `next_cursor`, else the cursor of the last event seen. A page may have fewer events than `limit`, or none, and
        a `next_cursor`. `type[]` is a type, `prefix.*` or `*`. Kept 90 days. `data` needs the Read scope of what the
        event is about, and is empty without. Needs `Event.Read`.
        """
        return self._transport.pages(
            "/event", models.Event, limit=limit, query={"type": type, "filter_by": filter_by, "order_by": order_by}
        )

    def get_event(self, event_id: str) -> models.Event:
        """Get Event.

        Needs `Event.Read`.
        """
        return self._transport.request("GET", f"/event/{_segment(event_id)}").read(models.Event)


class Webhooks(Family):
    """Webhooks."""

    def list_webhook_samples(
        self, *, event_type: str | None = None, limit: int = 100
    ) -> Iterator[models.WebhookSample]:
        """Get sample deliveries.

        Up to 3 bodies as a webhook gets them: of the newest events of this type, or else an example. Those of events
        need the Read scope of what the event is about. Needs `Webhook.Read`.
        """
        return self._transport.pages(
            "/webhook/sample", models.WebhookSample, limit=limit, query={"event_type": event_type}
        )

    def list_webhooks(
        self, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Webhook]:
        """Get all webhooks.

        Needs `Webhook.Read`.
        """
        return self._transport.pages(
            "/webhook", models.Webhook, limit=limit, query={"filter_by": filter_by, "order_by": order_by}
        )

    def create_webhook(self, body: models.WebhookRequest, *, idempotency_key: str | None = None) -> models.Webhook:
        """Create new webhook.

        At most 50 an organization. `target_url` is https at a public address. `event_types` are types, `prefix.*` or
        `*`; without them it gets `questionnaire_instance.completed` alone. Your token needs the Read scope of every
        event type that it gets. Repeated with its `Idempotency-Key` the answer has null in `secret`. Needs
        `Webhook.Create`.
        """
        return self._transport.request("POST", "/webhook", body=body, idempotency_key=idempotency_key).read(
            models.Webhook
        )

    def get_webhook(self, webhook_id: str) -> models.Webhook:
        """Get Webhook.

        Needs `Webhook.Read`.
        """
        return self._transport.request("GET", f"/webhook/{_segment(webhook_id)}").read(models.Webhook)

    def update_webhook(
        self, webhook_id: str, body: models.WebhookUpdate | None = None, *, if_match: str | None = None
    ) -> models.Webhook:
        """Update Webhook.

        `target_url` is https at a public address. `event_types` are types, `prefix.*` or `*`; without them it gets
        `questionnaire_instance.completed` alone. Your token needs the Read scope of every event type that it gets.
        Needs `Webhook.Update`.
        """
        return self._transport.request("PATCH", f"/webhook/{_segment(webhook_id)}", body=body, if_match=if_match).read(
            models.Webhook
        )

    def delete_webhook(self, webhook_id: str, *, if_match: str | None = None) -> None:
        """Delete Webhook.

        Events that were not delivered yet are never delivered. Needs `Webhook.Delete`.
        """
        self._transport.request("DELETE", f"/webhook/{_segment(webhook_id)}", if_match=if_match)

    def renew_webhook_secret(self, webhook_id: str, *, idempotency_key: str | None = None) -> models.Webhook:
        """Renew secret of webhook.

        For 24 hours every delivery is signed with both secrets. Repeated with its `Idempotency-Key` the answer has
        null in `secret`. Needs `Webhook.Update`.
        """
        return self._transport.request(
            "POST", f"/webhook/{_segment(webhook_id)}/secret", idempotency_key=idempotency_key
        ).read(models.Webhook)

    def list_deliveries(
        self, webhook_id: str, *, filter_by: Filters | None = None, order_by: Orders | None = None, limit: int = 100
    ) -> Iterator[models.Delivery]:
        """Get all deliveries of a webhook.

        Kept 30 days after their end. Needs `Webhook.Read`.
        """
        return self._transport.pages(
            f"/webhook/{_segment(webhook_id)}/delivery",
            models.Delivery,
            limit=limit,
            query={"filter_by": filter_by, "order_by": order_by},
        )

    def get_delivery(self, webhook_id: str, delivery_id: str) -> models.Delivery:
        """Get Delivery.

        Needs `Webhook.Read`.
        """
        return self._transport.request("GET", f"/webhook/{_segment(webhook_id)}/delivery/{_segment(delivery_id)}").read(
            models.Delivery
        )

    def redeliver(self, webhook_id: str, delivery_id: str, *, idempotency_key: str | None = None) -> models.Delivery:
        """Redeliver one delivery.

        From its first attempt on, with the same `webhook-id`; a waiting one is tried at once. Needs `Webhook.Update`.
        """
        return self._transport.request(
            "POST",
            f"/webhook/{_segment(webhook_id)}/delivery/{_segment(delivery_id)}/redelivery",
            idempotency_key=idempotency_key,
        ).read(models.Delivery)

    def redeliver_span(
        self, webhook_id: str, body: models.RedeliveryRequest | None = None, *, idempotency_key: str | None = None
    ) -> models.Redelivery:
        """Redeliver a span of the event log.

        From `from_time` (until `to_time`), or behind the cursor `after`: all events that the webhook subscribes to
        now, sent before or not. With the same `webhook-id`; at most 10,000 events at a time. Needs `Webhook.Update`.
        """
        return self._transport.request(
            "POST", f"/webhook/{_segment(webhook_id)}/redelivery", body=body, idempotency_key=idempotency_key
        ).read(models.Redelivery)


class Operations:
    """All families."""

    def __init__(self, transport: Transport) -> None:
        self.applications = Applications(transport)
        self.organizations = Organizations(transport)
        self.users = Users(transport)
        self.tokens = Tokens(transport)
        self.plans = Plans(transport)
        self.audit = Audit(transport)
        self.questionnaires = Questionnaires(transport)
        self.questionnaire_groups = QuestionnaireGroups(transport)
        self.questions = Questions(transport)
        self.questionnaire_visuals = QuestionnaireVisuals(transport)
        self.assets = Assets(transport)
        self.metadata = Metadata(transport)
        self.questionnaire_instances = QuestionnaireInstances(transport)
        self.questionnaire_instances_simplified = QuestionnaireInstancesSimplified(transport)
        self.tags = Tags(transport)
        self.responders = Responders(transport)
        self.coupons = Coupons(transport)
        self.public_links = PublicLinks(transport)
        self.responses = Responses(transport)
        self.queue = Queue(transport)
        self.queue_simplified = QueueSimplified(transport)
        self.sequences = Sequences(transport)
        self.alert_instance = AlertInstance(transport)
        self.sources = Sources(transport)
        self.pipelines = Pipelines(transport)
        self.contact_policy = ContactPolicy(transport)
        self.providers = Providers(transport)
        self.suppressions = Suppressions(transport)
        self.search = Search(transport)
        self.alert_settings = AlertSettings(transport)
        self.alerts = Alerts(transport)
        self.alert_statuses = AlertStatuses(transport)
        self.notifications = Notifications(transport)
        self.chats = Chats(transport)
        self.reports = Reports(transport)
        self.questionnaire_exports = QuestionnaireExports(transport)
        self.events = Events(transport)
        self.webhooks = Webhooks(transport)
