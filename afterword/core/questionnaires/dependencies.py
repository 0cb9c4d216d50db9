"""Coupon pools and pictures that a definition names, each with the paths that name it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.pictures import read_address
from afterword.core.reading.findings import Findings
from afterword.errors import Sentence


def pools_of(definition: Definition) -> Mapping[str, Sequence[str]]:
    """Paths by the key of the pool."""
    found = defaultdict[str, list[str]](list)
    for number, ending in enumerate(definition.endings):
        if ending.coupon_pool is not None:
            found[ending.coupon_pool].append(f"/endings/{number}/coupon_pool")
    return found


def pictures_of(definition: Definition) -> Mapping[str, Sequence[str]]:
    """Paths by the id of the asset."""
    found = defaultdict[str, list[str]](list)
    for group_index, group in enumerate(definition.groups):
        for index, question in enumerate(group.questions):
            for number, choice in enumerate(question.choices):
                picture = choice.picture and read_address(choice.picture)
                if picture:
                    path = f"/groups/{group_index}/questions/{index}/choices/{number}/picture"
                    found[picture.asset_id].append(path)
    return found


def check(definition: Definition, *, pools: Collection[str], pictures: Collection[str], findings: Findings) -> None:
    """Note what is missing. `pools`: the keys, and `pictures`: the ids, of those that exist."""
    for key, paths in pools_of(definition).items():
        if key not in pools:
            for path in paths:
                findings.error(path, "unknown_id", Sentence("There is no coupon pool with the key {key}.", key=key))
    for asset_id, paths in pictures_of(definition).items():
        if asset_id not in pictures:
            for path in paths:
                findings.error(path, "unknown_id", "There is no such picture any more. Choose another.")
