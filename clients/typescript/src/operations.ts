/** The operations of the API by family; generated from its document by generate.py. */

import type * as models from "./models.js";
import { Family, segment } from "./transport.js";
import type { Filters, Orders, Transport } from "./transport.js";

/** Applications. */
export class Applications extends Family {
  /** Get all application types. Needs `Application.Read`. */
  listApplicationTypes(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ApplicationType> {
    return this.transport.pages(`/application/type`, options);
  }

  /** Get all applications. Needs `Application.Read`. */
  listApplications(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Application> {
    return this.transport.pages(`/application`, options);
  }

  /** Create Application. An application of a type other than `custom` has that type's metadata definitions. Needs `Application.Create`. */
  createApplication(body: models.ApplicationRequest, options: { idempotencyKey?: string } = {}): Promise<models.Application> {
    return this.transport.send("POST", `/application`, options, body);
  }

  /** Get Application. Needs `Application.Read`. */
  getApplication(applicationId: string): Promise<models.Application> {
    return this.transport.send("GET", `/application/${segment(applicationId)}`);
  }

  /** Update Application. Needs `Application.Update`. */
  updateApplication(applicationId: string, body?: models.ApplicationUpdate, options: { ifMatch?: string } = {}): Promise<models.Application> {
    return this.transport.send("PATCH", `/application/${segment(applicationId)}`, options, body);
  }

  /** Delete Application. Refused while it owns questionnaires, archived ones too. Needs `Application.Delete`. */
  deleteApplication(applicationId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/application/${segment(applicationId)}`, options);
  }
}

/** Organizations. */
export class Organizations extends Family {
  /** Get all organizations. Those that the token reaches: its own. Needs `Organization.Read`. */
  listOrganizations(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Organization> {
    return this.transport.pages(`/organization`, options);
  }

  /** Get Organization. Needs `Organization.Read`. */
  getOrganization(organizationId: string): Promise<models.Organization> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}`);
  }

  /** Update Organization. Needs `Organization.Update`. */
  updateOrganization(organizationId: string, body?: models.OrganizationUpdate, options: { ifMatch?: string } = {}): Promise<models.Organization> {
    return this.transport.send("PATCH", `/organization/${segment(organizationId)}`, options, body);
  }

  /** Get Organization Billing. Needs `Organization Billing.Read`. */
  getBilling(organizationId: string): Promise<models.OrganizationBilling> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}/billing`);
  }

  /** Update Organization Billing. Needs `Organization Billing.Update`. */
  updateBilling(organizationId: string, body?: models.BillingUpdate, options: { ifMatch?: string } = {}): Promise<models.OrganizationBilling> {
    return this.transport.send("PATCH", `/organization/${segment(organizationId)}/billing`, options, body);
  }

  /** Get Custom Domain. Needs `Organization.Read`. */
  getCustomDomain(organizationId: string): Promise<models.CustomDomain> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}/domain`);
  }

  /** Set Custom Domain. Nothing changes before a check has found the record. Another host gives the one before back. Needs `Organization.Update`. */
  setCustomDomain(organizationId: string, body: models.CustomDomainRequest, options: { ifMatch?: string } = {}): Promise<models.CustomDomain> {
    return this.transport.send("PUT", `/organization/${segment(organizationId)}/domain`, options, body);
  }

  /** Remove Custom Domain. New links have the installation's address again. Those that were sent with the host work while it leads here. Needs `Organization.Update`. */
  removeCustomDomain(organizationId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/organization/${segment(organizationId)}/domain`, options);
  }

  /** Check Custom Domain. Asks name servers for the record, then calls the host. It is asked for every six hours besides. Needs `Organization.Update`. */
  checkCustomDomain(organizationId: string, options: { idempotencyKey?: string } = {}): Promise<models.CustomDomain> {
    return this.transport.send("POST", `/organization/${segment(organizationId)}/domain/check`, options);
  }

  /** Get Identity Provider. Needs `Organization.Read`. */
  getIdentityProvider(organizationId: string): Promise<models.IdentityProvider> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}/identity`);
  }

  /** Set Identity Provider. Only an owner does. Nobody logs in before a check has found the provider. Without `client_secret` the stored one is kept while `issuer` stays. Another issuer ends the sessions that the one before opened. Needs `Organization.Update`. */
  setIdentityProvider(organizationId: string, body: models.IdentityProviderRequest, options: { ifMatch?: string } = {}): Promise<models.IdentityProvider> {
    return this.transport.send("PUT", `/organization/${segment(organizationId)}/identity`, options, body);
  }

  /** Remove Identity Provider. Only an owner does. Nobody logs in through it any more, and the sessions that it opened end. Needs `Organization.Update`. */
  removeIdentityProvider(organizationId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/organization/${segment(organizationId)}/identity`, options);
  }

  /** Check Identity Provider. Only an owner does. Reads the provider's document, and tells in `problem` where that failed. Needs `Organization.Update`. */
  checkIdentityProvider(organizationId: string, options: { idempotencyKey?: string } = {}): Promise<models.IdentityProvider> {
    return this.transport.send("POST", `/organization/${segment(organizationId)}/identity/check`, options);
  }

  /** Get Login Policy. Needs `Organization.Read`. */
  getLoginPolicy(organizationId: string): Promise<models.LoginPolicy> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}/login`);
  }

  /** Set Login Policy. Only an owner does. It holds at once, for open sessions too. Owners may use a password with a second factor although `requires_provider`. `token_networks` without the address of this request is refused. Needs `Organization.Update`. */
  setLoginPolicy(organizationId: string, body?: models.LoginPolicyRequest, options: { ifMatch?: string } = {}): Promise<models.LoginPolicy> {
    return this.transport.send("PUT", `/organization/${segment(organizationId)}/login`, options, body);
  }

  /** Get Retention. Needs `Organization.Read`. */
  getRetention(organizationId: string): Promise<models.Retention> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}/retention`);
  }

  /** Update Retention. A worker acts by it within a day. Try it with `/preview` first: what was removed does not come back. Needs `Organization.Update`. */
  updateRetention(organizationId: string, body?: models.RetentionUpdate, options: { ifMatch?: string } = {}): Promise<models.Retention> {
    return this.transport.send("PATCH", `/organization/${segment(organizationId)}/retention`, options, body);
  }

  /** Get all legal holds. Only for callers that reach the whole organization. Needs `Organization.Read`. */
  listLegalHolds(organizationId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.LegalHold> {
    return this.transport.pages(`/organization/${segment(organizationId)}/retention/hold`, options);
  }

  /** Create Legal Hold. Nothing of it is removed by age, and a person under a hold cannot be erased, until it is lifted. Needs `Organization.Update`. */
  createLegalHold(organizationId: string, body: models.LegalHoldRequest, options: { idempotencyKey?: string } = {}): Promise<models.LegalHold> {
    return this.transport.send("POST", `/organization/${segment(organizationId)}/retention/hold`, options, body);
  }

  /** Get Legal Hold. Needs `Organization.Read`. */
  getLegalHold(organizationId: string, holdId: string): Promise<models.LegalHold> {
    return this.transport.send("GET", `/organization/${segment(organizationId)}/retention/hold/${segment(holdId)}`);
  }

  /** Lift Legal Hold. Needs `Organization.Update`. */
  liftLegalHold(organizationId: string, holdId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/organization/${segment(organizationId)}/retention/hold/${segment(holdId)}`, options);
  }

  /** Try retention periods before they are saved. Nothing is stored. Periods that are not named are those of now. Counting ends at 10,000 for each kind. What a legal hold keeps is not counted. Needs `Organization.Read`. */
  previewRetention(organizationId: string, body?: models.RetentionUpdate, options: { idempotencyKey?: string } = {}): Promise<models.RetentionPreview> {
    return this.transport.send("POST", `/organization/${segment(organizationId)}/retention/preview`, options, body);
  }

  /** Get all retention runs. The ledger of what was removed by its age, for two years. Nothing in it says of whom it was. Needs `Organization.Read`. */
  listRetentionRuns(organizationId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.RetentionRun> {
    return this.transport.pages(`/organization/${segment(organizationId)}/retention/run`, options);
  }
}

/** Users. */
export class Users extends Family {
  /** Get all users. The people. Service accounts are listed only with a filter on `Service`. Needs `User.Read`. */
  listUsers(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.User> {
    return this.transport.pages(`/user`, options);
  }

  /** Invite User. Only an owner invites owners; a caller of some applications invites to these. With `service` it makes a service account, which is no person: it has a `display_name` in place of an address, tokens, and no log-in. Needs `User.Create`. */
  inviteUser(body: models.UserRequest, options: { idempotencyKey?: string } = {}): Promise<models.User> {
    return this.transport.send("POST", `/user`, options, body);
  }

  /** Get User. `me`: the token's own user, for which no scope is needed. Needs `User.Read`. */
  getUser(userId: string): Promise<models.UserAccess> {
    return this.transport.send("GET", `/user/${segment(userId)}`);
  }

  /** Update User. Of oneself (`me`) the profile alone, for which no scope is needed: not role, applications, activity. Needs `User.Update`. */
  updateUser(userId: string, body?: models.UserUpdate, options: { ifMatch?: string } = {}): Promise<models.User> {
    return this.transport.send("PATCH", `/user/${segment(userId)}`, options, body);
  }

  /** Remove User. The user leaves the organization, and their tokens end at once. `me`: the token's own user. Needs `User.Delete`. */
  removeUser(userId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/user/${segment(userId)}`, options);
  }

  /** Mail an invitation. The user opens the link and chooses a password for the console. Earlier links stop to work. Needs `User.Create`. */
  inviteUserByMail(userId: string, options: { idempotencyKey?: string } = {}): Promise<models.Invitation> {
    return this.transport.send("POST", `/user/${segment(userId)}/invitation`, options);
  }
}

/** Tokens. */
export class Tokens extends Family {
  /** Get all tokens. Needs `Token.Read`. */
  listTokens(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Token> {
    return this.transport.pages(`/token`, options);
  }

  /** Create Token. Scopes and applications within those that the caller holds. The answer alone shows `token`. Repeated with its `Idempotency-Key` the answer has null in `token`. Needs `Token.Create`. */
  makeToken(body: models.TokenRequest, options: { idempotencyKey?: string } = {}): Promise<models.Token> {
    return this.transport.send("POST", `/token`, options, body);
  }

  /** Get Token. Needs `Token.Read`. */
  getToken(tokenId: string): Promise<models.Token> {
    return this.transport.send("GET", `/token/${segment(tokenId)}`);
  }

  /** Update Token. Its title or its networks. Networks within those that the caller has itself. Needs `Token.Update`. */
  updateToken(tokenId: string, body?: models.TokenUpdate, options: { ifMatch?: string } = {}): Promise<models.Token> {
    return this.transport.send("PATCH", `/token/${segment(tokenId)}`, options, body);
  }

  /** Revoke Token. It ends at once and stays in the list with its `revoked_time`. Needs `Token.Delete`. */
  revokeToken(tokenId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/token/${segment(tokenId)}`, options);
  }

  /** Rotate Token. A new token with the rights of the old one, which ends `overlap_hours` later. Repeated with its `Idempotency-Key` the answer has null in `token`. Needs `Token.Create`. */
  rotateToken(tokenId: string, body?: models.RotationRequest, options: { idempotencyKey?: string } = {}): Promise<models.Token> {
    return this.transport.send("POST", `/token/${segment(tokenId)}/rotation`, options, body);
  }
}

/** Plans. */
export class Plans extends Family {
  /** Get all plans. An organization without a plan is unlimited. Needs `Plan.Read`. */
  listPlans(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Plan> {
    return this.transport.pages(`/plan`, options);
  }
}

/** Audit. */
export class Audit extends Family {
  /** Get the audit log. Newest first: changes with their author, log-ins and failed ones, readings of a person, downloads. Filter by `ActorId`, `Action`, `ThingKind`, `ThingId`, `CreatedTime`. Kept two years; entries cannot be changed. Needs `Audit.Read`. */
  listAuditEntries(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AuditEntry> {
    return this.transport.pages(`/audit`, options);
  }

  /** Get the audit log as a file. The newest 100,000 entries that match, as CSV or one JSON object a line, with the members of the list. The first entry is the download itself. Needs `Audit.Read`. */
  getAuditFile(options: { format?: "csv" | "jsonl"; actor_id?: string | null; action?: string | null; thing_kind?: string | null; thing_id?: string | null; from_time?: string | null; to_time?: string | null } = {}): AsyncGenerator<Uint8Array> {
    return this.transport.stream(`/audit/file`, options);
  }
}

/** Questionnaires. */
export class Questionnaires extends Family {
  /** Get all questionnaires. Needs `Questionnaire.Read`. */
  listQuestionnaires(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Questionnaire> {
    return this.transport.pages(`/q/questionnaire`, options);
  }

  /** Create questionnaire. With an empty draft, or with what `template_questionnaire_id`, `library_name` or `file` asks; nothing can be issued before a version is published. Needs `Questionnaire.Create`. */
  createQuestionnaire(body: models.QuestionnaireRequest, options: { idempotencyKey?: string } = {}): Promise<models.Questionnaire> {
    return this.transport.send("POST", `/q/questionnaire`, options, body);
  }

  /** Get Questionnaire. Needs `Questionnaire.Read`. */
  getQuestionnaire(questionnaireId: string): Promise<models.Questionnaire> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}`);
  }

  /** Update questionnaire. Its owner and default locale stay; what it asks changes with a new version. Needs `Questionnaire.Update`. */
  changeQuestionnaire(questionnaireId: string, body?: models.QuestionnaireUpdate, options: { ifMatch?: string } = {}): Promise<models.Questionnaire> {
    return this.transport.send("PATCH", `/q/questionnaire/${segment(questionnaireId)}`, options, body);
  }

  /** Archive questionnaire. Nothing more is issued, sent or answered; it and its answers stay to be read, with `archived_time`. Needs `Questionnaire.Delete`. */
  archiveQuestionnaire(questionnaireId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/questionnaire/${segment(questionnaireId)}`, options);
  }

