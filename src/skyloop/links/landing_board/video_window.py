"""Video in a window over a whole screen, for a cable to a real board's video input."""

from __future__ import annotations

import importlib
from typing import Any

from skyloop.links.landing_board.video_out import HEIGHT, RATE_HZ, WIDTH, Image, checked
from skyloop_client.errors import LinkEnded, LinkError, MissingExtra

TITLE = "skyloop: down camera"
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


class WindowVideo:
    """The screen that has a mode of 1280 x 720 at 60 Hz is switched to it; the last such screen is the board's.

    Without one it is a plain window of that size. Escape or closing the window ends the flight.
    """

    def __init__(self) -> None:
        try:
            self._glfw: Any = importlib.import_module("glfw")
        except ImportError:
            raise MissingExtra("a video window needs the package glfw; pip install 'skyloop[video]'") from None
        import moderngl

        glfw = self._glfw
        self._window: Any = None
        glfw.set_error_callback(lambda code, text: None)
        if not glfw.init():
            raise LinkError("there is no screen for a video window; is DISPLAY set? Else use shm:NAME or y4m:FILE")
        screen = self._screen_of_board()
        self.name = "window" if screen is None else f"full screen on {_text(glfw.get_monitor_name(screen))}"
        for hint, value in (
            (glfw.CONTEXT_VERSION_MAJOR, 3), (glfw.CONTEXT_VERSION_MINOR, 3), (glfw.RESIZABLE, False),
            (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE), (glfw.AUTO_ICONIFY, False), (glfw.REFRESH_RATE, RATE_HZ),
        ):  # fmt: skip
            glfw.window_hint(hint, value)
        self._window = glfw.create_window(WIDTH, HEIGHT, TITLE, screen, None)
        if not self._window:
            glfw.terminate()
            raise LinkError("cannot open a video window with OpenGL 3.3 on this screen; use shm:NAME or y4m:FILE")
        glfw.make_context_current(self._window)
        # the simulation keeps the time; waiting for the screen as well would slow it down
        glfw.swap_interval(0)
        glfw.set_input_mode(self._window, glfw.CURSOR, glfw.CURSOR_HIDDEN)
        self._context = moderngl.create_context()
        self._texture = self._context.texture((WIDTH, HEIGHT), 3, alignment=1)
        self._texture.filter = moderngl.NEAREST, moderngl.NEAREST
        program = self._context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        self._corners = self._context.vertex_array(program, [])
        self._strip = moderngl.TRIANGLE_STRIP

    def _screen_of_board(self) -> Any:
        glfw = self._glfw
        for screen in reversed(glfw.get_monitors()):
            modes = ((mode.size.width, mode.size.height, mode.refresh_rate) for mode in glfw.get_video_modes(screen))
            if (WIDTH, HEIGHT, RATE_HZ) in modes:
                return screen
        return None

    def show(self, t_ns: int, image: Image) -> None:
        glfw = self._glfw
        glfw.poll_events()
        escape = glfw.get_key(self._window, glfw.KEY_ESCAPE) == glfw.PRESS
        if escape or glfw.window_should_close(self._window):
            raise LinkEnded("the video window was closed")
        self._texture.write(checked(image).tobytes())
        self._context.screen.use()
        self._context.viewport = (0, 0, *glfw.get_framebuffer_size(self._window))
        self._texture.use()
        self._corners.render(self._strip, vertices=4)
        glfw.swap_buffers(self._window)

    def seen(self) -> bytes:
        """Red, green, blue of what is on the screen, from the lowest row up, for tests."""
        # after a swap the front buffer is the one that is shown
        self._context.screen.use()
        return bytes(self._context.screen.read((0, 0, WIDTH, HEIGHT), components=3, alignment=1))

    def close(self) -> None:
        """It may be called twice."""
        if self._window is not None:
            self._context.release()
            self._glfw.destroy_window(self._window)
            self._glfw.terminate()
            self._window = None


def _text(name: Any) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)
