from __future__ import annotations

from pathlib import Path

import pytest

from skyloop.core.files import cache_folder


def homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "skyloop"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # an empty variable counts as none, or the cache would be in whatever folder one is in
    for value in ("", None):
        monkeypatch.delenv("XDG_CACHE_HOME") if value is None else monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder() == tmp_path / "home" / ".cache" / "skyloop"


def test_a_user_without_a_home_has_a_cache_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder().is_absolute() and cache_folder().name.startswith("skyloop-")