  /** Import questionnaire of another system. A file of LimeSurvey (.lss, .txt), Qualtrics (.qsf), Typeform (.json), Formbricks (.json), SurveyJS (.json), XLSForm (.xlsx), at most 5,000,000 bytes; its content tells which. It becomes the draft of a new questionnaire; `lines` tell what was taken, what was taken differently and what was left out, and why. Needs `Questionnaire.Create`. */
  importQuestionnaire(body: string, options: { owner_application_id?: string | null; display_name?: string; dry_run?: boolean; idempotencyKey?: string } = {}): Promise<models.QuestionnaireImport> {
    return this.transport.send("POST", `/q/questionnaire/import`, options, body);
  }

  /** Get questionnaire as a file. The YAML file of its draft, or of its published version. `file` of a new questionnaire takes it. `format` gives a file for another system. Needs `Questionnaire.Read`. */
  getQuestionnaireFile(questionnaireId: string, options: { format?: "afterword" | "limesurvey" | "surveyjs" } = {}): Promise<Record<string, unknown>> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/file`, options);
  }

  /** Get what a questionnaire file cannot hold. The things that the file for another system lacks, or has differently, and why. Needs `Questionnaire.Read`. */
  getQuestionnaireFileReport(questionnaireId: string, options: { format?: "limesurvey" | "surveyjs" } = {}): Promise<models.QuestionnaireFileReport> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/file/report`, options);
  }

  /** Get all questionnaires of the library. Each with a note why it is built as it is; `POST /q/questionnaire` takes its `library_name`. Needs `Questionnaire.Read`. */
  listLibrary(options: { limit?: number } = {}): AsyncGenerator<models.LibraryEntry> {
    return this.transport.pages(`/library`, options);
  }

  /** Get questionnaire of the library. A copy has ids of its own. Needs `Questionnaire.Read`. */
  getFromLibrary(libraryName: string): Promise<models.LibraryQuestionnaire> {
    return this.transport.send("GET", `/library/${segment(libraryName)}`);
  }

  /** Get draft. Needs `Questionnaire.Read`. */
  getDraft(questionnaireId: string): Promise<models.Draft> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/draft`);
  }

  /** Save draft. The whole definition. Groups, questions and rows without an id are given one; those that come back keep theirs. What is wrong stands in `problems` and does not keep the draft from being saved. 201 where there was none. Needs `Questionnaire.Update`. */
  saveDraft(questionnaireId: string, body: models.Definition, options: { ifMatch?: string } = {}): Promise<models.Draft> {
    return this.transport.send("PUT", `/q/questionnaire/${segment(questionnaireId)}/draft`, options, body);
  }

  /** Discard draft. The published version stays as it is; a new draft may begin with its definition. Needs `Questionnaire.Update`. */
  discardDraft(questionnaireId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/questionnaire/${segment(questionnaireId)}/draft`, options);
  }

  /** Begin draft anew from a version. The draft gets the definition of this version, whatever it had; `If-Match` refuses it where somebody else saved meanwhile. Nothing is published. 201 where there was no draft. Needs `Questionnaire.Update`. */
  beginDraftAnew(questionnaireId: string, versionId: string, options: { idempotencyKey?: string } = {}): Promise<models.Draft> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/draft/from/${segment(versionId)}`, options);
  }

  /** Validate definition. Nothing is saved. Metadata that jumps ask for may be any: they belong to an application. Needs `Questionnaire.Read`. */
  validateDefinition(body: models.Definition, options: { idempotencyKey?: string } = {}): Promise<models.Validation> {
    return this.transport.send("POST", `/q/questionnaire/validation`, options, body);
  }

  /** Compare versions. Each change from the first version to the second, in a sentence and in members. `draft` in place of the second id compares with the draft, as far as it can be read. Needs `Questionnaire Version.Read` and `Questionnaire.Read`. */
  compareVersions(questionnaireId: string, versionId: string, comparedId: string): Promise<models.VersionDifference> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/version/${segment(versionId)}/diff/${segment(comparedId)}`);
  }

  /** Get translations of draft. Also for a language that the draft does not have yet. Needs `Questionnaire.Read`. */
  getTranslations(questionnaireId: string, options: { locale?: string | null } = {}): Promise<models.Translations> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/draft/translations`, options);
  }

  /** Save translations of draft. By their keys; a translation that comes back as it was is confirmed. Keys that no text has any more are in `unknown_keys`. A language that the draft does not have yet is added. Needs `Questionnaire.Update`. */
  saveTranslations(questionnaireId: string, body: models.TranslationsRequest, options: { ifMatch?: string } = {}): Promise<models.Translations> {
    return this.transport.send("PUT", `/q/questionnaire/${segment(questionnaireId)}/draft/translations`, options, body);
  }

  /** Get translations of draft as a file. CSV, or XLIFF 1.2 for the tools of translators, with the state of each text. Needs `Questionnaire.Read`. */
  getTranslationsFile(questionnaireId: string, options: { locale?: string | null; format?: "csv" | "xliff" } = {}): AsyncGenerator<Uint8Array> {
    return this.transport.stream(`/q/questionnaire/${segment(questionnaireId)}/draft/translations/file`, options);
  }

  /** Save translations of draft from a file. A file as it was given out, with its targets filled in; those that are empty stay as they are. Where the text was changed since, its translation is saved and stays marked. Needs `Questionnaire.Update`. */
  saveTranslationsFile(questionnaireId: string, body: Uint8Array<ArrayBuffer>, options: { locale?: string | null; idempotencyKey?: string } = {}): Promise<models.Translations> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/draft/translations/file`, options, body, "text/csv");
  }

  /** Get all questionnaire versions. Needs `Questionnaire Version.Read`. */
  listVersions(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QuestionnaireVersion> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/version`, options);
  }

  /** Publish draft. The draft's errors refuse it, with pointers into the draft. One that says what the published version says makes no version: 200 and the published one. Needs `Questionnaire Version.Create`. */
  publishDraft(questionnaireId: string, body?: models.PublicationRequest, options: { idempotencyKey?: string } = {}): Promise<models.QuestionnaireVersion> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/version`, options, body);
  }

  /** Get questionnaire version. Needs `Questionnaire Version.Read`. */
  getVersion(questionnaireId: string, versionId: string): Promise<models.QuestionnaireVersion> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/version/${segment(versionId)}`);
  }

  /** Get quotas of a questionnaire. Those of the published version. A response counts once it is complete, with the answers that it has then; tests, and those held back or rejected, do not. Needs `Questionnaire.Read`. */
  listQuotas(questionnaireId: string, options: { limit?: number } = {}): AsyncGenerator<models.Quota> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/quota`, options);
  }

  /** Get anonymity of a questionnaire. Set it with `anonymous` in the draft. Instances keep that of the version with which they were issued. Needs `Questionnaire.Read`. */
  getAnonymity(questionnaireId: string): Promise<models.Anonymity> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/anonymity`);
  }

  /** Preview draft. The answer page of the draft as it stands whenever the address is opened, for an hour. Nothing is stored and nothing counted. `responder_id` needs `Responder.Read`. `brand` is shown in place of the stored one of `brand_level`, to look at it before it is saved. Needs `Questionnaire.Read`. */
  previewDraft(questionnaireId: string, body?: models.DraftPreviewRequest, options: { idempotencyKey?: string } = {}): Promise<models.DraftPreview> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/draft/preview`, options, body);
  }
}

/** Questionnaire Groups. */
export class QuestionnaireGroups extends Family {
  /** Get all questionnaire groups. Those of the published version, in order; before the first publication those of the draft. Needs `Questionnaire Group.Read`. */
  listGroups(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Group> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/group`, options);
  }

  /** Get Questionnaire Group. Needs `Questionnaire Group.Read`. */
  getGroup(questionnaireId: string, groupId: string): Promise<models.Group> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/group/${segment(groupId)}`);
  }
}

/** Questions. */
export class Questions extends Family {
  /** Get all group questions. Needs `Question.Read`. */
  listQuestions(questionnaireId: string, groupId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Question> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/group/${segment(groupId)}/question`, options);
  }

  /** Get Question. Needs `Question.Read`. */
  getQuestion(questionnaireId: string, questionId: string): Promise<models.Question> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/question/${segment(questionId)}`);
  }

  /** Get Question Response Content. Needs `Questionnaire Instance.Read`. */
  listQuestionAnswers(questionnaireId: string, questionId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ResponseAnswer> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/question/${segment(questionId)}/response/content`, options);
  }

  /** Get uses of a question. In the draft, else the published version; and the alerts, sequences and saved reports that name it, each kind with the scope of its list: Alert.Read, Sequence.Read, Report.Read. At most 200. Needs `Question.Read`. */
  listUses(questionnaireId: string, questionId: string, options: { limit?: number } = {}): AsyncGenerator<models.QuestionUse> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/question/${segment(questionId)}/use`, options);
  }
}

/** Questionnaire Visuals. */
export class QuestionnaireVisuals extends Family {
  /** Get all questionnaire visuals. Needs `Questionnaire Visual.Read`. */
  listVisuals(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Visual> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/visual`, options);
  }

  /** Create questionnaire visual. An active one ends the other. Of `configuration` pages read `color_primary`, `color_background`, `color_text` (of a contrast of 4.5:1), `logo`, `font`, `corner_radius`, `density`, `layout` and `show_progress`. Other keys, and values that cannot be used, are kept as they were sent, and `problems` names them. Needs `Questionnaire Visual.Create`. */
  createVisual(questionnaireId: string, body: models.VisualRequest, options: { idempotencyKey?: string } = {}): Promise<models.Visual> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/visual`, options, body);
  }

  /** Get questionnaire visual. Needs `Questionnaire Visual.Read`. */
  getVisual(questionnaireId: string, visualId: string): Promise<models.Visual> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/visual/${segment(visualId)}`);
  }

  /** Update questionnaire visual. `configuration` is replaced as a whole; activating it ends the other. Of `configuration` pages read `color_primary`, `color_background`, `color_text` (of a contrast of 4.5:1), `logo`, `font`, `corner_radius`, `density`, `layout` and `show_progress`. Other keys, and values that cannot be used, are kept as they were sent, and `problems` names them. Needs `Questionnaire Visual.Update`. */
  changeVisual(questionnaireId: string, visualId: string, body?: models.VisualUpdate, options: { ifMatch?: string } = {}): Promise<models.Visual> {
    return this.transport.send("PATCH", `/q/questionnaire/${segment(questionnaireId)}/visual/${segment(visualId)}`, options, body);
  }

  /** Delete questionnaire visual. Needs `Questionnaire Visual.Delete`. */
  deleteVisual(questionnaireId: string, visualId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/questionnaire/${segment(questionnaireId)}/visual/${segment(visualId)}`, options);
  }

  /** Get Questionnaire Theme. The look after inheritance: of the organization, the application, and the active visual. Needs `Questionnaire Visual.Read`. */
  getTheme(questionnaireId: string): Promise<models.Theme> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/theme`);
  }
}

/** Assets. */
export class Assets extends Family {
  /** Get all assets. Needs `Asset.Read`. */
  listAssets(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Asset> {
    return this.transport.pages(`/asset`, options);
  }

  /** Create Asset. A picture, or a form with the picture in it. It is encoded again: upright, at most 1,600 pixels a side, without metadata such as the place where it was taken, of an animation the first frame. At most 26 million pixels are read. One that is there already is answered as it is. Needs `Asset.Create`. */
  createAsset(body: Uint8Array<ArrayBuffer>, options: { side_max?: number; idempotencyKey?: string } = {}): Promise<models.Asset> {
    return this.transport.send("POST", `/asset`, options, body, "image/png");
  }

  /** Get Asset. Needs `Asset.Read`. */
  getAsset(assetId: string): Promise<models.Asset> {
    return this.transport.send("GET", `/asset/${segment(assetId)}`);
  }

  /** Delete Asset. Refused while something uses it. Browsers and mail programs may keep what they loaded. Needs `Asset.Delete`. */
  deleteAsset(assetId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/asset/${segment(assetId)}`, options);
  }
}

/** Metadata. */
export class Metadata extends Family {
  /** Get all questionnaire metadata definitions. Needs `Metadata.Read`. */
  listQuestionnaireMetadata(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.MetadataDefinition> {
    return this.transport.pages(`/q/metadata/questionnaire`, options);
  }

  /** Declare questionnaire metadata. The level `application` wants an `application_id`, `application_type` an `application_type_id`, `organization` neither. Of one name the narrowest definition decides. Needs `Metadata.Create`. */
  declareQuestionnaireMetadata(body: models.MetadataDefinitionRequest, options: { idempotencyKey?: string } = {}): Promise<models.MetadataDefinition> {
    return this.transport.send("POST", `/q/metadata/questionnaire`, options, body);
  }

  /** Get questionnaire metadata definition. Needs `Metadata.Read`. */
  getQuestionnaireMetadata(metadataId: string): Promise<models.MetadataDefinition> {
    return this.transport.send("GET", `/q/metadata/questionnaire/${segment(metadataId)}`);
  }

  /** Update questionnaire metadata definition. Needs `Metadata.Update`. */
  changeQuestionnaireMetadata(metadataId: string, body?: models.MetadataDefinitionUpdate, options: { ifMatch?: string } = {}): Promise<models.MetadataDefinition> {
    return this.transport.send("PATCH", `/q/metadata/questionnaire/${segment(metadataId)}`, options, body);
  }

  /** Delete questionnaire metadata definition. Values of the name stay; they are undeclared from now on. Needs `Metadata.Delete`. */
  deleteQuestionnaireMetadata(metadataId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/metadata/questionnaire/${segment(metadataId)}`, options);
  }

  /** Get all responder metadata definitions. Needs `Metadata.Read`. */
  listResponderMetadata(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.MetadataDefinition> {
    return this.transport.pages(`/q/metadata/responder`, options);
  }

  /** Declare responder metadata. The level `application` wants an `application_id`, `application_type` an `application_type_id`, `organization` neither. Of one name the narrowest definition decides. Needs `Metadata.Create`. */
  declareResponderMetadata(body: models.MetadataDefinitionRequest, options: { idempotencyKey?: string } = {}): Promise<models.MetadataDefinition> {
    return this.transport.send("POST", `/q/metadata/responder`, options, body);
  }

  /** Get responder metadata definition. Needs `Metadata.Read`. */
  getResponderMetadata(metadataId: string): Promise<models.MetadataDefinition> {
    return this.transport.send("GET", `/q/metadata/responder/${segment(metadataId)}`);
  }

  /** Update responder metadata definition. Needs `Metadata.Update`. */
  changeResponderMetadata(metadataId: string, body?: models.MetadataDefinitionUpdate, options: { ifMatch?: string } = {}): Promise<models.MetadataDefinition> {
    return this.transport.send("PATCH", `/q/metadata/responder/${segment(metadataId)}`, options, body);
  }

  /** Delete responder metadata definition. Values of the name stay; they are undeclared from now on. Needs `Metadata.Delete`. */
  deleteResponderMetadata(metadataId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/metadata/responder/${segment(metadataId)}`, options);
  }

