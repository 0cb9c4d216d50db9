"""Texts that a careless comparison takes for a scope."""

from afterword.core.organizations.access import alias_of


def near_misses(scope: str) -> set[tuple[str, ...]]:
    """Sets of texts without the scope: spelled like it, parts of it, patterns, or the scope only when joined."""
    entity, action = scope.rsplit(".", 1)
    dot = [scope.replace(".", other) for other in (" .", ". ", "\u2024", ":", "", "..", "_")]
    space = [scope.replace(" ", other) for other in ("  ", "\u00a0", "\t", "_", "-", "", "%20", "+")]
    around = [
        text.format(scope)
        for text in ("{} ", " {}", "{}\n", "{}\u00a0", "\u00a0{}", "{}\u200b", "{}2", '"{}"', "{{{}}}", "{},Plan.Read")
    ]
    case = [scope.lower(), scope.upper(), scope.swapcase(), scope.capitalize(), alias_of(scope)]
    letters = [scope.replace("e", "\u0435"), chr(ord(scope[0]) + 0xFEE0) + scope[1:]]  # Cyrillic; full width
    part = [scope[:-1], scope[1:], entity, action, f"{entity}.", f".{action}", f"{scope}.{action}", scope[::-1]]
    joined = [f"{scope} Plan.Read", f"Plan.Read {scope}", f"{entity}.{entity}.{action}"]
    wild = [f"{entity}.*", f"*.{action}", "*", "*.*", "%", f"{entity}.%", f"{scope[:-4]}____", "", "null", "owner"]
    sets = [(entity, action), (f"{entity}.", action), tuple(scope), tuple(scope.split(" ", 1))]
    texts = (*dot, *space, *around, *case, *letters, *part, *joined, *wild)
    return {(text,) for text in texts}.union(sets) - {(scope,)}
