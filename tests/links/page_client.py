"""A client written from docs/reference/protocol.md alone: sockets, msgpack and nothing of skyloop.

Takes off, flies east for a second, lands on what it decodes itself, and prints what it saw as JSON.
"""

import json
import os
import socket
import struct
import sys
import time

import msgpack

UINT = struct.Struct("<I")


class Link:
    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.number = self.t_ns = self.went_on = 0

    def send(self, head, raw=b""):
        packed = msgpack.packb(head)
        self.socket.sendall(UINT.pack(4 + len(packed) + len(raw)) + UINT.pack(len(packed)) + packed + raw)

    def receive(self):
        total = self.exactly(UINT.unpack(self.exactly(4))[0])
        head_length = UINT.unpack(total[:4])[0]
        raw = total[4 + head_length :]

        def array(code, data):
            assert code == 1
            dtype, shape, start = msgpack.unpackb(data)
            kind = {"<f8": "d", "<f4": "f", "|u1": "B"}[dtype]
            count = 1
            for length in shape:
                count *= length
            return list(struct.unpack_from(f"<{count}{kind}", raw, start))

        return msgpack.unpackb(total[4 : 4 + head_length], ext_hook=array, strict_map_key=False)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            got = self.socket.recv(count - len(data))
            assert got, "the simulator closed"
            data += got
        return data

    def ask(self, raw=b"", **question):
        """Execution time: the last answer's, and what was computed since."""
        self.number += 1
        et_ns = self.t_ns + time.process_time_ns() - self.went_on
        self.send({"type": "ask", "number": self.number, "et_ns": et_ns, **question}, raw)
        reply = self.receive()
        assert (reply["type"], reply["number"]) == ("reply", self.number), reply
        self.t_ns, self.went_on = reply["t_ns"], time.process_time_ns()
        return reply


def main():
    link = Link(os.environ["SKYLOOP_ADDRESS"])
    link.send({"type": "hello", "protocol": 1, "client": "written from the page", "vehicle": "", "energy": True})
    hello = link.receive()
    assert hello["type"] == "hello", hello
    link.t_ns, link.went_on = hello["t_ns"], time.process_time_ns()
    rise = [{"@": "Arm"}, {"@": "TakeOff", "altitude": 1.0}]
    reply = link.ask(send=rise, tasks=[["begin", "rise", 1_000_000_000]])
    while reply["status"]["mode"] != "hover":
        reply = link.ask(until_ns=link.t_ns + 100_000_000)
    start, end_ns = reply["state"]["position"], link.t_ns + 1_000_000_000
    reply = link.ask(tasks=[["end", "rise"]])
    # an array of its own, as raw bytes behind the head
    raw = struct.pack("<3d", 1.0, 0.0, 0.0)
    east = {"@": "Velocity", "velocity": msgpack.ExtType(1, msgpack.packb(["<f8", [3], 0]))}
    while link.t_ns < end_ns:
        reply = link.ask(raw, send=[east], want=["imu"], fresh=["imu"])
        assert not reply["refused"], reply["refused"]
    _, t_ns, _, imu = reply["messages"][f"{hello['vehicle']}/imu"]
    moved = [b - a for a, b in zip(start, reply["state"]["position"], strict=True)]
    reported = {
        "moved": moved,
        "height": start[2],
        "force": imu["specific_force"][2],
        "imu_ns": t_ns,
        "t_ns": link.t_ns,
    }
    reported["charge"], reported["energy"] = reply["battery"]["state_of_charge"], reply["computer_energy_j"]
    link.send({"type": "bye"})
    print(json.dumps({**reported, "knows": sorted(name for name in sys.modules if name.startswith("skyloop"))}))


main()
