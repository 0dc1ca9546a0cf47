"""A window on the screen, or a whole screen, that shows one image after the other as it is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import LinkEnded, MissingExtra, SetupError

VERTEX = """#version 330
const vec2 corners[4] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(-1, 1), vec2(1, 1));
out vec2 place;
void main() {
    gl_Position = vec4(corners[gl_VertexID], 0, 1);
    // the first row of an image is its top
    place = vec2(corners[gl_VertexID].x, -corners[gl_VertexID].y) * 0.5 + 0.5;
}"""
FRAGMENT = """#version 330
uniform sampler2D image;
in vec2 place;
out vec4 colour;
void main() { colour = vec4(texture(image, place).rgb, 1); }"""


class ImageWindow:
    """Escape or closing the window ends the flight."""

    def __init__(
        self,
        title: str,
        size: tuple[int, int],
        *,
        instead: str,
        scale: int = 1,
        screen_of: Callable[[ModuleType], object] = lambda glfw: None,
    ) -> None:
        """size: (width, height) px of the images, each of which is `scale` pixels of the screen wide.

        instead: what to do without a window, for the error. screen_of: gives the screen to fill from the module glfw,
        None for a plain window.
        """
        try:
            self._glfw: Any = importlib.import_module("glfw")
        except ImportError:
            raise MissingExtra("a window needs the package glfw; pip install glfw") from None
        self._window: Any = None
        self._context: Any = None
        self._corners: Any = None
        self._strip: Any = None
        glfw = self._glfw
        glfw.set_error_callback(lambda code, text: None)
        if not glfw.init():
            raise SetupError(f"there is no screen for a window; is DISPLAY set? {instead}")
        self.screen = screen_of(glfw)
        self._open(title, size, scale, instead)

    def _open(self, title: str, size: tuple[int, int], scale: int, instead: str) -> None:
        import moderngl

        glfw = self._glfw
        for hint, value in (
            (glfw.CONTEXT_VERSION_MAJOR, 3), (glfw.CONTEXT_VERSION_MINOR, 3), (glfw.RESIZABLE, False),
            (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE), (glfw.AUTO_ICONIFY, False),
        ):  # fmt: skip
            glfw.window_hint(hint, value)
        self._window = glfw.create_window(scale * size[0], scale * size[1], title, self.screen, None)
        if not self._window:
            glfw.terminate()
            raise SetupError(f"cannot open a window with OpenGL 3.3 on this screen. {instead}")
        glfw.make_context_current(self._window)
        # the simulation keeps the time; waiting for the screen as well would slow it down
        glfw.swap_interval(0)
        if self.screen is not None:
            glfw.set_input_mode(self._window, glfw.CURSOR, glfw.CURSOR_HIDDEN)
        self._context = moderngl.create_context()
        self._texture = self._context.texture(size, 3, alignment=1)
        self._texture.filter = moderngl.NEAREST, moderngl.NEAREST
        program = self._context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        self._corners, self._strip = self._context.vertex_array(program, []), moderngl.TRIANGLE_STRIP

    def show(self, image: NDArray[np.uint8]) -> None:
        """image: (height, width, 3) red, green, blue."""
        glfw = self._glfw
        glfw.poll_events()
        if glfw.get_key(self._window, glfw.KEY_ESCAPE) == glfw.PRESS or glfw.window_should_close(self._window):
            raise LinkEnded("the window was closed")
        self._texture.write(image.tobytes())
        self._context.screen.use()
        self._context.viewport = (0, 0, *glfw.get_framebuffer_size(self._window))
        self._texture.use()
        self._corners.render(self._strip, vertices=4)
        glfw.swap_buffers(self._window)

    def seen(self) -> NDArray[np.uint8]:
        """What is on the screen, for tests: (rows, columns, 3), first row on top."""
        width, height = self._glfw.get_framebuffer_size(self._window)
        # after a swap the front buffer is the one that is shown
        self._context.screen.use()
        data = self._context.screen.read((0, 0, width, height), components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(height, width, 3)[::-1]

    def close(self) -> None:
        """It may be called twice."""
        if self._window is not None:
            self._context.release()
            self._glfw.destroy_window(self._window)
            self._glfw.terminate()
            self._window = None