  /** Get questionnaire metadata seen lately. The names that the newest 1,000 instances have, by name, with the 20 most frequent values of each: to see what a system sends, and which names nobody declared. Needs `Metadata.Read` and `Questionnaire Value.Read`. */
  listSeenOfQuestionnaires(options: { limit?: number } = {}): AsyncGenerator<models.SeenMetadata> {
    return this.transport.pages(`/q/metadata/seen/questionnaire`, options);
  }

  /** Get responder metadata seen lately. The names that the newest 1,000 responders have, by name, with the 20 most frequent values of each: to see what a system sends, and which names nobody declared. Needs `Metadata.Read` and `Responder Value.Read`. */
  listSeenOfResponders(options: { limit?: number } = {}): AsyncGenerator<models.SeenMetadata> {
    return this.transport.pages(`/q/metadata/seen/responder`, options);
  }
}

/** Questionnaire Instances. */
export class QuestionnaireInstances extends Family {
  /** Get Questionnaire Instance List by questionnaire id. Needs `Questionnaire Instance.Read`. */
  listQuestionnaireInstances(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QuestionnaireInstance> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/instance`, options);
  }

  /** Create new questionnaire instance. With a `reference_id` that has an instance already: 200 and that one, unchanged. Needs `Questionnaire Instance.Create`. */
  issueInstance(questionnaireId: string, body?: models.InstanceRequest, options: { idempotencyKey?: string } = {}): Promise<models.QuestionnaireInstance> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/instance`, options, body);
  }

  /** Get Questionnaire Instance List with its children. Children were issued because of the instance, by a sequence: at most 100 each, 5 generations down. Needs `Questionnaire Instance.Read`. */
  listInstancesWithChildren(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.InstanceWithChildren> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/instance/children`, options);
  }

  /** Test conditions. Tries conditions on a past response of the questionnaire; nothing is kept. Needs `Questionnaire Instance.Read`. */
  tryConditions(questionnaireId: string, body: models.ConditionTest, options: { idempotencyKey?: string } = {}): Promise<models.ConditionTestResult> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/condition/test`, options, body);
  }

  /** Get Questionnaire Value List by questionnaire id. Needs `Questionnaire Value.Read`. */
  listQuestionnaireValues(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QuestionnaireValue> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/value`, options);
  }

  /** Get Questionnaire Value List by instance id. Needs `Questionnaire Value.Read`. */
  listInstanceValues(instanceId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QuestionnaireValue> {
    return this.transport.pages(`/q/instance/${segment(instanceId)}/value`, options);
  }

  /** Get Responder Value List by questionnaire id. Needs `Responder Value.Read`. */
  listQuestionnaireResponderValues(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ResponderValue> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/responder/value`, options);
  }

  /** Get Responder Value List by responder id. Needs `Responder Value.Read`. */
  listResponderValues(responderId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ResponderValue> {
    return this.transport.pages(`/q/responder/${segment(responderId)}/value`, options);
  }
}

/** Questionnaire Instances - Simplified. */
export class QuestionnaireInstancesSimplified extends Family {
  /** Get Questionnaire Instance List by Organization. Needs `Questionnaire Instance.Read`. */
  listOrganizationInstances(organizationId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QuestionnaireInstance> {
    return this.transport.pages(`/q/organization/${segment(organizationId)}/instance`, options);
  }

  /** Get Questionnaire Instance List. Needs `Questionnaire Instance.Read`. */
  listInstances(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QuestionnaireInstance> {
    return this.transport.pages(`/q/instance`, options);
  }

  /** Get Questionnaire Instance. Needs `Questionnaire Instance.Read`. */
  getInstance(instanceId: string): Promise<models.QuestionnaireInstance> {
    return this.transport.send("GET", `/q/instance/${segment(instanceId)}`);
  }

  /** Update Questionnaire Instance. In every state; only what the body names. Metadata is merged by name, null or empty text removes. Needs `Questionnaire Instance.Update`. */
  updateInstance(instanceId: string, body?: models.InstanceUpdate, options: { ifMatch?: string } = {}): Promise<models.QuestionnaireInstance> {
    return this.transport.send("PATCH", `/q/instance/${segment(instanceId)}`, options, body);
  }

  /** Delete Questionnaire Instance. Needs `Questionnaire Instance.Delete`. */
  deleteInstance(instanceId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/instance/${segment(instanceId)}`, options);
  }

  /** Get Questionnaire Instance Url. Needs `Questionnaire Instance.Read`. */
  getInstanceUrl(instanceId: string): Promise<models.InstanceUrl> {
    return this.transport.send("GET", `/q/instance/${segment(instanceId)}/url`);
  }

  /** Get Questionnaire Instance Content. Needs `Questionnaire Instance.Read`. */
  getInstanceContent(instanceId: string): Promise<models.InstanceContent> {
    return this.transport.send("GET", `/q/instance/${segment(instanceId)}/content`);
  }

  /** Get Questionnaire Instance Response Content. Values of metadata need Questionnaire Value.Read and Responder Value.Read, else their maps are empty. Needs `Questionnaire Instance.Read`. */
  getResponseContent(instanceId: string): Promise<models.ResponseContent> {
    return this.transport.send("GET", `/q/instance/${segment(instanceId)}/response/content`);
  }

  /** Get file of a response. A file that answers a question of the type `file`; `value` of the answer lists its `file_id`. People sent it: its kind was checked by its content, and pictures were encoded again, but open it as you would any attachment. The audit log notes who took it. Needs `Questionnaire Instance.Read`. */
  getFile(instanceId: string, fileId: string): AsyncGenerator<Uint8Array> {
    return this.transport.stream(`/q/instance/${segment(instanceId)}/file/${segment(fileId)}`);
  }
}

/** Tags. */
export class Tags extends Family {
  /** Get all tags. Needs `Tag.Read`. */
  listTags(instanceId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Tag> {
    return this.transport.pages(`/q/instance/${segment(instanceId)}/tag`, options);
  }

  /** Add tag. Trimmed and in lower case; one that is there already stays as it is. At most 50 an instance. Needs `Tag.Create`. */
  addTag(instanceId: string, body: models.TagRequest, options: { idempotencyKey?: string } = {}): Promise<models.Tag> {
    return this.transport.send("POST", `/q/instance/${segment(instanceId)}/tag`, options, body);
  }

  /** Remove tag. Needs `Tag.Delete`. */
  removeTag(instanceId: string, tag: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/instance/${segment(instanceId)}/tag/${segment(tag)}`, options);
  }
}

/** Responders. */
export class Responders extends Family {
  /** Get all responders. With `search`: those with an address that is this or begins like this; those with values in which its words begin words, in any case and without accents (Responder Value.Read); and those of items whose `external_reference` it is (Queue.Read). Of very many the first 10,000. Needs `Responder.Read`. */
  listResponders(options: { search?: string | null; filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Responder> {
    return this.transport.pages(`/q/responder`, options);
  }

  /** Create a responder. `email` and `phone_number` of the metadata are the addresses. 200 with the person who has one of them: the metadata are merged, a locale that is there stays. Whoever is sent something is created without this. Needs `Responder.Create`. */
  createResponder(body: models.ResponderRequest, options: { idempotencyKey?: string } = {}): Promise<models.Responder> {
    return this.transport.send("POST", `/q/responder`, options, body);
  }

  /** Get responder count. The same filters as the list. With `search`: those with an address that is this or begins like this; those with values in which its words begin words, in any case and without accents (Responder Value.Read); and those of items whose `external_reference` it is (Queue.Read). Of very many the first 10,000. Needs `Responder.Read`. */
  countResponders(options: { search?: string | null } = {}): Promise<models.ResponderCount> {
    return this.transport.send("GET", `/q/responder/count`, options);
  }

  /** Get Responder. Needs `Responder.Read`. */
  getResponder(responderId: string): Promise<models.Responder> {
    return this.transport.send("GET", `/q/responder/${segment(responderId)}`);
  }

  /** Update Responder. Only what the body names. Metadata is merged by name, null or empty text removes; read it at /value. Needs `Responder.Update`. */
  updateResponder(responderId: string, body?: models.ResponderUpdate, options: { ifMatch?: string } = {}): Promise<models.Responder> {
    return this.transport.send("PATCH", `/q/responder/${segment(responderId)}`, options, body);
  }

  /** Get the timeline of a responder. What was sent, is planned, or was not sent and why; answers; cases, with Alert Instance.Read; suppressions. The newest first. Needs `Responder.Read` and `Questionnaire Instance.Read` and `Queue.Read`. */
  listTimeline(responderId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.TimelineEntry> {
    return this.transport.pages(`/q/responder/${segment(responderId)}/timeline`, options);
  }

  /** Get all that is held on a responder. One document for a request of access, as JSON or as a page to read: `responder`, `values`, `queue_items`, `instances`, `responses`, `tags`, `alert_instances`, `alert_comments`, `alert_messages`, `suppressions`, `generated_time`. Answers show their question as it stood, so a consent has its text, version and time. Items and instances that were deleted have their `deleted_time`. Events repeat these and are left out. Only for callers that reach the whole organization. Needs `Responder.Read` and `Responder Value.Read` and `Questionnaire Instance.Read`. */
  getSubject(responderId: string, options: { format?: "html" | "json" } = {}): Promise<Record<string, unknown>> {
    return this.transport.send("GET", `/q/responder/${segment(responderId)}/subject`, options);
  }

  /** Erase a person. What waits for the person is cancelled, then everything that is held is taken out, in the background. With `anonymize` scores stay in the counts, without person or text; with `erase` the responses go as well. With `suppress` a keyed hash of the addresses stays, so that the person is not asked again. While an erasure of the person runs, 409. Needs `Responder.Delete`. */
  eraseResponder(responderId: string, body?: models.ErasureRequest, options: { idempotencyKey?: string } = {}): Promise<models.Erasure> {
    return this.transport.send("POST", `/q/responder/${segment(responderId)}/erasure`, options, body);
  }

  /** Get an erasure. It stays when the person is gone; nothing in it says who that was. Needs `Responder.Read`. */
  getErasure(erasureId: string): Promise<models.Erasure> {
    return this.transport.send("GET", `/q/responder/erasure/${segment(erasureId)}`);
  }
}

/** Coupons. */
export class Coupons extends Family {
  /** Get all coupon pools. Needs `Coupon Pool.Read`. */
  listPools(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.CouponPool> {
    return this.transport.pages(`/coupon/pool`, options);
  }

  /** Create a coupon pool. Needs `Coupon Pool.Create`. */
  createPool(body: models.CouponPoolRequest, options: { idempotencyKey?: string } = {}): Promise<models.CouponPool> {
    return this.transport.send("POST", `/coupon/pool`, options, body);
  }

  /** Get a coupon pool. Needs `Coupon Pool.Read`. */
  getPool(poolId: string): Promise<models.CouponPool> {
    return this.transport.send("GET", `/coupon/pool/${segment(poolId)}`);
  }

  /** Change a coupon pool. Needs `Coupon Pool.Update`. */
  changePool(poolId: string, body?: models.CouponPoolUpdate, options: { ifMatch?: string } = {}): Promise<models.CouponPool> {
    return this.transport.send("PATCH", `/coupon/pool/${segment(poolId)}`, options, body);
  }

  /** Remove a coupon pool. With its free codes. Refused once a customer has a code of it; withdraw the free ones instead. Needs `Coupon Pool.Delete`. */
  deletePool(poolId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/coupon/pool/${segment(poolId)}`, options);
  }

  /** Get all codes of a coupon pool. Codes are worth money, and the list says who has which. Needs `Coupon Pool.Read` and `Responder.Read`. */
  listCodes(poolId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.CouponCode> {
    return this.transport.pages(`/coupon/pool/${segment(poolId)}/code`, options);
  }

  /** Add codes to a pool. Needs `Coupon Pool.Update`. */
  addCodes(poolId: string, body: models.CouponCodes, options: { idempotencyKey?: string } = {}): Promise<models.AddedCodes> {
    return this.transport.send("POST", `/coupon/pool/${segment(poolId)}/code`, options, body);
  }

  /** Withdraw the free codes of a coupon pool. Nobody gets them any more. Codes that customers have stay. Needs `Coupon Pool.Update`. */
  withdrawCodes(poolId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/coupon/pool/${segment(poolId)}/code`, options);
  }
}

/** Public links. */
export class PublicLinks extends Family {
  /** Get all public links of a questionnaire. Needs `Public Link.Read`. */
  listQuestionnaireLinks(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.PublicLink> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/link`, options);
  }

  /** Create a public link. Anybody who has its `url` may answer the published version. `metadata` are stored with each response; `parameters` names what the address may give besides, of declared names alone. With `takes_reference` the key of an order can stand behind the address (`…/ref/1042`). Needs `Public Link.Create`. */
  createLink(questionnaireId: string, body: models.PublicLinkRequest, options: { idempotencyKey?: string } = {}): Promise<models.PublicLink> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/link`, options, body);
  }

  /** Get all public links. Needs `Public Link.Read`. */
  listLinks(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.PublicLink> {
    return this.transport.pages(`/q/link`, options);
  }

  /** Get a public link. Needs `Public Link.Read`. */
  getLink(linkId: string): Promise<models.PublicLink> {
    return this.transport.send("GET", `/q/link/${segment(linkId)}`);
  }

  /** Change a public link. `active` false closes it at once. `metadata` and `parameters` are replaced as a whole. Needs `Public Link.Update`. */
  changeLink(linkId: string, body?: models.PublicLinkUpdate, options: { ifMatch?: string } = {}): Promise<models.PublicLink> {
    return this.transport.send("PATCH", `/q/link/${segment(linkId)}`, options, body);
  }

  /** Remove a public link. Refused once a response came by it; switch it off instead. Needs `Public Link.Delete`. */
  deleteLink(linkId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/link/${segment(linkId)}`, options);
  }

  /** Get the QR code of a public link. Its address as a picture, with the light around it that readers need. Needs `Public Link.Read`. */
  getLinkQr(linkId: string, options: { format?: "png" | "svg"; pixels?: number } = {}): AsyncGenerator<Uint8Array> {
    return this.transport.stream(`/q/link/${segment(linkId)}/qr`, options);
  }
}

/** Responses. */
export class Responses extends Family {
  /** Get all responses. Those of all questionnaires, the newest first. The case is the open one. Needs `Questionnaire Instance.Read`. */
  listResponses(options: { questionnaire_id?: string | null; application_id?: string | null; from_time?: string | null; to_time?: string | null; only?: "comment" | "unhappy" | null; band?: "detractor" | "passive" | "promoter" | null; score_kind?: "ces" | "csat" | "nps" | "rating" | "smileys" | null; tag?: string | null; channel_id?: number | null; link_id?: string | null; imported?: boolean | null; response_import_id?: string | null; search?: string | null; word?: string | null; test?: boolean; filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Response> {
    return this.transport.pages(`/q/response`, options);
  }

  /** Count responses. Counts by facet of the same filter, of the newest ten thousand responses. Needs `Questionnaire Instance.Read`. */
  countResponses(options: { questionnaire_id?: string | null; application_id?: string | null; from_time?: string | null; to_time?: string | null; only?: "comment" | "unhappy" | null; band?: "detractor" | "passive" | "promoter" | null; score_kind?: "ces" | "csat" | "nps" | "rating" | "smileys" | null; tag?: string | null; channel_id?: number | null; link_id?: string | null; imported?: boolean | null; response_import_id?: string | null; search?: string | null; word?: string | null; test?: boolean } = {}): Promise<models.ResponseCounts> {
    return this.transport.send("GET", `/q/response/count`, options);
  }

  /** Search responses. The filter of the list, and a condition. A page evaluates it for 1,000 responses at most. Needs `Questionnaire Instance.Read`. */
  searchResponses(body?: models.ResponseSearch, options: { idempotencyKey?: string } = {}): Promise<models.FoundResponses> {
    return this.transport.send("POST", `/q/response/search`, options, body);
  }

  /** Get all doubtful responses. `held` and `rejected` ones count nowhere, `accepted` and `marked` ones do. Needs `Questionnaire Instance.Read`. */
  listDoubtfulResponses(options: { state?: "accepted" | "held" | "marked" | "rejected"; flag?: "automated" | "burst" | "hidden_field" | "many_links" | "one_network" | "provisional" | "speeding" | "straight_lining" | "too_fast" | null; filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.DoubtfulResponse> {
    return this.transport.pages(`/q/response/doubtful`, options);
  }

  /** Accept or reject responses that were held back. Accepted ones count from now on, with their own times, and get the events of a response. Responses that were never held back stay as they are. Needs `Questionnaire Instance.Update`. */
  judgeResponses(body: models.JudgementRequest, options: { idempotencyKey?: string } = {}): Promise<models.JudgementResult> {
    return this.transport.send("POST", `/q/response/doubtful/judgement`, options, body);
  }

  /** Get all comment themes. Needs `Report.Read`. */
  listCommentThemes(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ResponseTheme> {
    return this.transport.pages(`/q/response/theme`, options);
  }

  /** Create new comment theme. Needs `Report.Create`. */
  createCommentTheme(body: models.ResponseThemeRequest, options: { idempotencyKey?: string } = {}): Promise<models.ResponseTheme> {
    return this.transport.send("POST", `/q/response/theme`, options, body);
  }

  /** Get Comment Theme. Needs `Report.Read`. */
  getCommentTheme(themeId: string): Promise<models.ResponseTheme> {
    return this.transport.send("GET", `/q/response/theme/${segment(themeId)}`);
  }

  /** Update Comment Theme. Needs `Report.Update`. */
  updateCommentTheme(themeId: string, body?: models.ResponseThemeUpdate, options: { ifMatch?: string } = {}): Promise<models.ResponseTheme> {
    return this.transport.send("PATCH", `/q/response/theme/${segment(themeId)}`, options, body);
  }

  /** Delete Comment Theme. Needs `Report.Delete`. */
  deleteCommentTheme(themeId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/response/theme/${segment(themeId)}`, options);
  }

  /** Count words of comments. Of the newest 2,000 comments with the filter. Words that say little, such as “the”, are left out. Needs `Questionnaire Instance.Read`. */
  countWords(options: { questionnaire_id?: string | null; application_id?: string | null; from_time?: string | null; to_time?: string | null; only?: "comment" | "unhappy" | null; band?: "detractor" | "passive" | "promoter" | null; score_kind?: "ces" | "csat" | "nps" | "rating" | "smileys" | null; tag?: string | null; channel_id?: number | null; link_id?: string | null; imported?: boolean | null; response_import_id?: string | null; search?: string | null; word?: string | null; test?: boolean; group_by?: string | null } = {}): Promise<models.CommentWords> {
    return this.transport.send("GET", `/q/response/word`, options);
  }

  /** Get the tags of the organization. Needs `Tag.Read`. */
  listOrganizationTags(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.CountedTag> {
    return this.transport.pages(`/tag`, options);
  }

  /** Rename a tag. On all responses, of which at most ten thousand have it. 409 where there is a tag of the new name. Needs `Tag.Update`. */
  renameTag(tag: string, body?: models.TagUpdate, options: { ifMatch?: string } = {}): Promise<models.CountedTag> {
    return this.transport.send("PATCH", `/tag/${segment(tag)}`, options, body);
  }

  /** Remove a tag from all responses. At most ten thousand. Workers go on with what the request left. Needs `Tag.Delete`. */
  deleteTag(tag: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/tag/${segment(tag)}`, options);
  }

  /** Tag responses. At most ten thousand, and no response gets more than fifty tags. Needs `Tag.Create`. */
  tagResponses(body: models.TaggingRequest, options: { idempotencyKey?: string } = {}): Promise<models.Tagging> {
    return this.transport.send("POST", `/q/response/tag`, options, body);
  }

  /** Get the progress of tagging. Needs `Tag.Read`. */
  getTagging(taggingId: string): Promise<models.Tagging> {
    return this.transport.send("GET", `/q/response/tag/${segment(taggingId)}`);
  }

  /** Undo tagging. Changes back what it changed, within thirty days; GET tells how far that has come. Needs `Tag.Create`. */
  undoTagging(taggingId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/response/tag/${segment(taggingId)}`, options);
  }

  /** Get all saved views of responses. The user's own, at most fifty, and those that others share. Needs `Questionnaire Instance.Read`. */
  listViews(options: { limit?: number } = {}): AsyncGenerator<models.ResponseView> {
    return this.transport.pages(`/q/response/view`, options);
  }

  /** Save a view of responses. For users alone: a token of the organization has no views. Needs `Questionnaire Instance.Read`. */
  saveView(body: models.ResponseViewRequest, options: { idempotencyKey?: string } = {}): Promise<models.ResponseView> {
    return this.transport.send("POST", `/q/response/view`, options, body);
  }

  /** Remove a saved view. Needs `Questionnaire Instance.Read`. */
  removeView(viewId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/response/view/${segment(viewId)}`, options);
  }

  /** Get imports of responses. One whose responses were removed is kept for thirty days. Needs `Questionnaire Instance.Read`. */
  listResponseImports(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ResponseImport> {
    return this.transport.pages(`/q/response/import`, options);
  }

  /** Open an import of responses. Needs `Questionnaire Instance.Create`. */
  openResponseImport(body: models.ResponseImportRequest, options: { idempotencyKey?: string } = {}): Promise<models.ResponseImport> {
    return this.transport.send("POST", `/q/response/import`, options, body);
  }

  /** Get an import of responses. Needs `Questionnaire Instance.Read`. */
  getResponseImport(responseImportId: string): Promise<models.ResponseImport> {
    return this.transport.send("GET", `/q/response/import/${segment(responseImportId)}`);
  }

  /** Rename or finish an import of responses. Needs `Questionnaire Instance.Update`. */
  finishResponseImport(responseImportId: string, body?: models.ResponseImportUpdate, options: { ifMatch?: string } = {}): Promise<models.ResponseImport> {
    return this.transport.send("PATCH", `/q/response/import/${segment(responseImportId)}`, options, body);
  }

  /** Remove all responses of an import. Workers remove them; GET tells how far that has come. People stay. Needs `Questionnaire Instance.Delete`. */
  removeResponseImport(responseImportId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/response/import/${segment(responseImportId)}`, options);
  }

  /** Import responses. A JSON array or lines of JSON, of responses that were given elsewhere; each row is checked alone. The same row again changes nothing; another one with its `external_id` is refused. No message, alert, webhook, sequence or credit follows from them. Needs `Questionnaire Instance.Create`. */
  importResponses(questionnaireId: string, body: Array<models.PastResponse>, options: { response_import_id?: string | null; dry_run?: boolean; idempotencyKey?: string } = {}): Promise<models.PastResponsesResult> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/response`, options, body);
  }
}

/** Queue. */
export class Queue extends Family {
  /** Queue Item List. Needs `Queue.Read`. */
  listItems(questionnaireId: string, pipelineId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QueueItem> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item`, options);
  }

