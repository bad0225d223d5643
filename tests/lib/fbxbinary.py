"""Reads binary FBX into the nodes of fbxtext, sharing no code with the library or with ufbx.

    header    "Kaydara FBX Binary  " and three more bytes, u32 version
    record    end, number of values, their size (u32 each, u64 from version 7500 on), u8 length and name, values, records
    values    a letter for the type; S and R: u32 length and bytes; small letters: u32 count, u32 zlib, u32 size, items
"""
import struct
import zlib

from fbxtext import Node

ONE = {"C": "<b", "B": "<b", "Y": "<h", "I": "<i", "L": "<q", "F": "<f", "D": "<d"}
ITEM = {"f": "I", "d": "d", "i": "i", "l": "q", "b": "b"}  # floats as their bits


def values(data, at, count):
    found = []
    for _ in range(count):
        kind = chr(data[at])
        at += 1
        if kind in ONE:
            found += struct.unpack_from(ONE[kind], data, at)
            at += struct.calcsize(ONE[kind])
        elif kind in "SR":
            size, = struct.unpack_from("<I", data, at)
            found.append(data[at + 4:at + 4 + size])
            at += 4 + size
        else:
            count, packed, size = struct.unpack_from("<III", data, at)
            items = data[at + 12:at + 12 + size]
            found.append(struct.unpack(f"<{count}{ITEM[kind]}", zlib.decompress(items) if packed else items))
            at += 12 + size
    return found, at


def records(data, at, end, head):
    """The records up to `end`, or to the empty one that closes the list."""
    nodes = []
    while at < end:
        stop, count, size = struct.unpack_from(head, data, at)
        at += struct.calcsize(head)
        if stop == 0:
            assert count == size == data[at] == 0
            return nodes, at + 1
        node = Node(data[at + 1:at + 1 + data[at]].decode())
        start = at + 1 + data[at]
        node.values, at = values(data, start, count)
        assert at == start + size <= stop <= end
        node.children, at = records(data, at, stop, head)
        assert at == stop
        nodes.append(node)
    return nodes, at


def parse(data):
    """The version and the nodes on the top level."""
    assert data[:23] == b"Kaydara FBX Binary  \0\x1a\0"
    version, = struct.unpack_from("<I", data, 23)
    root = Node("")
    root.children, _ = records(data, 27, len(data), "<QQQ" if version >= 7500 else "<III")
    return version, root
