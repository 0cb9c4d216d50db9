"""A worker that comes back under the same host name and the same process number is another one all the same."""

import subprocess

import pytest

from tests.run.worker.faults.rig import SLOTS, WORKERS, Rig, lack, needs, size

NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")  # in which each worker is process 1

pytestmark = [pytest.mark.nightly, pytest.mark.faults]


@pytest.fixture
def namespace() -> tuple[str, ...]:
    """The prefix of a command that makes a worker process 1."""
    needs("unshare")
    if subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        lack("the right to make process namespaces: root")
    return NAMESPACE


async def test_the_same_name_again(rig: Rig, namespace: tuple[str, ...]) -> None:
    restarts, items = size(5, 20), size(1_000, 20_000)
    await rig.fill(organizations=size(4, 20), lanes=2, items=items)
    async with rig.sink(pause=0.01), rig.workers(count=0) as workers:
        for _ in range(WORKERS):
            workers.start_one(before=namespace)
        for _ in range(restarts):
            await rig.gap(mails=items / (restarts + 2))
            workers.kill(workers.one())
            workers.start_one(before=namespace)
        await rig.drained()
        owners = await rig.connection.fetchval("select count(distinct owner) from attempt")
        hits = rig.hits
        for child in workers.working:
            workers.kill(child)  # the outermost process of a namespace passes no SIGTERM on
    await rig.reconcile(unknown_max=hits * SLOTS)
    rig.tell(f"T03 {owners} runs of process 1, {hits} of them killed")
    assert owners > WORKERS
