"""The HTTP routes of the event log, of webhooks and of their deliveries."""

from afterword.events import webhooks
from afterword.events.deliveries import api as deliveries_api
from afterword.events.log import api as log_api
from afterword.events.service import Render
from afterword.kit.web.operations import Routes


def routes_of(render: Render) -> list[Routes]:
    return [log_api.routes_of(render), webhooks.routes, deliveries_api.routes]
