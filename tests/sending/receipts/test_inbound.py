"""Callbacks of providers: a forged one changes nothing and calls nobody, a good one counts once."""

import asyncio
import base64
import itertools
import json
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from afterword.core.messaging import webhooks
from afterword.core.messaging.reply_text import ITEM_HEADER, item_proof
from afterword.kit.transport.base import Sent
from afterword.sending.providers import service
from afterword.sending.queue.records import QueueItemRecord
from afterword.sending.receipts import inbound
from afterword.sending.receipts.inbound import Adapter
from tests.bar import Tell
from tests.conftest import House
from tests.sending.channels.receiver import closed_port
from tests.sending.queue.conftest import SMS, Client, Queue, codes

TOPIC: Final = "arn:aws:sns:eu-central-1:123456789012:bounces"
STRANGERS: Final = "arn:aws:sns:eu-central-1:666666666666:bounces"
ANN: Final = {"emailAddress": "ann@example.com"}
FULL: Final = "smtp; 552 5.1.1 Mailbox is full"
COMPLAINT: Final = {
    "notificationType": "Complaint",
    "complaint": {"complainedRecipients": [ANN], "complaintFeedbackType": "abuse"},
}
DELIVERY: Final = {
    "notificationType": None,
    "eventType": "Delivery",
    "delivery": {"recipients": ["ann@example.com"], "timestamp": "2026-11-21T10:00:00.000Z"},
}
METADATA: Final = "https://169.254.169.254/latest/meta-data/iam/security-credentials/"
Signer = tuple[rsa.RSAPrivateKey, str]
GATEWAY_SECRET: Final = "a secret of the gateway"
BY_GET: Final = {
    "form": "query", "id": "ref", "status": "status", "states": {"1": "delivered", "16": "no_address"},
    "signature": {"parameter": "token", "secret": GATEWAY_SECRET},
}  # fmt: skip
TABLES: Final = (
    "queue_item", "attempt", "event", "suppression", "questionnaire_instance", "delivery_report", "inbound_endpoint",
)  # fmt: skip


