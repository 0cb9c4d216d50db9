import pytest
from tests.contract.world import *
from tests.contract.wire import *
import time
pytestmark = pytest.mark.asyncio(loop_scope="module")
@every_route
async def test_x(world: World, route) -> None:
    t=time.perf_counter()
    reply = await world.ask(route.method, world.ours.path(route))
    print(route.path, reply.status, time.perf_counter()-t)
    assert problem_faults(reply)==[]
    print(world.ours.ids, world.theirs.ids)
