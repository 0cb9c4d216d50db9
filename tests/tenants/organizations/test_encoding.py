"""Uploaded pictures: refused where they are none or too much, encoded again without anything else."""

import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image, ImageDraw

from afterword import errors
from afterword.tenants.organizations import assets
from afterword.tenants.organizations.assets import encode

SCRIPT = b"<script>alert(1)</script>"


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 20), color: Any = (10, 120, 80), **options: Any) -> bytes:
    file = io.BytesIO()
    mode = "RGBA" if len(color) == 4 else "RGB"
    Image.new(mode, size, color).save(file, kind, **options)
    return file.getvalue()


def read(content: bytes) -> Image.Image:
    found = Image.open(io.BytesIO(content))
    found.load()
    return found


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int, height: int, *chunks: bytes) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IEND", b"")


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "code"),
        [
            (b"", "required"),
            (b"x" * (assets.UPLOAD_BYTES_MAX + 1), "too_long"),
            (SCRIPT, "invalid_format"),
            (b'<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "invalid_format"),
            (picture("BMP"), "invalid_format"),
            (picture("TIFF"), "invalid_format"),
            (picture("PNG", (300, 300))[:200], "invalid_format"),
            (picture("JPEG", (300, 300))[:200], "invalid_format"),
            (picture("WEBP")[:20], "invalid_format"),
            (b"GIF89a" + b"\xff" * 100, "invalid_format"),
            (png(20_000, 20_000, chunk(b"IDAT", zlib.compress(bytes(1 << 20)))), "out_of_range"),
            (png(1, 100_000, chunk(b"IDAT", zlib.compress(bytes(200_000)))), "out_of_range"),
            (png(0, 0, chunk(b"IDAT", b"")), "invalid_format"),
            (png(8, 8, chunk(b"IDAT", zlib.compress(b"\0" * 3))), "invalid_format"),
            (png(8, 8, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(100 << 20), 1))), "invalid_format"),
        ],
    )
    def test_refused(self, content: bytes, code: str) -> None:
        with pytest.raises(errors.Invalid) as caught:
            encode(content)
        assert [code] == [each.code for each in caught.value.errors]


class TestEncoded:
    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
    def test_polyglot(self, kind: str) -> None:
        """Bytes behind and within the picture are gone."""
        found = encode(picture(kind, comment=SCRIPT) + SCRIPT)
        assert SCRIPT not in found.content
        assert (40, 20) == read(found.content).size == (found.width, found.height)

    def test_metadata(self) -> None:
        """A photo stands upright, and says no more where it was taken."""
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by 90 degrees
        exif[0x010F] = "Camera"
        exif.get_ifd(0x8825)[1] = "N"
        found = encode(picture("JPEG", exif=exif, icc_profile=b"profile", comment=b"Kalamata"))
        assert ("image/jpeg", 20, 40) == (found.media_type, found.width, found.height)
        shown = read(found.content)
        assert {} == dict(shown.getexif())
        assert not {"exif", "icc_profile", "comment"} & shown.info.keys()
        assert b"Camera" not in found.content

    def test_animation(self) -> None:
        frames = [Image.new("RGB", (30, 30), color) for color in ("red", "blue")]
        file = io.BytesIO()
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
        shown = read(encode(file.getvalue()).content)
        assert (1, (255, 0, 0)) == (getattr(shown, "n_frames", 1), shown.convert("RGB").getpixel((5, 5)))

    def test_sizes(self) -> None:
        """Too large is made smaller, and noise too; what can be seen through stays so."""
        wide = encode(picture(size=(4_000, 1_000)))
        assert (1_600, 400) == (wide.width, wide.height)
        noise = Image.effect_noise((800, 800), 200)
        file = io.BytesIO()
        Image.merge("RGBA", [noise, noise, noise, noise]).save(file, "PNG")
        found = encode(file.getvalue())
        assert len(found.content) <= assets.ENCODED_BYTES_MAX
        assert "RGBA" == read(found.content).mode
        file = io.BytesIO()
        Image.merge("CMYK", [noise, noise, noise, noise]).save(file, "JPEG")
        assert "RGB" == read(encode(file.getvalue()).content).mode
        logo = Image.new("P", (200, 100))
        ImageDraw.Draw(logo).rectangle((0, 0, 50, 50), fill=1)
        file = io.BytesIO()
        logo.save(file, "PNG", transparency=0)
        assert ("image/png", "RGBA") == ((found := encode(file.getvalue())).media_type, read(found.content).mode)
