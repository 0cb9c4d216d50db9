from afterword.core.questionnaires import flow
from afterword.core.reading.findings import Findings
from tests.core.questionnaires.test_endings import HAPPY, OTHERS, parsed

POOLED = {**HAPPY, "coupon_pool": "thanks"}


def test_pools() -> None:
    definition = parsed(POOLED, {**POOLED, "key": "again"}, OTHERS)
    paths = ["/endings/0/coupon_pool", "/endings/1/coupon_pool"]
    assert {"thanks": paths} == flow.pools_of(definition)
    for pools, expected in ((["thanks"], []), ([], paths)):
        findings = Findings()
        flow.check(definition, pools=pools, pictures=[], findings=findings)
        assert expected == [one.path for one in findings.found]
