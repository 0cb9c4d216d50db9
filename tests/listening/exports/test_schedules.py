"""Exports on a timetable: the refusals of a schedule, its times, and what a check says of its destination."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.listening.exports import schedules
from tests.conftest import SITE
from tests.event_log import list_events
from tests.listening.exports.conftest import CSAT, Shop, Timetable
from tests.making import make_token
from tests.pruning import prune

SFTP = {"destination": "sftp", "host": "sftp.example.com", "username": "ann", "secret": "s"}
S3 = {"destination": "s3", "bucket": "answers", "access_key": "AKIAEXAMPLE", "secret": "a secret key"}


class TestCreate:
    async def test_wrong(self, timetable: Timetable) -> None:
        for given, pointer, code in (
            ({"path": "../other"}, "/path", "invalid_format"),
            ({"path": "a/../../b"}, "/path", "invalid_format"),
            ({"path": "/etc"}, "/path", "invalid_format"),
            ({"path": ".ssh"}, "/path", "invalid_format"),
            ({"path": "a//b"}, "/path", "invalid_format"),
            ({"hour": 24}, "/hour", "out_of_range"),
            ({"questionnaire_id": "0" * 22}, "/questionnaire_id", "unknown_id"),
            ({"filter": {"all": 7}}, "/filter/all", "wrong_type"),
            ({"bucket": "answers"}, "/bucket", "unknown_value"),
            ({**S3}, "/endpoint", "required"),
            ({**S3, "endpoint": "http://10.1.2.3"}, "/endpoint", "invalid_format"),
            ({**S3, "endpoint": "https://169.254.169.254"}, "/endpoint", "invalid_format"),
            ({**S3, "endpoint": "https://s3.example.com/?x=1"}, "/endpoint", "invalid_format"),
            ({**S3, "endpoint": "https://s3.example.com", "bucket": "a/b"}, "/bucket", "invalid_format"),
            ({**S3, "endpoint": "https://s3.example.com", "secret": None}, "/secret", "required"),
            ({**SFTP, "host": "10.1.2.3"}, "/host", "invalid_format"),
            ({**SFTP, "host_key": "ssh-rsa x"}, "/host_key", "invalid_format"),
            ({**SFTP, "region": "eu"}, "/region", "unknown_value"),
        ):  # fmt: skip
            problem = await timetable.schedule(422, **given)
            assert [(pointer, code)] == [(each["pointer"], each["code"]) for each in problem["errors"]], given

    async def test_no_folder_of_the_installation(self, shop: Shop) -> None:
        bare = Timetable(shop.house, shop.pool, shop.client, SITE)
        problem = await bare.schedule(422)
        assert ["/destination"] == [each["pointer"] for each in problem["errors"]]

    async def test_folder_is_taken(self, timetable: Timetable) -> None:
        await timetable.schedule()
        problem = await timetable.schedule(422, title="Another")
        assert ["/path"] == [each["pointer"] for each in problem["errors"]]

    async def test_scopes(self, timetable: Timetable) -> None:
        for scopes, status in (
            ({"Questionnaire Export.Create"}, 403),
            ({"Questionnaire Export.Create", "Questionnaire Instance.Read"}, 201),
        ):
            token = await make_token(timetable.pool, timetable.house.organization_id, scopes=scopes)
            document = {"title": "A", "questionnaire_id": timetable.house.questionnaire_id, "path": "a"}
            response = await timetable.client.post(
                "/v3.2/export/schedule",
                json={**document, "destination": "folder"},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert status == response.status_code, response.text

    async def test_ok(self, timetable: Timetable) -> None:
        endpoint = "https://s3.example.com"
        made = await timetable.schedule(**S3, endpoint=endpoint, every="weekly", day=2, hour=7)
        assert "a secret key" not in json.dumps(made)
        assert (True, True) == (made["active"], made["has_secret"])
        moment = datetime.fromisoformat(made["next_time"])
        assert (2, 7) == (moment.isoweekday(), moment.hour)  # in the zone of the organization
        path = f"/export/schedule/{made['schedule_id']}"
        assert None is (await timetable.send("PATCH", path, {"active": False}))["next_time"]
        problem = await timetable.send("PATCH", path, {"endpoint": "https://s3.example.org"}, 422)
        assert ["/secret"] == [each["pointer"] for each in problem["errors"]]
        await timetable.send("PATCH", path, {"endpoint": "https://s3.example.org", "secret": "new"})
        await timetable.send("DELETE", path, status=204)
        await timetable.send("GET", path, status=404)


class TestRun:
    async def test_under_way(self, timetable: Timetable) -> None:
        path = f"/export/schedule/{(await timetable.schedule())['schedule_id']}/run"
        await timetable.send("POST", path, status=201)
        await timetable.send("POST", path, status=409)

    async def test_due(self, timetable: Timetable) -> None:
        schedule = await timetable.schedule(every="hourly")
        async with db.transaction(timetable.pool) as database:
            now = database.clock.now()
            assert 0 == await schedules.begin_due(database, now=now, limit=9)
            later = now + timedelta(hours=1)
            assert 1 == await schedules.begin_due(database, now=later, limit=9)
            assert 0 == await schedules.begin_due(database, now=later, limit=9)
        await timetable.ship()
        assert "done" == (await timetable.last_run(schedule))["state"]
        assert None is not (await timetable.get_schedule(schedule))["last_time"]

    async def test_off(self, timetable: Timetable) -> None:
        """A failure may put a run nearer, but no timetable begins again."""
        schedule = await timetable.schedule(active=False)
        timetable.site = replace(timetable.site, export_folder=f"{timetable.site.export_folder}/missing")
        await timetable.run(schedule)
        async with db.transaction(timetable.pool) as database:
            await schedules.begin_due(database, now=database.clock.now() + timedelta(days=1), limit=9)
        assert None is (await timetable.get_schedule(schedule))["next_time"]

    async def test_another_destination_begins_anew(self, timetable: Timetable) -> None:
        await timetable.respond({CSAT: Given(1)})
        schedule = await timetable.schedule()
        path = f"/export/schedule/{schedule['schedule_id']}"
        await timetable.run(schedule)
        await timetable.send("POST", f"{path}/run", status=201)
        await timetable.send("PATCH", path, {"path": "elsewhere"})
        assert "cancelled" == (await timetable.last_run(schedule))["state"]
        assert 1 == (await timetable.run(schedule))["row_count"]
        assert "elsewhere/codebook.json" in timetable.files

    async def test_failures_are_told(self, timetable: Timetable) -> None:
        in_three_days = (datetime.now(UTC) + timedelta(days=3)).isoweekday()  # no run of the timetable comes before
        schedule = await timetable.schedule(every="weekly", day=in_three_days)
        good = timetable.site
        timetable.site = replace(good, export_folder=f"{good.export_folder}/missing")
        for seconds in (600, 1_200, 2_400):
            shown = await timetable.get_schedule(schedule)
            async with db.transaction(timetable.pool) as database:
                due = datetime.fromisoformat(shown["next_time"]) + timedelta(seconds=1)
                assert 1 == await schedules.begin_due(database, now=due, limit=9)
            await timetable.ship()
            shown, run = await timetable.get_schedule(schedule), await timetable.last_run(schedule)
            times = (datetime.fromisoformat(each) for each in (shown["next_time"], run["finished_time"]))
            assert seconds == pytest.approx((next(times) - next(times)).total_seconds(), abs=2)
        async with db.transaction(timetable.pool) as database:
            told = [
                one
                for one in await list_events(database, organization_id=timetable.house.organization_id)
                if one.type == "export_schedule.failed"
            ]
        assert [schedule["schedule_id"]] == [one.subject_id for one in told]
        timetable.site = good
        await timetable.run(schedule)
        shown = await timetable.get_schedule(schedule)
        assert (None, 0) == (shown["problem"], shown["failures"])

    async def test_pruned(self, timetable: Timetable) -> None:
        schedule = await timetable.schedule()
        await timetable.run(schedule)
        async with db.transaction(timetable.pool) as database:
            await database.execute("update export_run set finished_time = finished_time - interval '91 days'")
            assert 1 == await prune(database, "runs of exports on a timetable")


@pytest.fixture(scope="module")
def moto_url() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def bucket_of(url: str, name: str) -> Any:
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
    resource: Any = boto3.resource("s3", endpoint_url=url, **keys)
    return resource.create_bucket(Bucket=name)


class TestS3:
    async def test_check(self, timetable: Timetable, moto_url: str) -> None:
        bucket_of(moto_url, "checked")
        schedule = await timetable.schedule(**{**S3, "bucket": "checked"}, endpoint=moto_url)
        path = f"/export/schedule/{schedule['schedule_id']}"
        assert None is (await timetable.send("POST", f"{path}/check"))["problem"]
        await timetable.send("PATCH", path, {"bucket": "missing"})
        check = await timetable.send("POST", f"{path}/check")
        assert ("no_bucket", True) == (check["problem"], check["reply"].startswith("NoSuchBucket"))

    async def test_failures(self, timetable: Timetable) -> None:
        """A private network, a secret of another key, and nobody there."""
        schedule, good = await timetable.schedule(**S3, endpoint="http://127.0.0.1:9"), timetable.site
        for site, error in (
            (replace(good, networks=()), "blocked"),
            (replace(good, secret=b"x" * 32), "secret_lost"),
            (good, "not_reached"),
        ):
            timetable.site = site
            assert error == (await timetable.run(schedule))["error"]

    async def test_ok(self, timetable: Timetable, moto_url: str) -> None:
        instance_id = await timetable.respond({CSAT: Given(2)})
        day, bucket = await timetable.shift(instance_id, 3), bucket_of(moto_url, "answers")
        schedule = await timetable.schedule(**S3, endpoint=moto_url, format="csv")
        run = await timetable.run(schedule)
        assert ("done", 1) == (run["state"], run["row_count"]), run
        name = f"delivery/responses/date={day}/part-00000.csv"
        assert instance_id.encode() in bucket.Object(name).get()["Body"].read()
        assert 0 == (await timetable.run(schedule))["days_written"]
        bucket.objects.all().delete()  # by somebody else
        assert 1 == (await timetable.run(schedule))["days_written"]
        await timetable.delete(f"/q/instance/{instance_id}")
        await timetable.run(schedule)
        assert ["delivery/codebook.json"] == [one.key for one in bucket.objects.all()]