  /** Create new queue item. Without `send_time`: the pipeline's delay from now, or from the date of its `delay_from`. A time in the past means due at once. A caller with a limit gives one of its values of questionnaire metadata. Needs `Queue.Create`. */
  scheduleItem(questionnaireId: string, pipelineId: string, body: models.QueueItemRequest, options: { idempotencyKey?: string } = {}): Promise<models.QueueItem> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item`, options, body);
  }

  /** Get Queue Item. Needs `Queue.Read`. */
  getItem(questionnaireId: string, pipelineId: string, itemId: string): Promise<models.QueueItem> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item/${segment(itemId)}`);
  }

  /** Update Queue Item. Only what the body names, while the item is Pending; a value equal to the stored one is no change. `status_id` 5 cancels, then nothing else of the body acts. Needs `Queue.Update`. */
  changeItem(questionnaireId: string, pipelineId: string, itemId: string, body?: models.QueueItemUpdate, options: { ifMatch?: string } = {}): Promise<models.QueueItem> {
    return this.transport.send("PATCH", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item/${segment(itemId)}`, options, body);
  }

  /** Delete Queue Item. Cancels the item where that is needed and possible. Needs `Queue.Delete`. */
  deleteItem(questionnaireId: string, pipelineId: string, itemId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item/${segment(itemId)}`, options);
  }

  /** Create queue items. A JSON array or lines of JSON; each row is checked alone, and a bad one spoils no other. A row whose `external_reference` a live item has is refused, or with `on_conflict` changes that item (which also needs `Queue.Update`) or is skipped. `atomic=1`: any refusal creates nothing. Needs `Queue.Create`. */
  scheduleBatch(questionnaireId: string, pipelineId: string, body: Array<models.QueueItemRequest>, options: { on_conflict?: "error" | "skip" | "update"; atomic?: boolean; idempotencyKey?: string } = {}): Promise<models.BatchResult> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item/batch`, options, body);
  }

  /** Get all imports of a pipeline. Needs `Queue.Read`. */
  listImports(questionnaireId: string, pipelineId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Import> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/import`, options);
  }

  /** Import queue items from a file. A CSV file with a header, in UTF-8 unless `encoding` says otherwise, at most 200,000 rows of at most 65,536 bytes; or a form with the file in it. Columns: `responder_channel_identifier`, `locale`, `send_time`, `external_reference`, `test`, `metadata.questionnaire.NAME`, `metadata.responder.NAME`; `map[E-mail]=responder_channel_identifier` takes a file with other names, `map[Notes]=` leaves a column out, and `map[*]=` all that have no meaning. Times to send may be written as people and spreadsheets write them. Each row is checked alone, as in a batch. `dry_run` checks all of them, asks the rules about each, and writes no item. A row whose reference a live item has is refused, or with `on_conflict` changes that item (which also needs `Queue.Update`) or is skipped. Needs `Queue.Create`. */
  createImport(questionnaireId: string, pipelineId: string, body: Uint8Array<ArrayBuffer>, options: { dry_run?: boolean; separator?: "\t" | "," | ";" | "|" | null; date_order?: "day" | "month" | null; on_conflict?: "error" | "skip" | "update"; encoding?: "utf-16" | "utf-8" | "windows-1250" | "windows-1251" | "windows-1252" | "windows-1253" | "windows-1254" | "windows-1255" | "windows-1256"; filter?: string | null; map?: Record<string, string>; idempotencyKey?: string } = {}): Promise<models.Import> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/import`, options, body, "text/csv");
  }

  /** Get Import. Needs `Queue.Read`. */
  getImport(importId: string): Promise<models.Import> {
    return this.transport.send("GET", `/q/import/${segment(importId)}`);
  }

  /** Cancel Import. What is settled stays, no further row is read. One that has ended is forgotten, not its items. Needs `Queue.Delete`. */
  cancelImport(importId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/import/${segment(importId)}`, options);
  }

  /** Resume Import. A failed import goes on where it stopped, while the rest of its file is kept. Needs `Queue.Create`. */
  resumeImport(importId: string, options: { idempotencyKey?: string } = {}): Promise<models.Import> {
    return this.transport.send("POST", `/q/import/${segment(importId)}/resumption`, options);
  }

  /** Get all rows of an import. Those that are settled, from the first; `filter_by[EQUAL][State]=failed` shows what went wrong. Needs `Queue.Read`. */
  listImportRows(importId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ImportRow> {
    return this.transport.pages(`/q/import/${segment(importId)}/row`, options);
  }

  /** Say what would become of queue items. The body of a batch; nothing is written. Each row is decided about as it would be when it is due, with every rule and the filled texts; links in them are samples. Earlier rows of an address count for later ones, and so do up to 20,000 items that wait for the same addresses in open lanes. What is known of a responder already fills the texts for those with `Responder Value.Read`. Needs `Queue.Create`. */
  simulateBatch(questionnaireId: string, pipelineId: string, body: Array<models.QueueItemRequest>, options: { on_conflict?: "error" | "skip" | "update"; idempotencyKey?: string } = {}): Promise<models.Simulation> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/item/simulate`, options, body);
  }

  /** Get the queue item with a reference. Needs `Queue.Read`. */
  getItemByReference(questionnaireId: string, pipelineId: string, externalReference: string): Promise<models.QueueItem> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/reference/${segment(externalReference)}`);
  }

  /** Create or change the queue item with a reference. 201 when no live item of the pipeline has the reference, else 200 and the item is as the body says, while it is Pending; without `send_time` an item keeps the one it has. An `external_reference` in the body is ignored. Needs `Queue.Update` and `Queue.Create`. */
  putItemByReference(questionnaireId: string, pipelineId: string, externalReference: string, body: models.QueueItemRequest, options: { ifMatch?: string } = {}): Promise<models.QueueItem> {
    return this.transport.send("PUT", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/reference/${segment(externalReference)}`, options, body);
  }

  /** Cancel the queue item with a reference. As `status_id` 5: nothing will be sent, and the reference is free again. Needs `Queue.Delete`. */
  cancelItemByReference(questionnaireId: string, pipelineId: string, externalReference: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/queue/reference/${segment(externalReference)}`, options);
  }

  /** Say why an item goes, waits or went nowhere. Every rule in the order in which they decide: as it stands now, or as it was when the item ended. Needs `Queue.Read`. */
  explainItem(itemId: string): Promise<models.Trace> {
    return this.transport.send("GET", `/q/queue/item/${segment(itemId)}/trace`);
  }

  /** Get the attempts to send an item. Needs `Queue.Read`. */
  listAttempts(itemId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Attempt> {
    return this.transport.pages(`/q/queue/item/${segment(itemId)}/attempt`, options);
  }

  /** Send a Failed or Ignored item again. Makes a new item, due now, whose `previous_item_id` is this one; this one stays as it is. Needs `Queue.Create`. */
  repeatItem(itemId: string, options: { idempotencyKey?: string } = {}): Promise<models.QueueItem> {
    return this.transport.send("POST", `/q/queue/item/${segment(itemId)}/repetition`, options);
  }

  /** Get the queue items of all pipelines. The latest `send_time` first, or the earliest. Read on with `after`. A page filtered by pipeline, questionnaire or application, or of a caller with a limit, may have fewer items than `limit`, or none, and a `next_cursor`. Needs `Queue.Read`. */
  listAllItems(options: { reason?: string | null; pipeline_id?: string | null; questionnaire_id?: string | null; application_id?: string | null; from_time?: string | null; to_time?: string | null; status_id?: Array<1 | 2 | 3 | 4 | 5 | 6>; external_reference?: string | null; responder_channel_identifier?: string | null; oldest_first?: boolean; limit?: number } = {}): AsyncGenerator<models.QueueItem> {
    return this.transport.pages(`/q/queue/item`, options);
  }

  /** Count the queue items of all pipelines by status and reason. Needs `Queue.Read`. */
  countAllItems(options: { reason?: string | null; pipeline_id?: string | null; questionnaire_id?: string | null; application_id?: string | null; from_time?: string | null; to_time?: string | null; status_id?: Array<1 | 2 | 3 | 4 | 5 | 6>; limit?: number } = {}): AsyncGenerator<models.QueueCount> {
    return this.transport.pages(`/q/queue/count`, options);
  }

  /** Get the pipelines that write to the same people. Of the people of the newest 500 items of 30 days. At most 5 pipelines, those that wrote to most of them first. Needs `Queue.Read`. */
  listOverlapsOfPipeline(options: { pipeline_id: string; limit?: number }): AsyncGenerator<models.QueueOverlap> {
    return this.transport.pages(`/q/queue/overlap`, options);
  }

  /** Count the waiting queue items of the next seven days by hour. By the hour in which they become due; the rules then decide about each. Empty hours are absent. Needs `Queue.Read`. */
  countHoursOfItems(options: { pipeline_id?: string | null; questionnaire_id?: string | null; application_id?: string | null; limit?: number } = {}): AsyncGenerator<models.QueueHour> {
    return this.transport.pages(`/q/queue/hour`, options);
  }

  /** Get all acts on many items. Needs `Queue.Read`. */
  listBatches(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.QueueBatch> {
    return this.transport.pages(`/q/queue/batch`, options);
  }

  /** Act on many items. Cancels the Pending items of the filter, moves them to `send_time`, or to now; their rules still decide. `repeat` makes a new item, due now, for each Failed one that was not sent again yet, and needs `Queue.Create` too; those whose outcome is unknown are left out unless `reason` names `outcome_unknown`. A worker does it in steps. `dry_run` counts what would become of them and changes none: `items_changed` would be sent then, `items_held` wait, `items_skipped` not be asked. `items_refused` were being sent, or cannot be sent again. With `import_id` the act means the items alone that this import made; nothing else can be in the filter. Needs `Queue.Update`. */
  createBatch(body: models.QueueBatchRequest, options: { idempotencyKey?: string } = {}): Promise<models.QueueBatch> {
    return this.transport.send("POST", `/q/queue/batch`, options, body);
  }

  /** Get an act on many items. Needs `Queue.Read`. */
  getBatch(batchId: string): Promise<models.QueueBatch> {
    return this.transport.send("GET", `/q/queue/batch/${segment(batchId)}`);
  }

  /** Stop an act on many items. What is done stays, and it can go on later. One that has ended is forgotten, not its effect. Needs `Queue.Delete`. */
  stopBatch(batchId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/queue/batch/${segment(batchId)}`, options);
  }

  /** Let an act on many items go on. One that was stopped or failed goes on behind its last step. Needs `Queue.Update`. */
  resumeBatch(batchId: string, options: { idempotencyKey?: string } = {}): Promise<models.QueueBatch> {
    return this.transport.send("POST", `/q/queue/batch/${segment(batchId)}/resumption`, options);
  }

  /** Get the messages in the outbox. Messages of test items, and all where the installation has no mail server. Those of the last 30 days. Needs `Queue.Read`. */
  listMessages(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.OutboxMessage> {
    return this.transport.pages(`/q/outbox`, options);
  }

  /** Get a message in the outbox. With its texts and the address at which its recipient would answer. Needs `Queue.Read` and `Questionnaire Value.Read` and `Responder Value.Read`. */
  getMessage(messageId: string): Promise<models.OutboxContent> {
    return this.transport.send("GET", `/q/outbox/${segment(messageId)}`);
  }

  /** Get the clock of test items. Needs `Queue.Read`. */
  getClock(): Promise<models.TestClock> {
    return this.transport.send("GET", `/q/queue/clock`);
  }

  /** Move the clock of test items forward. Reminders, windows, caps and expiry of test items come that much earlier. Real items do not see it. Needs `Queue.Update`. */
  moveClock(body: models.TestClockRequest, options: { idempotencyKey?: string } = {}): Promise<models.TestClock> {
    return this.transport.send("POST", `/q/queue/clock`, options, body);
  }

  /** Set the clock of test items back. To the real time. What waits keeps its time of the clock; what was sent stays as old as it became. Needs `Queue.Update`. */
  resetClock(options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/queue/clock`, options);
  }
}

