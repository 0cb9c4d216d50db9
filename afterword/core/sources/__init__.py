"""Systems that tell of orders, deliveries and tickets: who signed a call, and what it says."""

from collections.abc import Mapping
from typing import Final

from afterword.core.sources import (
    freshdesk,
    general,
    hubspot,
    magento,
    prestashop,
    shopify,
    stripe,
    woocommerce,
    zendesk,
)
from afterword.core.sources.parts import SourceKind

_MODULES: Final = (shopify, woocommerce, magento, prestashop, stripe, zendesk, freshdesk, hubspot, general)
KINDS: Final[Mapping[str, SourceKind]] = {module.KIND.name: module.KIND for module in _MODULES}
