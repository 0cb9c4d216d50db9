"""Settings: a bad value stops the program and names itself, and never shows what it was."""

import dataclasses
from pathlib import Path

import pytest

from afterword.kit import settings

TARGETS = ("any", "primary", "standby", "prefer-standby", "read-write", "read-only")
MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
WRITTEN = "%40 %3A %2F %3F %23 %25 %5B %5D"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AFTERWORD_PORT", "zero"),
        ("AFTERWORD_PORT", "0"),
        ("AFTERWORD_PORT", "65536"),
        ("AFTERWORD_DATABASE_URL", "mysql://user:hunter2@host/db"),
        ("AFTERWORD_DATABASE_URL", "postgresql://host:port/db"),
        ("AFTERWORD_DATABASE_URL", "postgresql://user:hunter2,/x@host/db"),
        ("AFTERWORD_DATABASE_URL", "postgresql://one:port,two/db"),
        ("AFTERWORD_SMTP_URL", "http://user:hunter2@host"),
        ("AFTERWORD_PUBLIC_URL", "survey.example.com"),
        ("AFTERWORD_PUBLIC_URL", "ftp://survey.example.com"),
        ("AFTERWORD_PUBLIC_URL", "https://survey.example.com/path"),
        ("AFTERWORD_PUBLIC_URL", "https://"),
        ("AFTERWORD_PUBLIC_URL", "https://survey example.com"),
        ("AFTERWORD_CORS_ORIGINS", "https://*.shop.example"),
        ("AFTERWORD_PUBLIC_URL", "https://user:hunter2@survey.example.com"),
        ("AFTERWORD_CORS_ORIGINS", "*"),
        ("AFTERWORD_CORS_ORIGINS", "https://shop.example, https://shop.example/path"),
        ("AFTERWORD_TRUSTED_PROXIES", "*"),  # whoever connects could name any client
        ("AFTERWORD_TRUSTED_PROXIES", "10.0.0.1 10.0.0.2"),
        ("AFTERWORD_TRUSTED_PROXIES", "proxy.example.com"),
        ("AFTERWORD_NAME_SERVERS", "dns.example.com"),
        ("AFTERWORD_NAME_SERVERS", "9.9.9.9:0"),
        ("AFTERWORD_SECRET", "hunter2"),
        ("AFTERWORD_LOG_LEVEL", "loud"),
        ("AFTERWORD_LOG_FORMAT", "xml"),
        ("AFTERWORD_METRICS", "yes"),
        ("AFTERWORD_MAIL_FROM", "nobody"),
        ("AFTERWORD_MAIL_FROM", "a@b c"),
        ("AFTERWORD_MCP", "maybe"),
        ("AFTERWORD_WORKER_SLOTS", "0"),
        ("AFTERWORD_WORKER_POOL", "1"),  # a long job would leave none for mails
        ("AFTERWORD_STATEMENT_CACHE", "-1"),
        ("AFTERWORD_WORKER_LEASE_SECONDS", "40"),
        ("AFTERWORD_WORKER_LEASE_SECONDS", "50"),  # three heartbeats, and no margin
        ("AFTERWORD_WORKER_POLL_SECONDS", "nan"),
        ("AFTERWORD_PROT", "8080"),
        ("AFTERWORD_BACKUP_TO", "ftp://host/folder"),
        ("AFTERWORD_BACKUP_TO", "s3:///prefix"),
        ("AFTERWORD_BACKUP_TO", "s3:/bucket/prefix"),
        ("AFTERWORD_BACKUP_RECIPIENTS", "age1good, hunter2"),
    ],
)
def test_bad_value_names_itself(variable: str, value: str) -> None:
    with pytest.raises(settings.SettingError, match=variable) as caught:
        settings.read({variable: value})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("AFTERWORD_PORT", "http", "AFTERWORD_PORT: A whole number is expected."),
        ("AFTERWORD_PORT", "70000", "AFTERWORD_PORT: A whole number <= 65535 is expected."),
        ("AFTERWORD_WORKER_POLL_SECONDS", "soon", "AFTERWORD_WORKER_POLL_SECONDS: A number is expected."),
        ("AFTERWORD_MCP", "maybe", "AFTERWORD_MCP: True or false is expected."),
        ("AFTERWORD_SECRET", "hunter2", "AFTERWORD_SECRET: A text of length >= 32 is expected."),
        ("AFTERWORD_BACKUP_PASSPHRASE", "x" * 15, "AFTERWORD_BACKUP_PASSPHRASE: A text of length >= 16 is expected."),
        ("AFTERWORD_PUBLIC_URL", "https://shop.example:x", "AFTERWORD_PUBLIC_URL is not an address."),
        (
            "AFTERWORD_DATABASE_URL",
            "postgresql://user:a#b@host/db",
            f"AFTERWORD_DATABASE_URL is not an address: write @ : / ? # % [ ] in its user and password as {WRITTEN}.",
        ),
        (
            "AFTERWORD_DATABASE_URL",
            "postgresql://one,two/db?target_session_attrs=readwrite",
            f"AFTERWORD_DATABASE_URL has a wrong target_session_attrs: it is one of {', '.join(TARGETS)}.",
        ),
        (
            "AFTERWORD_DATABASE_URL",
            "postgresql://one/db?sslmode=verify-full&sslrootcert=/hunter2.crt",
            "AFTERWORD_DATABASE_URL has a wrong sslrootcert: there is no such file.",
        ),
        (
            "AFTERWORD_DATABASE_READ_URL",
            "postgresql://one/db?application_name=x&sslmode=required",
            f"AFTERWORD_DATABASE_READ_URL has a wrong sslmode: it is one of {', '.join(MODES)}.",
        ),
    ],
)
def test_what_is_expected_is_said_in_words(variable: str, value: str, sentence: str) -> None:
    with pytest.raises(settings.SettingError) as caught:
        settings.read({variable: value})
    assert sentence == str(caught.value)