/** Queue - Simplified. */
export class QueueSimplified extends Family {
  /** Get Queue Item. Needs `Queue.Read`. */
  getSimplifiedItem(itemId: string): Promise<models.QueueItem> {
    return this.transport.send("GET", `/q/queue/item/${segment(itemId)}`);
  }

  /** Update Queue Item. Only what the body names, while the item is Pending; a value equal to the stored one is no change. `status_id` 5 cancels, then nothing else of the body acts. Needs `Queue.Update`. */
  changeSimplifiedItem(itemId: string, body?: models.QueueItemUpdate, options: { ifMatch?: string } = {}): Promise<models.QueueItem> {
    return this.transport.send("PATCH", `/q/queue/item/${segment(itemId)}`, options, body);
  }

  /** Delete Queue Item. Cancels the item where that is needed and possible. Needs `Queue.Delete`. */
  deleteSimplifiedItem(itemId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/queue/item/${segment(itemId)}`, options);
  }
}

/** Sequences. */
export class Sequences extends Family {
  /** Get all sequences. Needs `Sequence.Read`. */
  listSequences(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Sequence> {
    return this.transport.pages(`/q/sequence`, options);
  }

  /** Create Sequence. The conditions are checked against the published questions of `from_questionnaire_id`, the declared metadata and tags. An item is made once for a response, for the address that its responder has on the pipeline's channel. Needs `Sequence.Create`. */
  createSequence(body: models.SequenceRequest, options: { idempotencyKey?: string } = {}): Promise<models.Sequence> {
    return this.transport.send("POST", `/q/sequence`, options, body);
  }

  /** Get Sequence. Needs `Sequence.Read`. */
  getSequence(sequenceId: string): Promise<models.Sequence> {
    return this.transport.send("GET", `/q/sequence/${segment(sequenceId)}`);
  }

  /** Update Sequence. The conditions are checked against the published questions of `from_questionnaire_id`, the declared metadata and tags. An item is made once for a response, for the address that its responder has on the pipeline's channel. Needs `Sequence.Update`. */
  updateSequence(sequenceId: string, body?: models.SequenceUpdate, options: { ifMatch?: string } = {}): Promise<models.Sequence> {
    return this.transport.send("PATCH", `/q/sequence/${segment(sequenceId)}`, options, body);
  }

  /** Delete Sequence. It makes no more items; those that it made stay. Needs `Sequence.Delete`. */
  deleteSequence(sequenceId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/sequence/${segment(sequenceId)}`, options);
  }
}

/** Alert Instance. */
export class AlertInstance extends Family {
  /** Say when the customer can be asked again. Nothing is sent. The rules of the pipeline, the contact policy and suppressions decide as if it were. Needs `Alert Instance.Read`. */
  foreseeRecovery(alertInstanceId: string): Promise<models.AlertRecovery> {
    return this.transport.send("GET", `/alert/instance/${segment(alertInstanceId)}/recovery`);
  }

  /** Ask the customer again. A queue item for the recovery questionnaire, by default the one of the case. Its answer is compared with the first: `recovered` of the case says whether the customer is won back. Needs `Alert Instance.Update`. */
  askAgain(alertInstanceId: string, options: { idempotencyKey?: string } = {}): Promise<models.AlertRecovery> {
    return this.transport.send("POST", `/alert/instance/${segment(alertInstanceId)}/recovery`, options);
  }

  /** Get the figures of the work on cases. Times to close are business hours, without those in which the customer was waited for. `won_back`: customers whose answer to the recovery questionnaire is better by the rule, of those who could be compared. Needs `Alert Instance.Read`. */
  getCaseFigures(options: { from_time?: string | null; to_time?: string | null; group_by?: "alert" | "cause" | "day" | "month" | "owner" | "quarter" | "remedy" | "severity" | "status" | "week" | null } = {}): Promise<models.CaseFigures> {
    return this.transport.send("GET", `/alert/figures`, options);
  }