@pytest.fixture(scope="module")
def signer() -> Signer:
    """A key of the provider's and its certificate."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.example.com")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    return key, builder.sign(key, SHA256()).public_bytes(Encoding.PEM).decode()


@pytest.fixture
def outgoing(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """All lookups and connection attempts in this process, except for the database's socket."""
    tried: list[object] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def watched(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX:
            tried.append(address)
        connect(self, address)

    def watched_names(host: Any, *more: Any, **options: Any) -> Any:
        tried.append(host)
        return look_up(host, *more, **options)

    monkeypatch.setattr(socket.socket, "connect", watched)
    monkeypatch.setattr(socket, "getaddrinfo", watched_names)
    return tried


async def state(queue: Queue) -> list[Any]:
    return [await queue.fetch(f"select * from {table} order by 1, 2, 3") for table in TABLES]


async def sent(queue: Queue, address: str = "ann@example.com") -> QueueItemRecord:
    return await queue.sent(address, outcome=Sent("reference-1", 250, "2.0.0 Ok"))


async def opened(queue: Queue, adapter: Adapter = "standard", **pinned: str) -> tuple[str, str]:
    """The path of an endpoint, and its key if it has one."""
    account_id = await queue.account_id()
    inbound_id, key = await queue.run(
        inbound.open_endpoint,
        organization_id=queue.house.organization_id,
        account_id=account_id,
        adapter=adapter,
        site=queue.house.site,
        now=await queue.now(),
        **pinned,
    )
    return f"/inbound/{inbound_id}", key or ""


async def pinned(queue: Queue, signer: Signer) -> str:
    """The path of an endpoint that is pinned to our topic."""
    path, _ = await opened(queue, "sns", topic=TOPIC, certificate=signer[1])
    return path


async def called_back(queue: Queue, receipt: Mapping[str, Any]) -> str:
    """The path of a new account at a gateway whose receipts read so."""
    url = "https://sms.gateway.example/send?to={to_digits}&text={text}&ref={id}"
    account, _ = await queue.run(
        service.add_account,
        organization_id=queue.house.organization_id,
        kind="sms_http",
        title=None,
        settings={"url": url, "method": "GET", "form": "none", "receipt": receipt},
        is_default=True,
        site=queue.house.site,
        now=await queue.now(),
    )
    return "/inbound/" + await queue.value(
        "select inbound_id from inbound_endpoint where account_id = $1", account.account_id
    )


def headers_of(body: bytes, key: str, *, age: float = 0, message_id: str = "msg_1") -> dict[str, str]:
    timestamp = int(datetime.now(UTC).timestamp() - age)
    signed = webhooks.sign(body, event_id=message_id, timestamp=timestamp, keys=[key])
    return {**signed, "content-type": "application/json"}


def bounce(item: QueueItemRecord, **more: object) -> bytes:
    return json.dumps([{"kind": "bounced", "item_id": item.item_id, "code": "5.1.1", "text": "gone", **more}]).encode()


async def post(http: httpx2.AsyncClient, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> int:
    reply = await http.post(f"https://answers.example{path}", content=body, headers=headers)
    return reply.status_code


def notification(
    signer: Signer,
    message: object,
    *,
    topic: str = TOPIC,
    kind: str = "Notification",
    age: timedelta = timedelta(),
    version: str = "2",
    digest: HashAlgorithm | None = None,
    url: str = "https://sns.example.com/?Action=ConfirmSubscription",
) -> dict[str, Any]:
    time = (datetime.now(UTC) - age).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    text = message if isinstance(message, str) else json.dumps(message)
    envelope = {"Type": kind, "MessageId": "m-1", "TopicArn": topic, "Message": text, "Timestamp": time}
    if kind != "Notification":
        envelope |= {"Token": "t" * 64, "SubscribeURL": url}
    signed = "".join(f"{name}\n{envelope[name]}\n" for name in sorted(envelope))
    signature = signer[0].sign(signed.encode(), padding.PKCS1v15(), digest or SHA256())
    return {
        **envelope, "SignatureVersion": version, "Signature": base64.b64encode(signature).decode(),
        "SigningCertURL": "https://169.254.169.254/cert.pem",
    }  # fmt: skip


def mail_bounce(item: QueueItemRecord, *, with_headers: bool = True, **bounced: object) -> dict[str, object]:
    headers = [{"name": ITEM_HEADER, "value": item_proof(item.item_id, b"k" * 32)}] if with_headers else []
    recipients = [{"emailAddress": "ann@example.com", "status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 unknown"}]
    return {
        "notificationType": "Bounce",
        "mail": {"messageId": "ses-1", "destination": ["ann@example.com"], "headers": headers},
        "bounce": {"bounceType": "Permanent", "bounceSubType": "General", "bouncedRecipients": recipients, **bounced},
    }


@dataclass(frozen=True)
class Scene:
    """Two houses, and the provider's key and certificate."""

    queue: Queue
    neighbour: House
    signer: Signer


@dataclass(frozen=True)
class Callback:
    """A provider's request, and the status of its answer."""

    status: int
    path: str
    body: bytes
    headers: Mapping[str, str] | None = None


async def to_unknown_addresses(scene: Scene) -> list[Callback]:
    body = bounce(await sent(scene.queue))
    paths = ("/inbound/" + "0" * 22, "/inbound/short", "/inbound/..%2f..%2fetc", "/inbound/", "/inbound")
    return [Callback(404, path, body) for path in paths]


async def not_signed_well(scene: Scene) -> list[Callback]:
    body = bounce(await sent(scene.queue))
    path, key = await opened(scene.queue)
    good = headers_of(body, key)
    other = "whsec_" + base64.b64encode(b"x" * 32).decode()
    later = str(int(good["webhook-timestamp"]) + 1)
    forged: list[tuple[bytes, Mapping[str, str]]] = [
        (body, {"content-type": "application/json"}),
        (body, headers_of(body, other)),
        (body + b" ", good),
        (body, {**good, "webhook-id": "msg_2"}),
        (body, headers_of(body, key, age=600)),  # 10 minutes old
        (body, headers_of(body, key, age=-600)),
        (body, {**good, "webhook-timestamp": later}),
        (body, {**good, "webhook-timestamp": "soon"}),
        (body, {**good, "webhook-timestamp": "9" * 400}),
        (body, {**good, "webhook-signature": good["webhook-signature"].replace("v1,", "v2,")}),
        (body, {**good, "webhook-signature": "v1,"}),
        (body, {**good, "webhook-signature": "x"}),
    ]
    return [Callback(401, path, content, headers) for content, headers in forged]


async def signed_and_no_report(scene: Scene) -> list[Callback]:
    await sent(scene.queue)
    path, key = await opened(scene.queue)
    bodies = (
        b"", b"{}", b"[1]", b'[{"kind":"exploded"}]', b"\xff", b"[" * 5000,
        b'[{"kind": "bounced", "more": ' + b"[" * 200_000, json.dumps([{"kind": "bounced"}] * 501).encode(),
    )  # fmt: skip
    large = b" " * 1_048_577
    return [
        *(Callback(422, path, body, headers_of(body, key)) for body in bodies),
        Callback(413, path, large, headers_of(large, key)),
    ]


async def of_foreign_messages(scene: Scene) -> list[Callback]:
    """Signed by whom the endpoint knows, and about somebody else's message: nothing is said of whether there is one."""
    item = await sent(Queue(scene.queue.pool, scene.neighbour, scene.neighbour.pipeline_id))
    path, key = await opened(scene.queue)
    bodies = (
        bounce(item), bounce(item, item_id="0" * 22), bounce(item, item_id=None, recipient="ann@example.com"),
    )  # fmt: skip
    return [Callback(204, path, body, headers_of(body, key)) for body in bodies]


async def of_an_account_without_callbacks(scene: Scene) -> list[Callback]:
    path, _ = await opened(scene.queue, "provider")
    return [Callback(401, path, b"MessageStatus=delivered")]


async def forged_notifications(scene: Scene) -> list[Callback]:
    item, path, signer = await sent(scene.queue), await pinned(scene.queue, scene.signer), scene.signer
    notice = mail_bounce(item)
    other = rsa.generate_private_key(65537, 2048), ""
    good = notification(signer, notice)
    forged: list[dict[str, Any]] = [
        notification(other, notice),
        notification(signer, notice, topic=STRANGERS),  # signed well
        {**notification(signer, notice, topic=STRANGERS), "TopicArn": TOPIC},
        {**good, "Message": json.dumps(mail_bounce(item, bounceType="Transient"))},
        notification(signer, notice, version="1"),
        notification(signer, notice, version="1", digest=SHA1()),  # noqa: S303
        notification(signer, notice, digest=SHA1()),  # noqa: S303  and says that it is the newer
        {name: value for name, value in good.items() if name != "Signature"},
        {**good, "MessageId": 7},
        {**good, "Signature": "é"},
        notification(signer, notice, age=timedelta(days=2)),
        notification(signer, notice, age=timedelta(days=-1)),
        notification(signer, "", topic=STRANGERS, kind="SubscriptionConfirmation"),
        {**notification(signer, "", kind="SubscriptionConfirmation"), "SubscribeURL": METADATA},
    ]
    unreadable = (b"", b"[]", b"{}", b'{"Type":"Other"}', b"\xff", b"[" * 200_000)
    return [
        *(Callback(401, path, json.dumps(envelope).encode()) for envelope in forged),
        *(Callback(422, path, body) for body in unreadable),
    ]


async def notifications_that_say_nothing(scene: Scene) -> list[Callback]:
    await sent(scene.queue)
    path = await pinned(scene.queue, scene.signer)
    notices: list[object] = [
        "You have chosen to subscribe", "7", "null", {},
        {"notificationType": "Bounce"}, {"notificationType": ["x"]},
        {"notificationType": "Bounce", "mail": 7, "bounce": {"bouncedRecipients": [7, {"emailAddress": 7}]}},
        {"notificationType": "Delivery", "delivery": {"recipients": {"a": 1}}},
        {"notificationType": "Complaint", "mail": {"headers": [7, {"name": ITEM_HEADER}]}, "complaint": []},
    ]  # fmt: skip
    return [Callback(204, path, json.dumps(notification(scene.signer, notice)).encode()) for notice in notices]


async def confirmations_of_other_addresses(scene: Scene) -> list[Callback]:
    path = await pinned(scene.queue, scene.signer)
    urls = (
        METADATA, "http://sns.example.com/", "https://user@sns.example.com/", "https://[::1]/", "javascript:x",
        "https://1.2.3",
    )  # fmt: skip
    told = [notification(scene.signer, "", kind="SubscriptionConfirmation", url=url) for url in urls]
    return [Callback(204, path, json.dumps(envelope).encode()) for envelope in told]


FORGERIES: Final = (
    to_unknown_addresses, not_signed_well, signed_and_no_report, of_foreign_messages, of_an_account_without_callbacks,
    forged_notifications, notifications_that_say_nothing, confirmations_of_other_addresses,
)  # fmt: skip


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
async def test_nothing_changes_and_nobody_is_called(
    http: httpx2.AsyncClient,
    queue: Queue,
    neighbour: House,
    signer: Signer,
    outgoing: list[object],
    tell: Tell,
    forge: Callable[[Scene], Awaitable[Sequence[Callback]]],
) -> None:
    forged = await forge(Scene(queue, neighbour, signer))
    before = await state(queue)
    outgoing.clear()
    found = [await post(http, each.path, each.body, each.headers) for each in forged]
    changes = sum(was != now for was, now in zip(before, await state(queue), strict=True))
    tell(
        "{callbacks} callbacks tried: state changes {changes}, outgoing connections {outgoing}",
        callbacks=len(found), changes=changes, outgoing=len(outgoing), whole=len(FORGERIES),
    )  # fmt: skip
    assert [each.status for each in forged] == found
    assert (0, []) == (changes, outgoing)


async def counts_once(
    http: httpx2.AsyncClient, queue: Queue, item: QueueItemRecord, posts: Sequence[Callback], tell: Tell
) -> None:
    """The first changes what it should, the others nothing."""
    states = [await state(queue)]
    for each in posts:
        assert each.status == await post(http, each.path, each.body, each.headers)
        states.append(await state(queue))
    counted = sum(was != now for was, now in itertools.pairwise(states))
    tell(f"a valid one, posted {len(posts)} times: counted {counted}")
    assert 1 == counted
    assert ["created", "sent!", "bounced"] == await queue.told(item)
    assert "hard_bounce" == await queue.value("select reason from suppression")


async def test_the_watch_sees_calls(outgoing: list[object]) -> None:
    """So its silence means something."""
    with closed_port() as port:
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(OSError):
                await asyncio.open_connection(host, port)
    assert ("127.0.0.1", port) in outgoing
    assert "localhost" in outgoing


class TestOwnForm:
    async def test_nothing_is_there_to_read(self, http: httpx2.AsyncClient, queue: Queue) -> None:
        path, _ = await opened(queue)
        assert 405 == (await http.get(f"https://answers.example{path}")).status_code

    async def test_a_valid_one_counts_once(
        self, http: httpx2.AsyncClient, queue: Queue, outgoing: list[object], tell: Tell
    ) -> None:
        item = await sent(queue)
        body = bounce(item)
        path, key = await opened(queue)
        again = headers_of(body, key, message_id="msg_2")
        posts = [
            Callback(204, path, body, headers) for headers in (headers_of(body, key), headers_of(body, key), again)
        ]
        await counts_once(http, queue, item, posts, tell)
        assert [] == outgoing

    async def test_our_own_receiver_reads_what_a_standard_sender_signs(
        self, queue: Queue, http: httpx2.AsyncClient
    ) -> None:
        from standardwebhooks import Webhook  # noqa: PLC0415  the other side's library

        body = bounce(await sent(queue))
        path, key = await opened(queue)
        now = datetime.now(UTC)
        headers = {
            "webhook-id": "msg_9", "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Webhook(key).sign("msg_9", now, body.decode()),
        }  # fmt: skip
        assert 204 == await post(http, path, body, headers)

    @pytest.mark.usefixtures("one_minute")
    async def test_sources_that_guess_are_slowed_down(self, http: httpx2.AsyncClient, queue: Queue) -> None:
        body = bounce(await sent(queue))
        path, key = await opened(queue)
        codes = [await post(http, path, b"[]") for _ in range(70)]
        assert {401, 429} == set(codes)
        assert 204 == await post(http, path, body, headers_of(body, key))  # the provider behind the same address


class TestByGet:
    """A gateway that calls back an address as it was given, with everything in its query."""

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    async def test_other_forms(self, http: httpx2.AsyncClient, queue: Queue, signer: Signer, method: str) -> None:
        paths = [
            (await opened(queue))[0],
            await pinned(queue, signer),
            await called_back(
                queue, {**BY_GET, "form": "form", "signature": {"header": "X", "secret": GATEWAY_SECRET}}
            ),
        ]
        for path in paths:
            reply = await http.request(method, f"https://answers.example{path}", params={"token": GATEWAY_SECRET})
            assert (405, {"OPTIONS", "POST"}) == (reply.status_code, set(reply.headers["allow"].split(", ")))

    async def test_a_scanner_changes_nothing(self, http: httpx2.AsyncClient, queue: Queue) -> None:
        path = await called_back(queue, BY_GET)
        item = await sent(await queue.pipeline(channel_id=SMS), "+306900000000")
        before = await state(queue)
        about = {"ref": item.item_id, "status": "16"}
        asked = [("GET", path, {}), ("GET", path, about), ("GET", path, {**about, "token": "x"})]
        asked += [("HEAD", path, {**about, "token": GATEWAY_SECRET}), ("GET", "/inbound/" + "0" * 22, about)]
        codes = [
            (await http.request(method, f"https://answers.example{where}", params=query)).status_code
            for method, where, query in asked
        ]
        assert [401, 401, 401, 405, 404] == codes
        assert before == await state(queue)

    async def test_a_receipt_counts_once(self, http: httpx2.AsyncClient, queue: Queue) -> None:
        path = await called_back(queue, BY_GET)
        item = await sent(await queue.pipeline(channel_id=SMS), "+306900000000")
        query = {"ref": item.item_id, "status": "16", "token": GATEWAY_SECRET}
        for _ in range(2):
            reply = await http.get(f"https://answers.example{path}", params=query)
            assert 200 == reply.status_code
        assert ["created", "sent!", "bounced"] == await queue.told(item)
        assert "hard_bounce" == await queue.value("select reason from suppression")


class TestNotifications:
    async def test_a_bounce_counts_once(
        self, http: httpx2.AsyncClient, queue: Queue, signer: Signer, outgoing: list[object], tell: Tell
    ) -> None:
        item = await sent(queue)
        path = await pinned(queue, signer)
        body = json.dumps(notification(signer, mail_bounce(item))).encode()
        await counts_once(http, queue, item, [Callback(204, path, body)] * 2, tell)
        assert [] == outgoing

    @pytest.mark.parametrize(
        ("notice", "told", "suppressed"),
        [
            (lambda item: mail_bounce(item, bounceType="Transient"), "bounced", None),
            (lambda item: mail_bounce(item, bouncedRecipients=[{**ANN, "status": "5.2.2"}]), "bounced", None),
            (lambda item: mail_bounce(item, bouncedRecipients=[{**ANN, "diagnosticCode": FULL}]), "bounced", None),
            (lambda item: mail_bounce(item, with_headers=False), "bounced", "hard_bounce"),  # told by its recipient
            (lambda item: mail_bounce(item) | COMPLAINT, "complained", "complaint"),
            (lambda item: mail_bounce(item) | DELIVERY, "delivered", None),
        ],
        ids=["transient", "full", "full under 5.1.1", "without headers", "complaint", "delivery"],
    )
    async def test_what_else_is_told(
        self,
        http: httpx2.AsyncClient,
        queue: Queue,
        signer: Signer,
        notice: Callable[[QueueItemRecord], object],
        told: str,
        suppressed: str | None,
    ) -> None:
        item = await sent(queue)
        path = await pinned(queue, signer)
        assert 204 == await post(http, path, json.dumps(notification(signer, notice(item))).encode())
        assert ["created", "sent!", told] == await queue.told(item)
        assert suppressed == await queue.value("select reason from suppression")

    async def test_a_confirmation_is_shown_and_never_called(
        self, http: httpx2.AsyncClient, queue: Queue, signer: Signer, outgoing: list[object]
    ) -> None:
        path = await pinned(queue, signer)
        body = json.dumps(notification(signer, "", kind="SubscriptionConfirmation")).encode()
        assert 204 == await post(http, path, body)
        [endpoint] = await queue.run(inbound.list_endpoints, organization_id=queue.house.organization_id)
        assert "https://sns.example.com/?Action=ConfirmSubscription" == endpoint.confirm_url
        assert [] == outgoing


class TestOverHttp:
    async def test_refusals(self, http: httpx2.AsyncClient, queue: Queue, signer: Signer) -> None:
        client = Client(http, queue)
        account_id = await queue.value("select account_id from channel_account")
        body = {"account_id": account_id, "adapter": "standard"}
        for wrong, place in (
            ({**body, "account_id": "z" * 22}, ("/account_id", "unknown_id")),
            ({**body, "adapter": "provider"}, ("/adapter", "unknown_value")),
            ({**body, "adapter": "sns"}, ("/topic", "invalid_format")),
            ({**body, "adapter": "sns", "topic": "x", "certificate": signer[1]}, ("/topic", "invalid_format")),
            ({**body, "adapter": "sns", "topic": TOPIC}, ("/certificate", "invalid_format")),
            ({**body, "adapter": "sns", "topic": TOPIC, "certificate": "x"}, ("/certificate", "invalid_format")),
        ):
            assert [place] == codes(await client.send("POST", "/inbound", wrong))

    async def test_opened_used_and_closed(self, http: httpx2.AsyncClient, queue: Queue) -> None:
        """The key is shown this once, and works."""
        client = Client(http, queue)
        account_id = await queue.value("select account_id from channel_account")
        body = {"account_id": account_id, "adapter": "standard"}
        made = await client.send("POST", "/inbound", body, Idempotency_Key="one")
        key, path = made.json()["secret"], f"/inbound/{made.json()['inbound_id']}"
        assert key.startswith("whsec_")
        again = await client.send("POST", "/inbound", body, Idempotency_Key="one")
        shown = [await client.send("GET", path), await client.send("GET", "/inbound")]
        assert all(key not in each.text for each in (again, *shown))
        assert 409 == (await client.send("POST", "/inbound", body)).status_code
        report = bounce(await sent(queue))
        assert 204 == await post(http, path, report, headers_of(report, key))
        assert (await client.ok("GET", path))["last_time"] is not None
        assert [204, 404] == [(await client.send("DELETE", path)).status_code for _ in range(2)]
        assert 404 == await post(http, path, report, headers_of(report, key))


async def test_the_key_is_sealed(queue: Queue) -> None:
    _, key = await opened(queue)
    assert 32 == len(base64.b64decode(key.removeprefix("whsec_"), validate=True))
    settings = await queue.value("select settings from inbound_endpoint")
    assert key.encode() not in settings
    assert key.removeprefix("whsec_").encode() not in settings
