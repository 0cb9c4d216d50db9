"""Pictures of forms, encoded again in a thread."""

import asyncio
from typing import Final

from afterword.console.screens import Form
from afterword.organizations.assets import encoding
from afterword.organizations.assets.encoding import Encoded

LOGO_SIDE_MAX: Final = 640  # for screens of two pixels a dot


async def encoded(form: Form, name: str, *, side_max: int = LOGO_SIDE_MAX) -> Encoded | None:
    """The picture of a field, or None. Raises Invalid at the field."""
    content = form.files.get(name)
    if content is None:
        return None
    return await asyncio.to_thread(encoding.encode, content, side_max=side_max, pointer=f"/{name}")