  /** Get all alert instances. Needs `Alert Instance.Read`. */
  listAlertInstances(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AlertInstance> {
    return this.transport.pages(`/alert/instance`, options);
  }

  /** Get Alert Instance List by alert id. Needs `Alert Instance.Read`. */
  listInstancesOfAlert(alertId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AlertInstance> {
    return this.transport.pages(`/alert/${segment(alertId)}/instance`, options);
  }

  /** Get Alert Instance. Needs `Alert Instance.Read`. */
  getAlertInstance(alertInstanceId: string): Promise<models.AlertInstance> {
    return this.transport.send("GET", `/alert/instance/${segment(alertInstanceId)}`);
  }

  /** Update Alert Instance. A closing status sets `resolved_time` and `resolved_by`; any other opens the case again. With `waiting` the clock stands still: `due_time` is null and `due_left_seconds` of business hours are left until it goes on. Needs `Alert Instance.Update`. */
  updateAlertInstance(alertInstanceId: string, body?: models.AlertInstanceUpdate, options: { ifMatch?: string } = {}): Promise<models.AlertInstance> {
    return this.transport.send("PATCH", `/alert/instance/${segment(alertInstanceId)}`, options, body);
  }

  /** Get the history of an alert instance. Its opening, every change and every comment, in the order of time. Needs `Alert Instance.Read`. */
  listAlertHistory(alertInstanceId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AlertHistoryEntry> {
    return this.transport.pages(`/alert/instance/${segment(alertInstanceId)}/history`, options);
  }

  /** Reply to the customer. The mail leaves by the account and sender address of the pipeline that asked the customer; its state stands in the history. An answer is added to the case, ends its waiting and opens it again. Needs `Alert Instance.Update`. */
  sendAlertMessage(alertInstanceId: string, body: models.AlertMessageRequest, options: { idempotencyKey?: string } = {}): Promise<models.AlertMessage> {
    return this.transport.send("POST", `/alert/instance/${segment(alertInstanceId)}/message`, options, body);
  }

  /** Get all comments of an alert instance. Needs `Alert Instance.Read`. */
  listAlertComments(alertInstanceId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AlertComment> {
    return this.transport.pages(`/alert/instance/${segment(alertInstanceId)}/comment`, options);
  }

  /** Create new comment. Needs `Alert Instance.Update`. */
  createAlertComment(alertInstanceId: string, body: models.AlertCommentRequest, options: { idempotencyKey?: string } = {}): Promise<models.AlertComment> {
    return this.transport.send("POST", `/alert/instance/${segment(alertInstanceId)}/comment`, options, body);
  }

  /** Update comment. Only its author may. Needs `Alert Instance.Update`. */
  updateAlertComment(alertInstanceId: string, commentId: string, body?: models.AlertCommentUpdate, options: { ifMatch?: string } = {}): Promise<models.AlertComment> {
    return this.transport.send("PATCH", `/alert/instance/${segment(alertInstanceId)}/comment/${segment(commentId)}`, options, body);
  }

  /** Delete comment. Only its author may. Needs `Alert Instance.Update`. */
  deleteAlertComment(alertInstanceId: string, commentId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/alert/instance/${segment(alertInstanceId)}/comment/${segment(commentId)}`, options);
  }
}

/** Sources. */
export class Sources extends Family {
  /** Get all sources. Needs `Source.Read`. */
  listSources(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Source> {
    return this.transport.pages(`/source`, options);
  }

  /** Create new source. Needs `Source.Create`. */
  createSource(body: models.SourceRequest, options: { idempotencyKey?: string } = {}): Promise<models.Source> {
    return this.transport.send("POST", `/source`, options, body);
  }

  /** Get Source. Needs `Source.Read`. */
  getSource(sourceId: string): Promise<models.Source> {
    return this.transport.send("GET", `/source/${segment(sourceId)}`);
  }

  /** Update Source. Needs `Source.Update`. */
  updateSource(sourceId: string, body?: models.SourceUpdate, options: { ifMatch?: string } = {}): Promise<models.Source> {
    return this.transport.send("PATCH", `/source/${segment(sourceId)}`, options, body);
  }

  /** Delete Source. Its rules go with it, and its address finds nothing from then on. Items that were made stay. Needs `Source.Delete`. */
  deleteSource(sourceId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/source/${segment(sourceId)}`, options);
  }

  /** Get all rules of a source. Needs `Source.Read`. */
  listRulesOfSource(sourceId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.SourceRule> {
    return this.transport.pages(`/source/${segment(sourceId)}/rule`, options);
  }

  /** Create new rule of a source. `conditions` speak of values of the event, as `questionnaire_metadata:NAME`. The item gets values whose names are declared as its metadata, the subject as its reference, and the language of the event. Needs `Source.Create`. */
  createSourceRule(sourceId: string, body: models.SourceRuleRequest, options: { idempotencyKey?: string } = {}): Promise<models.SourceRule> {
    return this.transport.send("POST", `/source/${segment(sourceId)}/rule`, options, body);
  }

  /** Get all source rules. Needs `Source.Read`. */
  listSourceRules(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.SourceRule> {
    return this.transport.pages(`/source/rule`, options);
  }

  /** Get Source Rule. Needs `Source.Read`. */
  getSourceRule(sourceRuleId: string): Promise<models.SourceRule> {
    return this.transport.send("GET", `/source/rule/${segment(sourceRuleId)}`);
  }

  /** Update Source Rule. Needs `Source.Update`. */
  updateSourceRule(sourceRuleId: string, body?: models.SourceRuleUpdate, options: { ifMatch?: string } = {}): Promise<models.SourceRule> {
    return this.transport.send("PATCH", `/source/rule/${segment(sourceRuleId)}`, options, body);
  }

  /** Delete Source Rule. Needs `Source.Delete`. */
  deleteSourceRule(sourceRuleId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/source/rule/${segment(sourceRuleId)}`, options);
  }

  /** Get all events of a source. Kept 30 days. `decisions` say what each rule about such an event decided, with the item that it made. Needs `Source.Read`. */
  listSourceEvents(sourceId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.SourceEvent> {
    return this.transport.pages(`/source/${segment(sourceId)}/event`, options);
  }

  /** Get Source Event. Needs `Source.Read`. */
  getSourceEvent(sourceId: string, sourceEventId: string): Promise<models.SourceEvent> {
    return this.transport.send("GET", `/source/${segment(sourceId)}/event/${segment(sourceEventId)}`);
  }

  /** Say what a rule would do about the last events. Of the last 100 events, those of the rule's sort, as if they came now. Nothing is written. Needs `Source.Create`. */
  simulateSourceRule(sourceId: string, body: models.SourceRuleRequest, options: { idempotencyKey?: string } = {}): Promise<models.TriedRule> {
    return this.transport.send("POST", `/source/${segment(sourceId)}/rule/simulate`, options, body);
  }
}

/** Pipelines. */
export class Pipelines extends Family {
  /** Try changes of a pipeline. The body of a change; nothing is written. The newest invitations of the last 30 days, at most 500 and without tests and reminders, are decided anew, each at its send time. A changed delay moves those whose send time the stored delay gave; `no_date`: one lacks the date to count from. Deliveries, responses and stops count from their own time on. A change that would be refused is refused here. Needs `Pipeline.Update` and `Queue.Read`. */
  tryPipeline(questionnaireId: string, pipelineId: string, body?: models.PipelineUpdate, options: { idempotencyKey?: string } = {}): Promise<models.PipelineTrial> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/trial`, options, body);
  }

  /** Get all questionnaire pipelines. Needs `Pipeline.Read`. */
  listPipelines(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Pipeline> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/pipeline`, options);
  }

  /** Create a pipeline. E-mail needs `message_subject` and `message_body`, SMS a `message_body` of at most 1,600 characters, a webhook `target_url`. Texts may use only known variables; conditions may ask for metadata alone. What is left out is copied from `template_pipeline_id`, else has its default. Needs `Pipeline.Create`. */
  addPipeline(questionnaireId: string, body: models.PipelineRequest, options: { idempotencyKey?: string } = {}): Promise<models.Pipeline> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline`, options, body);
  }

  /** Get all pipelines. Needs `Pipeline.Read`. */
  listAllPipelines(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Pipeline> {
    return this.transport.pages(`/q/pipeline`, options);
  }

  /** Get Pipeline. Needs `Pipeline.Read`. */
  getPipeline(questionnaireId: string, pipelineId: string): Promise<models.Pipeline> {
    return this.transport.send("GET", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}`);
  }

  /** Change, pause or resume a pipeline. `paused` acts at once: what is being sent ends, nothing more begins. E-mail needs `message_subject` and `message_body`, SMS a `message_body` of at most 1,600 characters, a webhook `target_url`. Texts may use only known variables; conditions may ask for metadata alone. Needs `Pipeline.Update`. */
  changePipeline(questionnaireId: string, pipelineId: string, body?: models.PipelineUpdate, options: { ifMatch?: string } = {}): Promise<models.Pipeline> {
    return this.transport.send("PATCH", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}`, options, body);
  }

  /** Delete a pipeline. Refused while items of it are Pending or Processing. Those that have ended stay where they are. Needs `Pipeline.Delete`. */
  deletePipeline(questionnaireId: string, pipelineId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}`, options);
  }

  /** Get the versions of a pipeline. The newest first, with the clauses of `summary` that each changed. Kept two years, as the audit log is; changes before the newest 1,000 have no sentences. A PATCH with the members of before takes one back. Needs `Pipeline.Read`. */
  listPipelineVersions(questionnaireId: string, pipelineId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.PipelineVersion> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/version`, options);
  }

  /** Send a test message. One message now, through the pipeline's own account, whatever would hold an item: no item and no credit. Its subject begins with `[Test]`, its links open a test instance; `send_time` has no effect. A suppressed address is `refused`. At most 20 in 10 minutes. Needs `Pipeline.Update`. */
  sendTestMessage(questionnaireId: string, pipelineId: string, body: models.QueueItemRequest, options: { idempotencyKey?: string } = {}): Promise<models.TestSend> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/test`, options, body);
  }

  /** Show a message of the pipeline. Nothing is sent or kept, and links lead nowhere. `item_id` fills the texts with the item's values, which needs Queue.Read and the scopes of values. Needs `Pipeline.Read`. */
  previewMessage(questionnaireId: string, pipelineId: string, body?: models.PreviewRequest, options: { idempotencyKey?: string } = {}): Promise<models.Preview> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/pipeline/${segment(pipelineId)}/preview`, options, body);
  }
}

/** Contact policy. */
export class ContactPolicy extends Family {
  /** Get the contact policy. `enabled` counts: at most `invitations_max` to one address in `window_days`, over all pipelines, and none for `response_window_days` after a response. Quiet hours and holidays hold whether it is enabled or not. One that was never saved has the defaults. Needs `Contact Policy.Read`. */
  getPolicy(): Promise<models.ContactPolicy> {
    return this.transport.send("GET", `/policy/contact`);
  }

  /** Replace the contact policy. All of it. `enabled` counts: at most `invitations_max` to one address in `window_days`, over all pipelines, and none for `response_window_days` after a response. Quiet hours and holidays hold whether it is enabled or not. With `per_channel` false all addresses that are known of a person count together. A pipeline with `policy_exempt` sends regardless, and what it sends counts for the others; one with `on_holidays` `send` knows no holidays. Quiet hours that leave a pipeline no time are refused. Reminders count, and are counted against, with `count_reminders`. Needs `Contact Policy.Update`. */
  replacePolicy(body?: models.ContactPolicyRequest, options: { ifMatch?: string } = {}): Promise<models.ContactPolicy> {
    return this.transport.send("PUT", `/policy/contact`, options, body);
  }
}

/** Providers. */
export class Providers extends Family {
  /** Get all provider accounts. Needs `Provider.Read`. */
  listProviders(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Provider> {
    return this.transport.pages(`/provider`, options);
  }

  /** Create new provider account. Its servers are on the open internet, or in the networks that the operator allows. `smtp` has `host`, `port`, `security` (`tls`, `starttls`, `none`), `username` and `password`. `is_default` moves all pipelines of its channel to it. At most 50. Needs `Provider.Create`. */
  createProvider(body: models.ProviderRequest, options: { idempotencyKey?: string } = {}): Promise<models.Provider> {
    return this.transport.send("POST", `/provider`, options, body);
  }

  /** Get provider account. Needs `Provider.Read`. */
  getProvider(accountId: string): Promise<models.Provider> {
    return this.transport.send("GET", `/provider/${segment(accountId)}`);
  }

  /** Update provider account. Its servers are on the open internet, or in the networks that the operator allows. `smtp` has `host`, `port`, `security` (`tls`, `starttls`, `none`), `username` and `password`. Secrets that are not named stay; another server needs all of them again. Needs `Provider.Update`. */
  updateProvider(accountId: string, body?: models.ProviderUpdate, options: { ifMatch?: string } = {}): Promise<models.Provider> {
    return this.transport.send("PATCH", `/provider/${segment(accountId)}`, options, body);
  }

  /** Delete provider account. Only one that no pipeline sends through: make another the default, which moves them. Needs `Provider.Delete`. */
  deleteProvider(accountId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/provider/${segment(accountId)}`, options);
  }

  /** Pause provider account. Nothing is sent through it until the pause is deleted. Due items wait, and no attempt is counted. Needs `Provider.Update`. */
  pauseProvider(accountId: string, body: models.PauseRequest, options: { idempotencyKey?: string } = {}): Promise<models.Provider> {
    return this.transport.send("POST", `/provider/${segment(accountId)}/pause`, options, body);
  }

  /** Resume provider account. A rest after failures ends too. A pause of the operator stays: 403. Needs `Provider.Update`. */
  resumeProvider(accountId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/provider/${segment(accountId)}/pause`, options);
  }

  /** Get health of provider account. Bounces and complaints against the shares at which large mailbox providers stop taking mail. Needs `Provider.Read`. */
  getProviderHealth(accountId: string): Promise<models.ProviderHealth> {
    return this.transport.send("GET", `/provider/${segment(accountId)}/health`);
  }

  /** Check DNS of the sender domains. SPF, DKIM and DMARC of the domains that the account's pipelines send from, and of the others that the organization may send from. `unknown`: the name servers could not be asked. Needs `Provider.Read`. */
  checkProviderDns(accountId: string, options: { selector?: string | null } = {}): Promise<models.ProviderDns> {
    return this.transport.send("GET", `/provider/${segment(accountId)}/dns`, options);
  }

  /** Send a test message through the account. One message now, also while the account is paused, with the provider's reply. A suppressed address is `refused`. At most 20 test messages in 10 minutes. Needs `Provider.Update`. */
  sendThroughAccount(accountId: string, body: models.AccountTestRequest, options: { idempotencyKey?: string } = {}): Promise<models.TestSend> {
    return this.transport.send("POST", `/provider/${segment(accountId)}/test`, options, body);
  }

  /** Get all inbound addresses. Needs `Inbound.Read`. */
  listInbounds(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Inbound> {
    return this.transport.pages(`/inbound`, options);
  }

  /** Open inbound address. `standard`: our own form, signed with the `secret` of this answer; `sns`: Amazon SES by SNS; `provider`: as the account's own gateway calls, opened with the account. An account has one of each. Repeated with its `Idempotency-Key` the answer has null in `secret`. Needs `Inbound.Create`. */
  openInbound(body: models.InboundRequest, options: { idempotencyKey?: string } = {}): Promise<models.Inbound> {
    return this.transport.send("POST", `/inbound`, options, body);
  }

  /** Get inbound address. Needs `Inbound.Read`. */
  getInbound(inboundId: string): Promise<models.Inbound> {
    return this.transport.send("GET", `/inbound/${segment(inboundId)}`);
  }

  /** Close inbound address. Calls to it find nothing from then on. Needs `Inbound.Delete`. */
  closeInbound(inboundId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/inbound/${segment(inboundId)}`, options);
  }
}

/** Suppressions. */
export class Suppressions extends Family {
  /** Get all suppressions. Those that have expired included: they show `expires_time`, and suppress nothing any more. Needs `Suppression.Read`. */
  listSuppressions(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Suppression> {
    return this.transport.pages(`/suppression`, options);
  }

  /** Suppress an address. Nothing more is sent to it on that channel. Compared by its normal form, kept as it was sent. One that is suppressed already takes a longer time and a stronger reason (blocked, hard_bounce, unsubscribed, complaint, erased); where neither is new, 409. Needs `Suppression.Create`. */
  suppressAddress(body: models.SuppressionRequest, options: { idempotencyKey?: string } = {}): Promise<models.Suppression> {
    return this.transport.send("POST", `/suppression`, options, body);
  }

  /** Get a suppression. Needs `Suppression.Read`. */
  getSuppression(suppressionId: string): Promise<models.Suppression> {
    return this.transport.send("GET", `/suppression/${segment(suppressionId)}`);
  }

  /** Lift a suppression. The address is written to again, whatever the reason was; the event `suppression.deleted` keeps it. Needs `Suppression.Delete`. */
  liftSuppression(suppressionId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/suppression/${segment(suppressionId)}`, options);
  }
}

/** Search. */
export class Search extends Family {
  /** Search everything. Up to five each of people, responses, queue items, cases and questionnaires. Each kind needs the scope of its list: Responder.Read, Questionnaire Instance.Read, Queue.Read, Alert Instance.Read. Needs `Questionnaire.Read`. */
  search(options: { q?: string } = {}): Promise<models.SearchResult> {
    return this.transport.send("GET", `/search`, options);
  }
}

