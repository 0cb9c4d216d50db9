"""The HTTP routes of the event log, of webhooks and of their deliveries."""

from afterword.events import deliveries, log, webhooks
from afterword.events.service import Render
from afterword.kit.web.operations import Routes


def routes_of(render: Render) -> list[Routes]:
    return [log.routes_of(render), webhooks.routes, deliveries.routes]
