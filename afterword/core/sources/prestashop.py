"""PrestaShop: an order and its new state, posted by the module of docs/sources.md, signed as Standard Webhooks.

PrestaShop has no webhooks, and its flag `delivery` of a state means a delivery slip: the module says which state is
that of delivered orders.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from afterword.core.sources import paths, signatures
from afterword.core.sources.parts import ORDER_WHATS, SHARED_SECRET, Happening, SourceKind, What, labels_of

_ROLES: Final[Mapping[str, What]] = {what.removeprefix("order."): what for what in ORDER_WHATS}
_PATHS: Final = paths.PATHS["prestashop"]


def read(headers: Mapping[str, str], body: bytes) -> Sequence[Happening]:
    given = paths.document_of(headers, body)
    order_id, role = given.text("order.id", is_required=True), given.text("state.role")
    flags: What = "order.shipped" if given.flag("state.shipped") else "other"
    flags = "order.paid" if flags == "other" and given.flag("state.paid") else flags
    found = given.happening(
        _PATHS,
        event_id=given.text("header:webhook-id") or f"{order_id} {paths.digest_of(body)}",
        what=_ROLES.get(role, flags),
        name=f"order {role or given.text('state.name')}".strip(),
    )
    return [found]


KIND: Final = SourceKind(
    name="prestashop",
    label="PrestaShop",
    secret_label=SHARED_SECRET,
    verify=signatures.by_standard,
    read=read,
    whats=ORDER_WHATS,
    values=labels_of(*_PATHS.texts, *_PATHS.numbers),
    steps=(
        "PrestaShop has no webhooks of its own. The documentation has a module of one file.",
        "Install the module, and give it this URL and this secret.",
    ),
)