/** Alert Settings. */
export class AlertSettings extends Family {
  /** Get the settings of cases. Needs `Alert.Read`. */
  getAlertSettings(): Promise<models.AlertSettings> {
    return this.transport.send("GET", `/alert/settings`);
  }

  /** Update the settings of cases. `due_hours` of alerts count within these hours; without `start_time` the whole of these days, holidays of the contact policy left out with `closed_on_holidays`. Variables of saved texts: `{{ customer_name }}`, `{{ my_name }}`, `{{ organization_name }}`, `{{ alert_title }}`, `{{ order }}`. Needs `Alert.Update`. */
  updateAlertSettings(body?: models.AlertSettingsUpdate, options: { ifMatch?: string } = {}): Promise<models.AlertSettings> {
    return this.transport.send("PATCH", `/alert/settings`, options, body);
  }

  /** Get the mailbox of answers. Needs `Alert.Read`. */
  getAlertMailbox(): Promise<models.AlertMailbox> {
    return this.transport.send("GET", `/alert/mailbox`);
  }

  /** Update the mailbox of answers. Replies to customers have `address` as their Reply-To. With `host` a worker reads the mailbox every minute: answers go to their cases, bounces to their messages. `host` null ends that. Another server or user needs the password again. Needs `Alert.Update`. */
  updateAlertMailbox(body?: models.AlertMailboxUpdate, options: { ifMatch?: string } = {}): Promise<models.AlertMailbox> {
    return this.transport.send("PATCH", `/alert/mailbox`, options, body);
  }

  /** Check the mailbox of answers. Logs in, opens the folder and counts its mails; `problem` says what failed. No mail is read. Needs `Alert.Update`. */
  checkAlertMailbox(options: { idempotencyKey?: string } = {}): Promise<models.AlertMailbox> {
    return this.transport.send("POST", `/alert/mailbox/check`, options);
  }
}

/** Alerts. */
export class Alerts extends Family {
  /** Say how many open cases an escalation touches. Nothing is changed. At most 1,000 are counted; cases that wait are left out. Needs `Alert.Read`. */
  getAlertEscalation(alertId: string, options: { escalation_hours?: number } = {}): Promise<models.AlertEscalation> {
    return this.transport.send("GET", `/alert/${segment(alertId)}/escalation`, options);
  }

  /** Try an alert before it is saved. Nothing is stored. The newest 1,000 responses are looked at as they are now, without tests, among the newest 20,000 of the organization. All is checked as on saving. Needs `Alert.Create`. */
  previewAlert(body: models.AlertPreviewRequest, options: { idempotencyKey?: string } = {}): Promise<models.AlertPreview> {
    return this.transport.send("POST", `/alert/preview`, options, body);
  }