def test_defaults() -> None:
    chosen = settings.read({})
    assert "http://localhost:8080" == chosen.site_url
    assert chosen.database_url is None
    assert chosen.smtp_url is None


def test_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "afterword.toml"
    file.write_text('port = 9000\npublic_url = "https://survey.example.com/"\nworker_slots = 7\n')
    chosen = settings.read({"AFTERWORD_PORT": "9001", "AFTERWORD_LOG_LEVEL": "", "HOME": "/"}, file)
    assert 9001 == chosen.port
    assert 7 == chosen.worker_slots
    assert "https://survey.example.com" == chosen.site_url


@pytest.mark.parametrize(
    ("variable", "said"),
    [("AFTERWORD_SMPT_URL", r"Do you mean AFTERWORD_SMTP_URL\?"), ("AFTERWORD_XYZ", "There are: AFTERWORD_BACKUP_")],
)
def test_a_misspelt_name_is_told_the_right_one(variable: str, said: str) -> None:
    with pytest.raises(settings.SettingError, match=f"{variable} is not a setting. {said}"):
        settings.read({variable: "x"})


@pytest.mark.parametrize(
    ("text", "said"),
    [("prot = 1", "prot"), ("port = 'x'", "port"), ("port = 1.5", "port"), ("port", "not a TOML file")],
)
def test_bad_file_names_the_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "afterword.toml"
    file.write_text(text)
    with pytest.raises(settings.SettingError, match=said):
        settings.read({}, file)


def test_what_the_file_has_is_named_as_there(tmp_path: Path) -> None:
    file = tmp_path / "afterword.toml"
    for text in ('log_level = "loud"', 'public_url = "x"', 'backup_to = "ftp://a"', "worker_lease_seconds = 40"):
        file.write_text(text)
        name = text.partition(" ")[0]
        with pytest.raises(settings.SettingError, match=f"^{name} in {file} "):
            settings.read({"AFTERWORD_PORT": "8081"}, file)
        with pytest.raises(settings.SettingError, match=r"^AFTERWORD_LOG_LEVEL must"):
            settings.read({"AFTERWORD_LOG_LEVEL": "x"}, file)
    with pytest.raises(settings.SettingError, match=r"^AFTERWORD_WORKER_LEASE_SECONDS must"):
        settings.read({"AFTERWORD_WORKER_HEARTBEAT_SECONDS": "50"})


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(settings.SettingError, match=r"nothing\.toml"):
        settings.read({}, tmp_path / "nothing.toml")


def test_secrets_are_not_in_the_representation() -> None:
    chosen = settings.read(
        {
            "AFTERWORD_DATABASE_URL": "postgresql://user:hunter2@host/db",
            "AFTERWORD_SMTP_URL": "smtp://user:hunter2@host",
            "AFTERWORD_SECRET": "hunter2" * 10,
        }
    )
    assert "hunter2" not in repr(chosen)


def test_each_field_is_documented() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    for each in dataclasses.fields(settings.Settings):
        assert f"`{settings.PREFIX}{each.name.upper()}`" in documented, each.name


def test_a_database_may_have_several_servers() -> None:
    url = "postgresql://afterword:secret@db1.example:5432,db2.example/afterword?target_session_attrs=read-write"
    assert url == settings.read({"AFTERWORD_DATABASE_URL": url}).database_url


def test_name_servers() -> None:
    read = settings.read({"AFTERWORD_NAME_SERVERS": "9.9.9.9, [::1]:5353,::1"})
    assert (("9.9.9.9", 53), ("::1", 5353), ("::1", 53)) == read.resolvers
