"""What a client lets out, noted at the server's door: also what never arrives as a whole."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_UPLOAD = re.compile(r"/v1/runs/([^/]+)/rounds/(\d+)/updates/([^/]+)")

Place = tuple[str, int, str]
"""Run, round, client."""


@dataclass
class UploadRecorder:
    """The same application; `announced` are all Content-Digests that came for a place."""

    app: ASGIApp
    announced: dict[Place, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    acknowledged: set[Place] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        found = _UPLOAD.fullmatch(path)
        if found is None or scope["method"] != "PUT":
            await self.app(scope, receive, send)
            return
        place = (found[1], int(found[2]), found[3])
        self.announced[place].add(dict(scope["headers"])[b"content-digest"])

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in {200, 201}:
                self.acknowledged.add(place)
            await send(message)

        await self.app(scope, receive, sending)