  /** Get the users who may take cases. Each with the cases that are open with this user, 1,000 at most. Needs `Alert.Read` and `User.Read`. */
  listAlertAssignees(options: { application_id?: string | null; filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AlertAssignee> {
    return this.transport.pages(`/alert/assignee`, options);
  }

  /** Get all alerts. Needs `Alert.Read`. */
  listAlerts(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Alert> {
    return this.transport.pages(`/alert`, options);
  }

  /** Create new alert. The conditions are checked against the published questions and the declared metadata; those of trigger `schedule` compare figures (`metric:…`) and nothing else. `chat_ids` are the chats that get a card about each case; `chat_urls` takes only the empty list. Needs `Alert.Create`. */
  createAlert(body: models.AlertRequest, options: { idempotencyKey?: string } = {}): Promise<models.Alert> {
    return this.transport.send("POST", `/alert`, options, body);
  }

  /** Get Alert. Needs `Alert.Read`. */
  getAlert(alertId: string): Promise<models.Alert> {
    return this.transport.send("GET", `/alert/${segment(alertId)}`);
  }

  /** Update Alert. The conditions are checked against the published questions and the declared metadata; those of trigger `schedule` compare figures (`metric:…`) and nothing else. `chat_ids` are the chats that get a card about each case; `chat_urls` takes only the empty list. Needs `Alert.Update`. */
  updateAlert(alertId: string, body?: models.AlertUpdate, options: { ifMatch?: string } = {}): Promise<models.Alert> {
    return this.transport.send("PATCH", `/alert/${segment(alertId)}`, options, body);
  }

  /** Delete Alert. It opens no more cases; those that it opened stay. Needs `Alert.Delete`. */
  deleteAlert(alertId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/alert/${segment(alertId)}`, options);
  }
}

/** Alert Statuses. */
export class AlertStatuses extends Family {
  /** Get all alert statuses. 1 New, 2 In progress, 3 Closed and 4 Dismissed are the product's; own ones have numbers from 100. Needs `Alert Status.Read`. */
  listAlertStatuses(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.AlertStatus> {
    return this.transport.pages(`/alert/status`, options);
  }

  /** Create new alert status. Needs `Alert Status.Create`. */
  createAlertStatus(body: models.AlertStatusRequest, options: { idempotencyKey?: string } = {}): Promise<models.AlertStatus> {
    return this.transport.send("POST", `/alert/status`, options, body);
  }

  /** Get Alert Status. Needs `Alert Status.Read`. */
  getAlertStatus(statusId: string): Promise<models.AlertStatus> {
    return this.transport.send("GET", `/alert/status/${segment(statusId)}`);
  }

  /** Update Alert Status. Needs `Alert Status.Update`. */
  updateAlertStatus(statusId: string, body?: models.AlertStatusUpdate, options: { ifMatch?: string } = {}): Promise<models.AlertStatus> {
    return this.transport.send("PATCH", `/alert/status/${segment(statusId)}`, options, body);
  }

  /** Delete Alert Status. While alerts or cases have it, `move_to` is the status that they get. Needs `Alert Status.Delete`. */
  deleteAlertStatus(statusId: string, options: { move_to?: number; ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/alert/status/${segment(statusId)}`, options);
  }
}

/** Notifications. */
export class Notifications extends Family {
  /** Get all notifications. Those of the token's user; a token of the organization has none, nor has one for tests. Needs `Notification.Read`. */
  listNotifications(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Notification> {
    return this.transport.pages(`/notification`, options);
  }

  /** Update Notification. Needs `Notification.Update`. */
  updateNotification(notificationId: string, body?: models.NotificationUpdate, options: { ifMatch?: string } = {}): Promise<models.Notification> {
    return this.transport.send("PATCH", `/notification/${segment(notificationId)}`, options, body);
  }

  /** Get Notification Subscription. A type that is not named is notified on the web, and by mail only new alert instances, plans, disabled webhooks. Types of single messages, responses and people (queue_item, questionnaire_instance, answer, responder, suppression, tag) are notified only if named. A user without a subscription watches the things that they created. Needs `Notification.Read`. */
  getSubscription(): Promise<models.NotificationSubscription> {
    return this.transport.send("GET", `/notification/subscription`);
  }

  /** Replace Notification Subscription. All of it. A type that is not named is notified on the web, and by mail only new alert instances, plans, disabled webhooks. Types of single messages, responses and people (queue_item, questionnaire_instance, answer, responder, suppression, tag) are notified only if named. Needs `Notification.Update`. */
  replaceSubscription(body?: models.NotificationSubscriptionRequest, options: { ifMatch?: string } = {}): Promise<models.NotificationSubscription> {
    return this.transport.send("PUT", `/notification/subscription`, options, body);
  }
}

/** Chats. */
export class Chats extends Family {
  /** Get all chats. Needs `Webhook.Read`. */
  listChats(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Chat> {
    return this.transport.pages(`/chat`, options);
  }

  /** Create new chat. At most 50 an organization. Alerts name the chats that they tell in `chat_ids`. Needs `Webhook.Create`. */
  createChat(body: models.ChatRequest, options: { idempotencyKey?: string } = {}): Promise<models.Chat> {
    return this.transport.send("POST", `/chat`, options, body);
  }

  /** Get Chat. Needs `Webhook.Read`. */
  getChat(chatId: string): Promise<models.Chat> {
    return this.transport.send("GET", `/chat/${segment(chatId)}`);
  }

  /** Update Chat. Without `address`, or with null, the address stays as it is. Needs `Webhook.Update`. */
  updateChat(chatId: string, body?: models.ChatUpdate, options: { ifMatch?: string } = {}): Promise<models.Chat> {
    return this.transport.send("PATCH", `/chat/${segment(chatId)}`, options, body);
  }

  /** Delete Chat. Cards that wait for it are never sent. Its digests are removed, and alerts tell it no more. Needs `Webhook.Delete`. */
  deleteChat(chatId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/chat/${segment(chatId)}`, options);
  }

  /** Send a test card to a chat. At once. `problem` is null where the chat took it, else it says what failed. Needs `Webhook.Update`. */
  testChat(chatId: string, options: { idempotencyKey?: string } = {}): Promise<models.Chat> {
    return this.transport.send("POST", `/chat/${segment(chatId)}/test`, options);
  }
}

/** Reports. */
export class Reports extends Family {
  /** Get all report templates. Ready reports, and the query parameters that each takes. Needs `Report.Read`. */
  listReportTemplates(options: { limit?: number } = {}): AsyncGenerator<models.ReportTemplate> {
    return this.transport.pages(`/report/template`, options);
  }

  /** Run a report template. Every figure comes with its interval, the method, and the number of answers it is computed from. From readers who may not read single answers groups below the organization's minimum base are hidden, and so is a second one that would reveal them. Needs `Report.Read`. */
  runReportTemplate(templateId: string, options: { questionnaire_id: Array<string>; filter?: string | null; from_time?: string | null; to_time?: string | null; calendar_period?: "last_month" | "last_quarter" | "last_week" | "last_year" | "this_month" | "this_quarter" | "this_week" | "this_year" | null; time_zone?: string | null; date_basis?: "completed" | "sent" | "submitted" | null; level?: number; compare?: "none" | "previous_period" | "previous_year" | "rest"; question_id?: string | null; metric?: "ces" | "completion" | "csat" | "mean" | "nps" | "response" | null; bucket?: "day" | "month" | "quarter" | "week" | null; metadata?: string | null; channel_id?: number | null; pipeline_id?: string | null; outcome_question_id?: string | null; question_ids?: Array<string> | null; by?: "bucket" | "channel" | "pipeline" | null; band?: "detractor" | "passive" | "promoter" | null }): Promise<models.ReportResult> {
    return this.transport.send("GET", `/report/template/${segment(templateId)}`, options);
  }

  /** Get all custom reports. Needs `Report.Read`. */
  listCustomReports(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.CustomReport> {
    return this.transport.pages(`/report/custom`, options);
  }

  /** Create a custom report. A spec that cannot be run is refused, with pointers into it. Needs `Report.Create`. */
  createCustomReport(body: models.CustomReportRequest, options: { idempotencyKey?: string } = {}): Promise<models.CustomReport> {
    return this.transport.send("POST", `/report/custom`, options, body);
  }

  /** Get a custom report. Needs `Report.Read`. */
  getCustomReport(reportId: string): Promise<models.CustomReport> {
    return this.transport.send("GET", `/report/custom/${segment(reportId)}`);
  }

  /** Update a custom report. The spec is replaced as a whole. Needs `Report.Update`. */
  updateCustomReport(reportId: string, body?: models.CustomReportUpdate, options: { ifMatch?: string } = {}): Promise<models.CustomReport> {
    return this.transport.send("PATCH", `/report/custom/${segment(reportId)}`, options, body);
  }

  /** Delete a custom report. Needs `Report.Delete`. */
  deleteCustomReport(reportId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/report/custom/${segment(reportId)}`, options);
  }

  /** Run a custom report. Needs `Report.Read`. */
  runCustomReport(reportId: string): Promise<models.ReportResult> {
    return this.transport.send("GET", `/report/custom/${segment(reportId)}/run`);
  }

  /** Run a report that is not saved. Its spec is that of a custom report. Nothing is stored. Needs `Report.Read`. */
  runReport(body: models.ReportRun, options: { idempotencyKey?: string } = {}): Promise<models.ReportResult> {
    return this.transport.send("POST", `/report/run`, options, body);
  }

  /** Get the invitations behind a figure. Exactly those that a row or a total counts: give its `selection`, and of a stage its name. A rate counts those of two stages: `delivery` is `sent` and `delivered`. The newest by `date_basis` first. Needs `Questionnaire Instance.Read`. */
  listReportInvitations(options: { questionnaire_id: Array<string>; from_time?: string | null; to_time?: string | null; date_basis?: "completed" | "sent" | "submitted"; stage?: Array<"answered" | "bounced" | "completed" | "created" | "delivered" | "sent" | "started" | "submitted" | "viewed">; channel_id?: number | null; pipeline_id?: string | null; version_id?: string | null; locale?: string | null; filter?: string | null; limit?: number }): AsyncGenerator<models.QuestionnaireInstance> {
    return this.transport.pages(`/report/invitation`, options);
  }

  /** Get the overview. The scores of the last days with their trend and change, and the funnel of the invitations. Needs `Report.Read`. */
  getOverview(options: { days?: number | null; calendar_period?: "last_month" | "last_quarter" | "last_week" | "last_year" | "this_month" | "this_quarter" | "this_week" | "this_year" | null; application_id?: string | null } = {}): Promise<models.ReportOverview> {
    return this.transport.send("GET", `/report/overview`, options);
  }

  /** Get the links to a report. Also those that ended in the last 30 days. Callers with a limit see those with the same limit. Needs `Report.Read`. */
  listReportShares(reportId: string, options: { limit?: number } = {}): AsyncGenerator<models.ReportShare> {
    return this.transport.pages(`/report/custom/${segment(reportId)}/share`, options);
  }

  /** Create a link to a report. Whoever has its `share_url` reads the figures without a login, until it ends. It is shown this once. It keeps the limit of whoever made it. Repeated with its `Idempotency-Key` the answer has null in `share_url`. Needs `Report.Update`. */
  createReportShare(reportId: string, body?: models.ReportShareRequest, options: { idempotencyKey?: string } = {}): Promise<models.ReportShare> {
    return this.transport.send("POST", `/report/custom/${segment(reportId)}/share`, options, body);
  }

  /** End a link to a report. Needs `Report.Update`. */
  deleteReportShare(reportId: string, shareId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/report/custom/${segment(reportId)}/share/${segment(shareId)}`, options);
  }

  /** Get all digests. Those of the token's user; a token of the organization has none. Needs `Report.Read`. */
  listReportDigests(options: { limit?: number } = {}): AsyncGenerator<models.ReportDigest> {
    return this.transport.pages(`/report/digest`, options);
  }

  /** Create a digest. Mails the report, or the overview, to the token's user or another address every week or month, until it is deleted. Another address gets one mail that asks, and is mailed once somebody there has agreed. Needs `Report.Read`. */
  createReportDigest(body: models.ReportDigestRequest, options: { idempotencyKey?: string } = {}): Promise<models.ReportDigest> {
    return this.transport.send("POST", `/report/digest`, options, body);
  }

  /** Send a digest now. Sends one more mail within some seconds. The days of the others stay. Needs `Report.Read`. */
  sendReportDigest(digestId: string, options: { idempotencyKey?: string } = {}): Promise<models.ReportDigest> {
    return this.transport.send("POST", `/report/digest/${segment(digestId)}/mail`, options);
  }

  /** Stop a digest. Needs `Report.Read`. */
  deleteReportDigest(digestId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/report/digest/${segment(digestId)}`, options);
  }
}

/** Questionnaire Exports. */
export class QuestionnaireExports extends Family {
  /** Get all export schedules. Needs `Questionnaire Export.Read`. */
  listExportSchedules(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ExportSchedule> {
    return this.transport.pages(`/export/schedule`, options);
  }

  /** Create new export schedule. Needs Questionnaire Instance.Read. Files hold the values that your token may read. `folder`: below the folder of the installation. `s3`: `endpoint`, `bucket`, `access_key` and `secret`. `sftp`: `host`, `username`, `secret`, and `host_key` before the first run. Needs `Questionnaire Export.Create`. */
  createExportSchedule(body: models.ExportScheduleRequest, options: { idempotencyKey?: string } = {}): Promise<models.ExportSchedule> {
    return this.transport.send("POST", `/export/schedule`, options, body);
  }

  /** Get Export Schedule. Needs `Questionnaire Export.Read`. */
  getExportSchedule(scheduleId: string): Promise<models.ExportSchedule> {
    return this.transport.send("GET", `/export/schedule/${segment(scheduleId)}`);
  }

  /** Update Export Schedule. Needs `Questionnaire Export.Create`. */
  updateExportSchedule(scheduleId: string, body?: models.ExportScheduleUpdate, options: { ifMatch?: string } = {}): Promise<models.ExportSchedule> {
    return this.transport.send("PATCH", `/export/schedule/${segment(scheduleId)}`, options, body);
  }

  /** Delete Export Schedule. Files that were written stay where they are. Needs `Questionnaire Export.Delete`. */
  deleteExportSchedule(scheduleId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/export/schedule/${segment(scheduleId)}`, options);
  }

  /** Get the runs of an export schedule. Kept for 90 days. Needs `Questionnaire Export.Read`. */
  listExportRuns(scheduleId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.ExportRun> {
    return this.transport.pages(`/export/schedule/${segment(scheduleId)}/run`, options);
  }

  /** Run an export schedule now. A worker begins it within some seconds. 409 while a run is under way. Needs `Questionnaire Export.Create` and `Questionnaire Instance.Read`. */
  createExportRun(scheduleId: string, options: { idempotencyKey?: string } = {}): Promise<models.ExportRun> {
    return this.transport.send("POST", `/export/schedule/${segment(scheduleId)}/run`, options);
  }

  /** Check the destination of an export schedule. Writes a small file and removes it. Of an SFTP server whose key nobody confirmed it tells the key. Needs `Questionnaire Export.Create`. */
  checkExportSchedule(scheduleId: string, options: { idempotencyKey?: string } = {}): Promise<models.ExportCheck> {
    return this.transport.send("POST", `/export/schedule/${segment(scheduleId)}/check`, options);
  }

  /** Get Questionnaire Export List. Needs `Questionnaire Export.Read`. */
  listExports(questionnaireId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Export> {
    return this.transport.pages(`/q/questionnaire/${segment(questionnaireId)}/export`, options);
  }

  /** Create Questionnaire Export. A worker writes the file. Values of metadata need Questionnaire Value.Read and Responder Value.Read, else they are left out. `include_recipient` needs Queue.Read, and so does its file. Needs `Questionnaire Export.Create` and `Questionnaire Instance.Read`. */
  createExport(questionnaireId: string, body: models.ExportRequest, options: { idempotencyKey?: string } = {}): Promise<models.Export> {
    return this.transport.send("POST", `/q/questionnaire/${segment(questionnaireId)}/export`, options, body);
  }

  /** Get exports of responses of all questionnaires. Those that the caller asked for. Needs `Questionnaire Export.Read`. */
  listExportsOfLists(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Export> {
    return this.transport.pages(`/q/response/export`, options);
  }

  /** Export responses of all questionnaires. Those that match now, the newest first, at most 50,000 of 50 questionnaires. Values of metadata and recipients are as in exports of one questionnaire. Needs `Questionnaire Export.Create` and `Questionnaire Instance.Read`. */
  createExportOfList(body: models.ListExportRequest, options: { idempotencyKey?: string } = {}): Promise<models.Export> {
    return this.transport.send("POST", `/q/response/export`, options, body);
  }

  /** Get Questionnaire Export. Needs `Questionnaire Export.Read`. */
  getExport(exportId: string): Promise<models.Export> {
    return this.transport.send("GET", `/q/export/${segment(exportId)}`);
  }

  /** Delete Questionnaire Export. Cancels an export that is waiting or being written; one that has ended is removed with its file. Needs `Questionnaire Export.Delete`. */
  deleteExport(exportId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/q/export/${segment(exportId)}`, options);
  }

  /** Get Questionnaire Export File. Needs the scopes of the values that it holds too. 409 before it is done, 410 after its retention. Needs `Questionnaire Export.Read` and `Questionnaire Instance.Read`. */
  getExportFile(exportId: string): AsyncGenerator<Uint8Array> {
    return this.transport.stream(`/q/export/${segment(exportId)}/file`);
  }
}

/** Events. */
export class Events extends Family {
  /** Get all events. Oldest first and without gaps: an event is shown once none can come before it any more. Read on with `after`: `next_cursor`, else the cursor of the last event seen. A page may have fewer events than `limit`, or none, and a `next_cursor`. `type[]` is a type, `prefix.*` or `*`. Kept 90 days. `data` needs the Read scope of what the event is about, and is empty without. Needs `Event.Read`. */
  listEvents(options: { type?: Array<string>; filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Event> {
    return this.transport.pages(`/event`, options);
  }

  /** Get Event. Needs `Event.Read`. */
  getEvent(eventId: string): Promise<models.Event> {
    return this.transport.send("GET", `/event/${segment(eventId)}`);
  }
}

/** Webhooks. */
export class Webhooks extends Family {
  /** Get sample deliveries. Up to 3 bodies as a webhook gets them: of the newest events of this type, or else an example. Those of events need the Read scope of what the event is about. Needs `Webhook.Read`. */
  listWebhookSamples(options: { event_type?: string; limit?: number } = {}): AsyncGenerator<models.WebhookSample> {
    return this.transport.pages(`/webhook/sample`, options);
  }

  /** Get all webhooks. Needs `Webhook.Read`. */
  listWebhooks(options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Webhook> {
    return this.transport.pages(`/webhook`, options);
  }

  /** Create new webhook. At most 50 an organization. `target_url` is https at a public address. `event_types` are types, `prefix.*` or `*`; without them it gets `questionnaire_instance.completed` alone. Your token needs the Read scope of every event type that it gets. Repeated with its `Idempotency-Key` the answer has null in `secret`. Needs `Webhook.Create`. */
  createWebhook(body: models.WebhookRequest, options: { idempotencyKey?: string } = {}): Promise<models.Webhook> {
    return this.transport.send("POST", `/webhook`, options, body);
  }

  /** Get Webhook. Needs `Webhook.Read`. */
  getWebhook(webhookId: string): Promise<models.Webhook> {
    return this.transport.send("GET", `/webhook/${segment(webhookId)}`);
  }

  /** Update Webhook. `target_url` is https at a public address. `event_types` are types, `prefix.*` or `*`; without them it gets `questionnaire_instance.completed` alone. Your token needs the Read scope of every event type that it gets. Needs `Webhook.Update`. */
  updateWebhook(webhookId: string, body?: models.WebhookUpdate, options: { ifMatch?: string } = {}): Promise<models.Webhook> {
    return this.transport.send("PATCH", `/webhook/${segment(webhookId)}`, options, body);
  }

  /** Delete Webhook. Events that were not delivered yet are never delivered. Needs `Webhook.Delete`. */
  deleteWebhook(webhookId: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.transport.send("DELETE", `/webhook/${segment(webhookId)}`, options);
  }

  /** Renew secret of webhook. For 24 hours every delivery is signed with both secrets. Repeated with its `Idempotency-Key` the answer has null in `secret`. Needs `Webhook.Update`. */
  renewWebhookSecret(webhookId: string, options: { idempotencyKey?: string } = {}): Promise<models.Webhook> {
    return this.transport.send("POST", `/webhook/${segment(webhookId)}/secret`, options);
  }

  /** Get all deliveries of a webhook. Kept 30 days after their end. Needs `Webhook.Read`. */
  listDeliveries(webhookId: string, options: { filter_by?: Filters; order_by?: Orders; limit?: number } = {}): AsyncGenerator<models.Delivery> {
    return this.transport.pages(`/webhook/${segment(webhookId)}/delivery`, options);
  }

  /** Get Delivery. Needs `Webhook.Read`. */
  getDelivery(webhookId: string, deliveryId: string): Promise<models.Delivery> {
    return this.transport.send("GET", `/webhook/${segment(webhookId)}/delivery/${segment(deliveryId)}`);
  }

  /** Redeliver one delivery. From its first attempt on, with the same `webhook-id`; a waiting one is tried at once. Needs `Webhook.Update`. */
  redeliver(webhookId: string, deliveryId: string, options: { idempotencyKey?: string } = {}): Promise<models.Delivery> {
    return this.transport.send("POST", `/webhook/${segment(webhookId)}/delivery/${segment(deliveryId)}/redelivery`, options);
  }

  /** Redeliver a span of the event log. From `from_time` (until `to_time`), or behind the cursor `after`: all events that the webhook subscribes to now, sent before or not. With the same `webhook-id`; at most 10,000 events at a time. Needs `Webhook.Update`. */
  redeliverSpan(webhookId: string, body?: models.RedeliveryRequest, options: { idempotencyKey?: string } = {}): Promise<models.Redelivery> {
    return this.transport.send("POST", `/webhook/${segment(webhookId)}/redelivery`, options, body);
  }
}

/** All families. */
export class Operations {
  readonly applications: Applications;
  readonly organizations: Organizations;
  readonly users: Users;
  readonly tokens: Tokens;
  readonly plans: Plans;
  readonly audit: Audit;
  readonly questionnaires: Questionnaires;
  readonly questionnaireGroups: QuestionnaireGroups;
  readonly questions: Questions;
  readonly questionnaireVisuals: QuestionnaireVisuals;
  readonly assets: Assets;
  readonly metadata: Metadata;
  readonly questionnaireInstances: QuestionnaireInstances;
  readonly questionnaireInstancesSimplified: QuestionnaireInstancesSimplified;
  readonly tags: Tags;
  readonly responders: Responders;
  readonly coupons: Coupons;
  readonly publicLinks: PublicLinks;
  readonly responses: Responses;
  readonly queue: Queue;
  readonly queueSimplified: QueueSimplified;
  readonly sequences: Sequences;
  readonly alertInstance: AlertInstance;
  readonly sources: Sources;
  readonly pipelines: Pipelines;
  readonly contactPolicy: ContactPolicy;
  readonly providers: Providers;
  readonly suppressions: Suppressions;
  readonly search: Search;
  readonly alertSettings: AlertSettings;
  readonly alerts: Alerts;
  readonly alertStatuses: AlertStatuses;
  readonly notifications: Notifications;
  readonly chats: Chats;
  readonly reports: Reports;
  readonly questionnaireExports: QuestionnaireExports;
  readonly events: Events;
  readonly webhooks: Webhooks;

  constructor(transport: Transport) {
    this.applications = new Applications(transport);
    this.organizations = new Organizations(transport);
    this.users = new Users(transport);
    this.tokens = new Tokens(transport);
    this.plans = new Plans(transport);
    this.audit = new Audit(transport);
    this.questionnaires = new Questionnaires(transport);
    this.questionnaireGroups = new QuestionnaireGroups(transport);
    this.questions = new Questions(transport);
    this.questionnaireVisuals = new QuestionnaireVisuals(transport);
    this.assets = new Assets(transport);
    this.metadata = new Metadata(transport);
    this.questionnaireInstances = new QuestionnaireInstances(transport);
    this.questionnaireInstancesSimplified = new QuestionnaireInstancesSimplified(transport);
    this.tags = new Tags(transport);
    this.responders = new Responders(transport);
    this.coupons = new Coupons(transport);
    this.publicLinks = new PublicLinks(transport);
    this.responses = new Responses(transport);
    this.queue = new Queue(transport);
    this.queueSimplified = new QueueSimplified(transport);
    this.sequences = new Sequences(transport);
    this.alertInstance = new AlertInstance(transport);
    this.sources = new Sources(transport);
    this.pipelines = new Pipelines(transport);
    this.contactPolicy = new ContactPolicy(transport);
    this.providers = new Providers(transport);
    this.suppressions = new Suppressions(transport);
    this.search = new Search(transport);
    this.alertSettings = new AlertSettings(transport);
    this.alerts = new Alerts(transport);
    this.alertStatuses = new AlertStatuses(transport);
    this.notifications = new Notifications(transport);
    this.chats = new Chats(transport);
    this.reports = new Reports(transport);
    this.questionnaireExports = new QuestionnaireExports(transport);
    this.events = new Events(transport);
    this.webhooks = new Webhooks(transport);
  }
}
